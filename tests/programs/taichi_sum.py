"""Computes a fractal and its sum with taichi on Vulkan."""
import taichi as ti

ti.init(arch=ti.vulkan, log_level=ti.ERROR)
pixels = ti.field(dtype=ti.f32, shape=(256, 128))


@ti.kernel
def paint(t: ti.f32):
    for i, j in pixels:
        c, z, n = ti.Vector([-0.8, ti.cos(t) * 0.2]), ti.Vector([i / 128 - 1, j / 128 - 0.5]) * 2, 0
        while z.norm() < 20 and n < 50:
            z, n = ti.Vector([z[0] ** 2 - z[1] ** 2, z[0] * z[1] * 2]) + c, n + 1
        pixels[i, j] = 1 - n * 0.02


for frame in range(4):
    paint(frame * 0.03)
    ti.sync()
print(f"{pixels.to_numpy().sum():.3f}")
