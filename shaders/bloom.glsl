// The filters of the bloom chain, all over bilinear samples.
#ifndef BLOOM_GLSL
#define BLOOM_GLSL

#include "constants.glsl"
#include "strip.glsl"

vec3 tap(texture2D image, int binding, vec2 at) {
    return textureLod(sampler2D(image, linear_clamp), strip_uv(image, binding, at), 0.0).rgb;
}

// Half the size: the middle counts as much as the four corners together.
vec3 shrink(texture2D image, int binding, vec2 at) {
    vec2 texel = 1.0 / vec2(described_size(binding));
    vec3 sum = tap(image, binding, at) * 4.0;
    sum += tap(image, binding, at + texel * vec2(-1.0, -1.0)) + tap(image, binding, at + texel * vec2(1.0, -1.0));
    sum += tap(image, binding, at + texel * vec2(-1.0, 1.0)) + tap(image, binding, at + texel * vec2(1.0, 1.0));
    return sum / 8.0;
}

// Twice the size: a tent over 3 x 3 texels.
vec3 grow(texture2D image, int binding, vec2 at) {
    vec2 texel = 1.0 / vec2(described_size(binding));
    vec3 sum = tap(image, binding, at) * 4.0;
    sum += (tap(image, binding, at + texel * vec2(-1.0, 0.0)) + tap(image, binding, at + texel * vec2(1.0, 0.0))) * 2.0;
    sum += (tap(image, binding, at + texel * vec2(0.0, -1.0)) + tap(image, binding, at + texel * vec2(0.0, 1.0))) * 2.0;
    sum += tap(image, binding, at + texel * vec2(-1.0, -1.0)) + tap(image, binding, at + texel * vec2(1.0, -1.0));
    sum += tap(image, binding, at + texel * vec2(-1.0, 1.0)) + tap(image, binding, at + texel * vec2(1.0, 1.0));
    return sum / 16.0;
}

#endif
