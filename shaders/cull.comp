#version 460
#extension GL_GOOGLE_include_directive : require
// Which lights reach which tile of 16 x 16 pixels: a mask of one bit per light.
//
// Threads mark lights in any order, and a mask does not show it: reading its bits from the lowest gives the tile's list
// of lights ordered by index, the same on every run.

#include "space.glsl"
#include "strip.glsl"

layout(local_size_x = 16, local_size_y = 16) in;

layout(set = 1, binding = 0) uniform texture2D depth_image;
layout(set = 1, binding = 1, std430) writeonly buffer LightMasks {
    uint light_masks[];
};

shared uint nearest_depth;
shared uint farthest_depth;
shared uint mask[MASK_WORDS];

// Distance from a light to the box of view space that the tile's surfaces lie in.
float distance_to_box(vec3 position, vec3 low, vec3 high) {
    return length(max(max(low - position, position - high), vec3(0.0)));
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    if (thread == 0) {
        nearest_depth = 0;
        farthest_depth = 0xffffffffu;
    }
    if (thread < MASK_WORDS) {
        mask[thread] = 0;
    }
    barrier();

    // Bits of positive floats are ordered like the floats; minimum and maximum know no order of arrival.
    ivec2 size = described_size(0);
    uvec2 tile = gl_WorkGroupID.xy + uvec2(strip.target.xy) / TILE;
    ivec2 pixel = ivec2(tile * TILE + gl_LocalInvocationID.xy);
    float depth = all(lessThan(pixel, size)) ? fetch(depth_image, 0, pixel).x : 0.0;
    if (depth > 0.0) {
        atomicMax(nearest_depth, floatBitsToUint(depth));
        atomicMin(farthest_depth, floatBitsToUint(depth));
    }
    barrier();

    // A tile of nothing but sky has no surface to light.
    if (nearest_depth != 0 && thread < constants.light_count) {
        float near = distance_of(uintBitsToFloat(nearest_depth));
        float far = distance_of(uintBitsToFloat(farthest_depth));
        vec2 first = vec2(tile * TILE) / vec2(size);
        vec2 last = vec2((tile + 1) * TILE) / vec2(size);
        vec3 corners[4] = vec3[](view_position(first, near), view_position(last, near), view_position(first, far),
                                 view_position(last, far));
        vec3 low = min(min(corners[0], corners[1]), min(corners[2], corners[3]));
        vec3 high = max(max(corners[0], corners[1]), max(corners[2], corners[3]));
        vec4 light = lights[thread].position_radius;
        vec3 position = (constants.view * vec4(light.xyz, 1.0)).xyz;
        if (distance_to_box(position, low, high) <= light.w) {
            atomicOr(mask[thread / 32], 1u << (thread % 32));
        }
    }
    barrier();

    if (thread < MASK_WORDS) {
        uint across = (uint(size.x) + TILE - 1) / TILE;
        light_masks[(tile.y * across + tile.x) * MASK_WORDS + thread] = mask[thread];
    }
}
