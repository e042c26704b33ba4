"""Renders a lit sphere over a plane with pygfx, without a window, and prints a hash of the picture."""
import hashlib

import numpy as np
import pygfx as gfx
from rendercanvas.offscreen import RenderCanvas

canvas = RenderCanvas(size=(1920, 1080), pixel_ratio=1)
renderer = gfx.renderers.WgpuRenderer(canvas)
scene = gfx.Scene()
scene.add(gfx.Background.from_color("#224"))
scene.add(gfx.AmbientLight(intensity=0.4), gfx.DirectionalLight(intensity=2))
scene.add(gfx.Mesh(gfx.sphere_geometry(1), gfx.MeshPhongMaterial(color="#e85")))
camera = gfx.PerspectiveCamera(60, 16 / 9)
camera.local.position = (0, 0, 4)
canvas.request_draw(lambda: renderer.render(scene, camera))
for _ in range(4):
    picture = np.asarray(canvas.draw())
print(picture.shape, hashlib.sha256(picture.tobytes()).hexdigest())
