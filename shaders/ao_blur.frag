#version 460
#extension GL_GOOGLE_include_directive : require
// Smooths the occlusion over 4 x 4 pixels of one surface: the noise of one period averages out.

#include "space.glsl"
#include "strip.glsl"

layout(set = 1, binding = 0) uniform texture2D ao_image;
layout(set = 1, binding = 1) uniform texture2D depth_image;

layout(location = 0) out float visibility;

void main() {
    ivec2 size = described_size(0);
    ivec2 full = described_size(1) - 1;
    ivec2 middle = described_pixel(gl_FragCoord.xy);
    float along = distance_of(fetch(depth_image, 1, min(middle * 2, full)).x);
    float sum = 0.0;
    float weights = 0.0;
    for (int y = -2; y < 2; ++y) {
        for (int x = -2; x < 2; ++x) {
            ivec2 pixel = clamp(middle + ivec2(x, y), ivec2(0), size - 1);
            float other = distance_of(fetch(depth_image, 1, min(pixel * 2, full)).x);
            float weight = max(1.0 - abs(other - along) / (0.03 * along + 0.05), 0.0) + 1e-4;
            sum += fetch(ao_image, 0, pixel).x * weight;
            weights += weight;
        }
    }
    visibility = sum / weights;
}
