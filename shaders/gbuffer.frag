#version 460
#extension GL_GOOGLE_include_directive : require
// Surfaces: what they are made of, which way they face, how they moved.

#include "space.glsl"
#include "noise.glsl"

layout(location = 0) in vec3 world_position;
layout(location = 1) in vec3 world_normal;
layout(location = 2) in vec3 object_position;
layout(location = 3) in vec3 clip;
layout(location = 4) in vec3 previous_clip;
layout(location = 5) flat in uint instance_index;

layout(location = 0) out vec4 out_albedo;   // color, roughness
layout(location = 1) out vec4 out_normal;   // octahedral, unused, kind
layout(location = 2) out vec2 out_motion;   // screen position minus that of a frame ago

// Mirrors `Pattern` in examples/deferred/scene.rs.
const uint PATTERN_PLAIN = 0;
const uint PATTERN_PAVING = 1;
const uint PATTERN_STONE = 2;
const uint PATTERN_WINDOWS = 3;

struct Surface {
    vec3 color;
    float roughness;
    vec3 normal;
    float kind;
};

// Slabs in rings around the middle, squares beyond, with worn joints and wet places.
void pave(inout Surface surface) {
    vec2 plane = world_position.xz;
    float ring = length(plane);
    vec2 slab_space;
    vec2 slab_size;
    if (ring < 15.0) {
        float width = 1.5;
        float row = floor(ring / width);
        float count = max(floor(row * 4.0 + 4.0), 4.0);
        float turn = atan(plane.y, plane.x) / 6.2831853 + 0.5 + row * 0.137;
        slab_space = vec2(turn * count, ring / width);
        slab_size = vec2(ring * 6.2831853 / count, width);
    } else {
        vec2 rows = plane / vec2(1.8, 1.2);
        slab_space = vec2(rows.x + 0.5 * mod(floor(rows.y), 2.0), rows.y);
        slab_size = vec2(1.8, 1.2);
    }
    ivec2 slab = ivec2(floor(slab_space));
    vec2 within = fract(slab_space);
    vec2 edge = min(within, 1.0 - within) * slab_size;
    float joint = 1.0 - smoothstep(0.015, 0.05, min(edge.x, edge.y));
    float chance = cell_noise(ivec3(slab, ring < 15.0 ? 1 : 2));
    float grain = 0.55 * value_noise(world_position * 6.0) + 0.45 * value_noise(world_position * 29.0);
    float wet = smoothstep(0.34, 0.56, rough_noise(vec3(plane * 0.23, 3.0)) + 0.10 * (chance - 0.5));

    surface.color *= mix(0.70, 1.12, chance) * mix(0.75, 1.15, grain);
    surface.color *= mix(1.0, 0.30, joint) * mix(1.0, 0.55, wet);
    surface.roughness = mix(mix(0.50, 0.68, grain), 0.07, wet);
    surface.roughness = mix(surface.roughness, 0.85, joint * (1.0 - 0.6 * wet));
    vec2 tilt = vec2(chance, cell_noise(ivec3(slab, 5))) - 0.5;
    surface.normal = normalize(surface.normal + vec3(tilt.x, 0.0, tilt.y) * mix(0.05, 0.008, wet));
}

// Weathered stone: veins, stains that run down, a slightly uneven surface.
void weather(inout Surface surface) {
    float large = rough_noise(world_position * 0.9 + 11.0);
    float fine = value_noise(world_position * 6.0);
    float stain = value_noise(world_position * vec3(2.2, 0.35, 2.2) + 4.0);
    surface.color *= mix(0.78, 1.12, large) * mix(0.85, 1.08, fine);
    surface.color = mix(surface.color, surface.color * vec3(0.42, 0.46, 0.40), smoothstep(0.55, 0.85, stain) * (1.0 - abs(surface.normal.y)));
    surface.roughness = clamp(surface.roughness + (fine - 0.5) * 0.3, 0.15, 1.0);
    vec3 bump = vec3(fine, large, value_noise(world_position.yzx * 9.0)) - 0.5;
    surface.normal = normalize(surface.normal + bump * 0.14);
}

// A dark tower with a few lit windows.
void light_windows(inout Surface surface) {
    if (abs(surface.normal.y) > 0.5) {
        return;
    }
    float along = abs(surface.normal.x) > abs(surface.normal.z) ? world_position.z : world_position.x;
    vec2 grid = vec2(along / 0.50, world_position.y / 0.66);
    ivec2 window = ivec2(floor(grid));
    vec2 within = fract(grid);
    bool pane = all(greaterThan(within, vec2(0.28, 0.22))) && all(lessThan(within, vec2(0.72, 0.80)));
    float chance = cell_noise(ivec3(window, int(instance_index)));
    if (pane && chance > 0.88) {
        surface.kind = KIND_GLOWING;
        vec3 warm = mix(vec3(0.55, 0.22, 0.06), vec3(0.50, 0.36, 0.16), fract(chance * 37.0));
        surface.color = warm * mix(0.10, 0.6, fract(chance * 91.0));
    } else if (pane) {
        surface.color *= 0.35;
        surface.roughness = 0.12;
    } else {
        surface.color *= mix(0.8, 1.1, cell_noise(ivec3(window, 3)));
    }
}

void main() {
    Instance instance = instances[instance_index];
    Surface surface = Surface(instance.color_roughness.rgb, instance.color_roughness.a, normalize(world_normal),
                              float(instance.material.y) / 3.0);
    switch (instance.material.x) {
    case PATTERN_PAVING:
        pave(surface);
        break;
    case PATTERN_STONE:
        weather(surface);
        break;
    case PATTERN_WINDOWS:
        light_windows(surface);
        break;
    default:
        break;
    }

    out_albedo = vec4(surface.color, surface.roughness);
    out_normal = vec4(pack_normal(surface.normal) * 0.5 + 0.5, 0.0, surface.kind);
    out_motion = 0.5 * (clip.xy / clip.z - previous_clip.xy / previous_clip.z);
}
