// Descriptor set 0, shared by every pass. Set 1 holds a pass's own inputs, in the order in which the frame declares them.
#ifndef CONSTANTS_GLSL
#define CONSTANTS_GLSL

#extension GL_EXT_samplerless_texture_functions : require

// Mirrors `Constants` in examples/deferred/camera.rs.
layout(set = 0, binding = 0, std140) uniform Constants {
    mat4 view;                      // world to view; the eye looks along -z
    mat4 inverse_view;
    mat4 jittered_view_projection;  // world to clip, moved by this frame's sub-pixel offset
    mat4 view_projection;           // world to clip
    mat4 previous_view_projection;  // the same, a frame ago
    mat4 moon_view_projection;      // world to the shadow map's clip space
    vec4 unproject;                 // xy: half the view's width and height at distance 1; z: near plane
    vec4 jitter;                    // xy: this frame's sub-pixel offset in clip space
    vec4 moon_direction;            // xyz: towards the moon
    vec4 moon_color;
    uint light_count;
    uint frame_index;
} constants;

// Where a point of the shadow map is in that of what is near, which covers a third of its sides.
vec2 near_shadow(vec2 clip) {
    vec4 middle = constants.moon_view_projection * vec4(0.0, 0.0, 17.0, 1.0);
    return (clip - middle.xy) * 3.0;
}

struct Light {
    vec4 position_radius;           // world position; no light reaches further than the radius
    vec4 color;
};

layout(set = 0, binding = 1, std430) readonly buffer Lights {
    Light lights[];
};

struct Instance {
    vec4 rows[3];                   // object to world
    vec4 previous_rows[3];          // object to world, a frame ago
    vec4 color_roughness;
    uvec4 material;                 // x: pattern, y: kind
};

layout(set = 0, binding = 2, std430) readonly buffer Instances {
    Instance instances[];
};

layout(set = 0, binding = 3) uniform sampler linear_clamp;

// Light culling works on tiles of this many pixels a side and marks the lights of a tile in a mask.
const uint TILE = 16;
const uint MASK_WORDS = 8;
const uint MAX_LIGHTS = MASK_WORDS * 32;

// Two bits of the G-buffer tell materials apart.
const float KIND_PLAIN = 0.0;
const float KIND_METAL = 1.0 / 3.0;
const float KIND_GLOWING = 2.0 / 3.0;

// Eight bits of color hold a glowing surface's hue; this is how bright it is.
const float GLOW = 3.2;

#endif
