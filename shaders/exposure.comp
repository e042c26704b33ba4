#version 460
#extension GL_GOOGLE_include_directive : require
// One number: how much light the picture is exposed to. A fixed grid of samples, summed in a fixed order.

#include "constants.glsl"
#include "strip.glsl"

layout(local_size_x = 256) in;

layout(set = 1, binding = 0) uniform texture2D scene_image;
layout(set = 1, binding = 1, std430) writeonly buffer Exposure {
    float exposure;
};

shared float sums[256];

void main() {
    uint thread = gl_LocalInvocationIndex;
    vec2 size = vec2(described_size(0));
    float sum = 0.0;
    for (uint sample_index = thread; sample_index < 64 * 36; sample_index += 256) {
        vec2 at = (vec2(sample_index % 64, sample_index / 64) + 0.5) / vec2(64.0, 36.0);
        vec3 color = fetch(scene_image, 0, ivec2(at * size)).rgb;
        sum += log2(max(dot(color, vec3(0.2126, 0.7152, 0.0722)), 0.004));
    }
    sums[thread] = sum;
    barrier();
    for (uint half_count = 128; half_count > 0; half_count /= 2) {
        if (thread < half_count) {
            sums[thread] += sums[thread + half_count];
        }
        barrier();
    }
    if (thread == 0) {
        float average = exp2(sums[0] / (64.0 * 36.0));
        exposure = clamp(0.115 / average, 0.8, 3.2);
    }
}
