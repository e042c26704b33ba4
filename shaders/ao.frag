#version 460
#extension GL_GOOGLE_include_directive : require
// Ambient occlusion at half resolution: how much of the sky the corners see.

#include "space.glsl"
#include "strip.glsl"
#include "noise.glsl"

layout(set = 1, binding = 0) uniform texture2D depth_image;
layout(set = 1, binding = 1) uniform texture2D normal_image;

layout(location = 0) out float visibility;

const int TAPS = 12;
const float RADIUS = 1.1;       // metres

void main() {
    ivec2 size = described_size(0);
    ivec2 here = described_pixel(gl_FragCoord.xy);
    ivec2 pixel = min(here * 2, size - 1);
    float depth = fetch(depth_image, 0, pixel).x;
    if (depth == 0.0) {
        visibility = 1.0;
        return;
    }
    vec3 position = view_position((vec2(pixel) + 0.5) / vec2(size), distance_of(depth));
    vec3 world = unpack_normal(fetch(normal_image, 1, pixel).xy * 2.0 - 1.0);
    vec3 normal = mat3(constants.view) * world;

    float reach = min(RADIUS / (constants.unproject.y * -position.z) * 0.5 * float(size.y), 0.12 * float(size.y));
    float turn = pixel_noise(uvec2(here), constants.frame_index) * 6.2831853;
    float blocked = 0.0;
    for (int tap = 0; tap < TAPS; ++tap) {
        float share = (float(tap) + 0.5) / float(TAPS);
        float angle = turn + float(tap) * 2.3999632;
        ivec2 other = pixel + ivec2(vec2(cos(angle), sin(angle)) * share * reach);
        other = clamp(other, ivec2(0), size - 1);
        float along = distance_of(fetch(depth_image, 0, other).x);
        vec3 towards = view_position((vec2(other) + 0.5) / vec2(size), along) - position;
        float square = dot(towards, towards);
        float near = max(1.0 - square / (RADIUS * RADIUS), 0.0);
        blocked += near * near * max(dot(towards, normal) - 0.004 * -position.z - 0.02, 0.0) / (sqrt(square) + 0.01);
    }
    visibility = pow(clamp(1.0 - 2.2 * blocked / float(TAPS), 0.0, 1.0), 1.4);
}
