"""Renders a triangle in two passes on wgpu, without a window, and prints a hash of the picture."""
import hashlib
import sys

import wgpu

adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
device = adapter.request_device_sync()
size = (256, 192, 1)
usage = wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.TEXTURE_BINDING | wgpu.TextureUsage.COPY_SRC
first, second = (
    device.create_texture(size=size, format="rgba8unorm", usage=usage, label=label) for label in ("scene", "picture")
)
shader = device.create_shader_module(
    code="""
@vertex fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let at = vec2f(f32(index & 1u) * 2.0 - 0.5, f32(index >> 1u) * 2.0 - 0.5);
    return vec4f(at * 0.8, 0.0, 1.0);
}
@vertex fn screen(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    return vec4f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn paint(@builtin(position) at: vec4f) -> @location(0) vec4f { return vec4f(at.xy / 256.0, 0.5, 1.0); }
@group(0) @binding(0) var scene: texture_2d<f32>;
@fragment fn invert(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return vec4f(1.0) - textureLoad(scene, vec2i(at.xy), 0);
}
"""
)


def pipeline(vertex, fragment):
    return device.create_render_pipeline(
        layout="auto",
        vertex={"module": shader, "entry_point": vertex},
        primitive={"topology": "triangle-list"},
        fragment={"module": shader, "entry_point": fragment, "targets": [{"format": "rgba8unorm"}]},
    )


paint, invert = pipeline("corner", "paint"), pipeline("screen", "invert")
group = device.create_bind_group(
    layout=invert.get_bind_group_layout(0), entries=[{"binding": 0, "resource": first.create_view()}]
)
for _ in range(4):
    encoder = device.create_command_encoder()
    for target, how, bind in ((first, paint, None), (second, invert, group)):
        attachment = {
            "view": target.create_view(),
            "load_op": "clear",
            "store_op": "store",
            "clear_value": (0, 0, 0, 1),
        }
        rendering = encoder.begin_render_pass(color_attachments=[attachment])
        rendering.set_pipeline(how)
        if bind is not None:
            rendering.set_bind_group(0, bind)
        rendering.draw(3)
        rendering.end()
    device.queue.submit([encoder.finish()])
layout = {"offset": 0, "bytes_per_row": size[0] * 4, "rows_per_image": size[1]}
picture = device.queue.read_texture({"texture": second}, layout, size)
print(hashlib.sha256(bytes(picture)).hexdigest())
sys.stdout.flush()
