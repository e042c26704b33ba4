"""Writes a recording for rerun's viewer: points, boxes, a mesh and a picture, with a fixed layout of its panels."""
import sys

import numpy as np
import rerun as rr
import rerun.blueprint as rrb

random = np.random.default_rng(1)
layout = rrb.Blueprint(rrb.Horizontal(rrb.Spatial3DView(origin="world"), rrb.Spatial2DView(origin="picture")), collapse_panels=True)
rr.init("tileheap", default_blueprint=layout, recording_id="tileheap")
rr.save(sys.argv[1])
points = random.normal(size=(20000, 3))
rr.log("world/points", rr.Points3D(points, colors=(np.abs(points) * 80).astype(np.uint8), radii=0.02), static=True)
rr.log("world/boxes", rr.Boxes3D(centers=points[:50] * 2, half_sizes=[0.2, 0.2, 0.2], fill_mode="solid"), static=True)
corners = [[-3, -3, -2], [3, -3, -2], [3, 3, -2], [-3, 3, -2]]
rr.log("world/floor", rr.Mesh3D(vertex_positions=corners, triangle_indices=[[0, 1, 2], [0, 2, 3]]), static=True)
rr.log("picture", rr.Image(random.integers(0, 255, (480, 640, 3), dtype=np.uint8)), static=True)
