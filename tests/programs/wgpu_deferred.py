"""A deferred renderer at 1080p on wgpu, without a window: shadow map, G-buffer, ambient occlusion, lighting, reflections in screen space, bloom and
tone mapping, in one submit per frame. Prints a hash of the last picture."""
import hashlib
import sys

import wgpu

WIDTH, HEIGHT, SHADOW, FRAMES, LEVELS = 1920, 1080, 2048, 4, 5
device = wgpu.gpu.request_adapter_sync(power_preference="high-performance").request_device_sync()

CODE = """
struct Scene { camera: mat4x4f, light: mat4x4f, inverse: mat4x4f, time: f32 }
@group(0) @binding(0) var<uniform> scene: Scene;
struct Corner { @builtin(position) at: vec4f, @location(0) normal: vec3f, @location(1) color: vec3f }

// Corner `index` of 36 of a box.
fn box(index: u32) -> array<vec3f, 2> {
    let face = index / 6u;
    let corners = array<vec2f, 6>(vec2f(-1.0, -1.0), vec2f(1.0, -1.0), vec2f(1.0, 1.0), vec2f(-1.0, -1.0), vec2f(1.0, 1.0), vec2f(-1.0, 1.0));
    let side = select(-1.0, 1.0, (face & 1u) == 1u);
    let flat = corners[index % 6u];
    switch face / 2u {
        case 0u: { return array<vec3f, 2>(vec3f(side, flat), vec3f(side, 0.0, 0.0)); }
        case 1u: { return array<vec3f, 2>(vec3f(flat.x, side, flat.y), vec3f(0.0, side, 0.0)); }
        default: { return array<vec3f, 2>(vec3f(flat, side), vec3f(0.0, 0.0, side)); }
    }
}
// Instance 0 is the floor, the others are columns that rise and fall.
fn corner(index: u32, instance: u32, view: mat4x4f) -> Corner {
    let corner = box(index);
    let cell = vec2f(f32((instance - 1u) % 5u), f32((instance - 1u) / 5u));
    let height = 0.6 + 0.4 * sin(cell.x * 1.7 + cell.y * 2.3 + scene.time);
    var size = vec3f(0.35, height, 0.35);
    var center = vec3f(cell.x * 2.0 - 4.0, height, cell.y * -2.0);
    var color = vec3f(0.5 + 0.5 * sin(cell.x), 0.5 + 0.5 * cos(cell.y), 0.6);
    if instance == 0u {
        size = vec3f(8.0, 0.1, 8.0);
        center = vec3f(0.0, -0.1, -3.0);
        color = vec3f(0.4);
    }
    return Corner(view * vec4f(corner[0] * size + center, 1.0), corner[1], color);
}
@vertex fn shadow(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> @builtin(position) vec4f {
    return corner(index, instance, scene.light).at;
}
@vertex fn model(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Corner {
    return corner(index, instance, scene.camera);
}
@vertex fn screen(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    return vec4f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
struct Surface { @location(0) albedo: vec4f, @location(1) normal: vec4f }
@fragment fn gbuffer(in: Corner) -> Surface { return Surface(vec4f(in.color, 1.0), vec4f(in.normal, 0.0)); }

@group(0) @binding(1) var smooth_sampler: sampler;
@group(1) @binding(0) var first: texture_2d<f32>;
@group(1) @binding(1) var second: texture_2d<f32>;
@group(1) @binding(2) var third: texture_2d<f32>;
@group(1) @binding(3) var depth: texture_depth_2d;
@group(1) @binding(4) var shadows: texture_depth_2d;

fn position(pixel: vec2i, size: vec2f) -> vec3f {
    let ndc = vec2f((f32(pixel.x) + 0.5) / size.x * 2.0 - 1.0, 1.0 - (f32(pixel.y) + 0.5) / size.y * 2.0);
    let at = scene.inverse * vec4f(ndc, textureLoad(depth, pixel, 0), 1.0);
    return at.xyz / at.w;
}
// Ambient occlusion in half the size; first: normals.
@fragment fn occlusion(@builtin(position) at: vec4f) -> @location(0) f32 {
    let pixel = vec2i(at.xy) * 2;
    let size = vec2f(textureDimensions(depth));
    let center = position(pixel, size);
    let normal = textureLoad(first, pixel, 0).xyz;
    var hidden = 0.0;
    for (var n = 0; n < 8; n++) {
        let angle = f32(n) * 2.4;
        let other = clamp(pixel + vec2i(vec2f(cos(angle), sin(angle)) * f32(4 + n * 3)), vec2i(0), vec2i(size) - 1);
        let way = position(other, size) - center;
        hidden += max(dot(normal, way) - 0.02, 0.0) / (dot(way, way) + 0.05);
    }
    return 1.0 / (1.0 + hidden * 0.5);
}
// first: occlusion.
@fragment fn blur(@builtin(position) at: vec4f) -> @location(0) f32 {
    let size = vec2i(textureDimensions(first));
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) { sum += textureLoad(first, clamp(vec2i(at.xy) + vec2i(x, y), vec2i(0), size - 1), 0).x; }
    }
    return sum / 9.0;
}
// first: albedo, second: normals, third: occlusion.
@fragment fn lighting(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let pixel = vec2i(at.xy);
    let size = vec2f(textureDimensions(depth));
    let world = position(pixel, size);
    let lit = scene.light * vec4f(world, 1.0);
    let cell = vec2i(vec2f(lit.x * 0.5 + 0.5, 0.5 - lit.y * 0.5) * vec2f(textureDimensions(shadows)));
    let shade = select(0.15, 1.0, textureLoad(shadows, cell, 0) + 0.003 > lit.z);
    let normal = textureLoad(second, pixel, 0).xyz;
    let sun = max(dot(normal, normalize(vec3f(0.5, 1.0, 0.4))), 0.0) * shade * 3.0;
    let ambient = 0.3 * textureSampleLevel(third, smooth_sampler, at.xy / size, 0.0).x;
    return vec4f(textureLoad(first, pixel, 0).rgb * (sun + ambient), 1.0);
}
// first: lit colors, second: normals.
@fragment fn reflections(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let pixel = vec2i(at.xy);
    let color = textureLoad(first, pixel, 0);
    let normal = textureLoad(second, pixel, 0).xyz;
    if normal.y < 0.9 { return color; }
    var found = vec3f(0.0);
    for (var n = 1; n < 16; n++) {
        let other = pixel - vec2i(0, n * 12);
        if other.y < 0 { break; }
        if textureLoad(second, other, 0).y < 0.9 { found = textureLoad(first, other, 0).rgb; break; }
    }
    return vec4f(mix(color.rgb, found, 0.25), 1.0);
}
// first: the next larger or smaller level.
@fragment fn down(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return max(textureSampleLevel(first, smooth_sampler, at.xy * 2.0 / vec2f(textureDimensions(first)), 0.0) - 0.02, vec4f(0.0));
}
@fragment fn up(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return textureSampleLevel(first, smooth_sampler, at.xy * 0.5 / vec2f(textureDimensions(first)), 0.0) * 0.6;
}
// first: colors, second: bloom.
@fragment fn tone_map(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let color = textureLoad(first, vec2i(at.xy), 0).rgb;
    let bloom = textureSampleLevel(second, smooth_sampler, at.xy / vec2f(textureDimensions(first)), 0.0).rgb;
    let sum = color + bloom * 0.2;
    return vec4f(sum / (sum + 1.0), 1.0);
}
"""
shader = device.create_shader_module(code=CODE)
BOTH = wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.TEXTURE_BINDING


def texture(label, size, format, usage=BOTH):
    return device.create_texture(label=label, size=(*size, 1), format=format, usage=usage)


FULL, HALF = (WIDTH, HEIGHT), (WIDTH // 2, HEIGHT // 2)
shadow_map = texture("shadow map", (SHADOW, SHADOW), "depth32float")
albedo, normals = texture("albedo", FULL, "rgba8unorm"), texture("normals", FULL, "rgba16float")
depth = texture("depth", FULL, "depth32float")
occlusion, blurred = texture("occlusion", HALF, "r8unorm"), texture("blurred occlusion", HALF, "r8unorm")
lit, reflected = texture("lit", FULL, "rgba16float"), texture("reflected", FULL, "rgba16float")
bloom = [texture(f"bloom {level}", (WIDTH >> level, HEIGHT >> level), "rgba16float") for level in range(1, LEVELS + 1)]
picture = texture("picture", FULL, "rgba8unorm", wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC)
uniforms = device.create_buffer(size=208, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
smooth = device.create_sampler(mag_filter="linear", min_filter="linear")


def matrices(time):
    import numpy as np

    def looking(eye, at, projection):
        forward = np.subtract(at, eye) / np.linalg.norm(np.subtract(at, eye))
        right = np.cross(forward, (0, 1, 0))
        right = right / np.linalg.norm(right)
        view = np.eye(4)
        view[:3, :3] = right, np.cross(right, forward), -forward
        view[:3, 3] = -view[:3, :3] @ np.asarray(eye, float)
        return projection @ view

    near, far, scale = 0.1, 40.0, 1.6
    perspective = np.zeros((4, 4))
    perspective[0, 0], perspective[1, 1] = scale * HEIGHT / WIDTH, scale
    perspective[2, 2:] = far / (near - far), near * far / (near - far)
    perspective[3, 2] = -1
    parallel = np.diag([1 / 9, 1 / 9, -1 / 30, 1.0])
    camera = looking((0, 2.5, 6), (0, 0.5, -2), perspective)
    light = looking((6, 12, 2), (0, 0, -3), parallel)
    values = [matrix.T.astype(np.float32).ravel() for matrix in (camera, light, np.linalg.inv(camera))]
    return np.concatenate([*values, np.array([time, 0, 0, 0], np.float32)])


def pipeline(vertex, fragment, formats, depth_format=None, blend=None):
    stages = {}
    if fragment:
        targets = [{"format": format, "blend": blend} if blend else {"format": format} for format in formats]
        stages["fragment"] = {"module": shader, "entry_point": fragment, "targets": targets}
    if depth_format:
        stages["depth_stencil"] = {"format": depth_format, "depth_write_enabled": True, "depth_compare": "less"}
    return device.create_render_pipeline(
        layout="auto", vertex={"module": shader, "entry_point": vertex}, primitive={"topology": "triangle-list"}, **stages
    )


def group(pipeline, index, entries):
    return device.create_bind_group(
        layout=pipeline.get_bind_group_layout(index),
        entries=[{"binding": binding, "resource": resource} for binding, resource in entries],
    )


class Pass:
    """A render pass: its pipeline and bind groups, its targets, and how many vertices and instances it draws."""

    def __init__(self, label, vertex, fragment, targets, read=(), scene=False, sampler=False, depth=None, add=False, draws=(3, 1)):
        one = {"src_factor": "one", "dst_factor": "one", "operation": "add"}
        blend = {"color": one, "alpha": one} if add else None
        self.pipeline = pipeline(vertex, fragment, [target.format for target in targets], depth and depth.format, blend)
        self.label, self.targets, self.depth, self.add, self.draws = label, targets, depth, add, draws
        own = [(0, {"buffer": uniforms, "offset": 0, "size": 208})] * scene + [(1, smooth)] * sampler
        self.groups = [group(self.pipeline, 0, own)] if own else []
        if read:
            textures = [(binding, texture.create_view()) for binding, texture in read]
            # Without scene and sampler group 0 is empty.
            self.groups = self.groups or [group(self.pipeline, 0, [])]
            self.groups.append(group(self.pipeline, 1, textures))

    def record(self, encoder):
        color = [
            {
                "view": target.create_view(),
                "load_op": "load" if self.add else "clear",
                "store_op": "store",
                "clear_value": (0, 0, 0, 0),
            }
            for target in self.targets
        ]
        more = {}
        if self.depth:
            more["depth_stencil_attachment"] = {
                "view": self.depth.create_view(),
                "depth_load_op": "clear",
                "depth_store_op": "store",
                "depth_clear_value": 1.0,
            }
        rendering = encoder.begin_render_pass(label=self.label, color_attachments=color, **more)
        rendering.set_pipeline(self.pipeline)
        for index, one in enumerate(self.groups):
            rendering.set_bind_group(index, one)
        rendering.draw(*self.draws)
        rendering.end()


BOXES = (36, 21)
passes = [
    Pass("shadow", "shadow", None, [], scene=True, depth=shadow_map, draws=BOXES),
    Pass("G-buffer", "model", "gbuffer", [albedo, normals], scene=True, depth=depth, draws=BOXES),
    Pass("occlusion", "screen", "occlusion", [occlusion], [(0, normals), (3, depth)], scene=True),
    Pass("blur", "screen", "blur", [blurred], [(0, occlusion)]),
    Pass(
        "lighting", "screen", "lighting", [lit],
        [(0, albedo), (1, normals), (2, blurred), (3, depth), (4, shadow_map)], scene=True, sampler=True,
    ),
    Pass("reflections", "screen", "reflections", [reflected], [(0, lit), (1, normals)]),
]
for source, target in zip([reflected, *bloom], bloom):
    passes.append(Pass("bloom down", "screen", "down", [target], [(0, source)], sampler=True))
for source, target in zip(bloom[:0:-1], bloom[-2::-1]):
    passes.append(Pass("bloom up", "screen", "up", [target], [(0, source)], sampler=True, add=True))
passes.append(Pass("tone mapping", "screen", "tone_map", [picture], [(0, reflected), (1, bloom[0])], sampler=True))

for frame in range(FRAMES):
    device.queue.write_buffer(uniforms, 0, matrices(frame * 0.1))
    encoder = device.create_command_encoder()
    for one in passes:
        one.record(encoder)
    device.queue.submit([encoder.finish()])
layout = {"offset": 0, "bytes_per_row": WIDTH * 4, "rows_per_image": HEIGHT}
pixels = bytes(device.queue.read_texture({"texture": picture}, layout, (WIDTH, HEIGHT, 1)))
print(len(set(zip(pixels[::4], pixels[1::4], pixels[2::4]))) > 100, hashlib.sha256(pixels).hexdigest())
sys.stdout.flush()
if len(sys.argv) > 1:
    with open(sys.argv[1], "wb") as file:
        file.write(b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + b"".join(pixels[at : at + 3] for at in range(0, len(pixels), 4)))
