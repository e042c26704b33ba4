#version 460
#extension GL_GOOGLE_include_directive : require
// From light to picture: exposure, bloom, a film-like curve, sRGB, a grain that hides the steps of eight bits.

#include "bloom.glsl"
#include "noise.glsl"

layout(set = 1, binding = 0) uniform texture2D scene_image;
layout(set = 1, binding = 1) uniform texture2D bloom_image;
layout(set = 1, binding = 2, std430) readonly buffer Exposure {
    float exposure;
};

layout(location = 0) out vec4 picture;

// Stephen Hill's fit of the ACES reference transform.
vec3 film(vec3 color) {
    const mat3 INPUT = mat3(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566, 0.83777);
    const mat3 OUTPUT = mat3(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367, -0.00605, 1.07602);
    vec3 v = INPUT * color;
    v = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081);
    return clamp(OUTPUT * v, 0.0, 1.0);
}

vec3 encode(vec3 linear) {
    vec3 low = linear * 12.92;
    vec3 high = 1.055 * pow(max(linear, vec3(1e-5)), vec3(1.0 / 2.4)) - 0.055;
    return mix(high, low, lessThan(linear, vec3(0.0031308)));
}

void main() {
    ivec2 pixel = described_pixel(gl_FragCoord.xy);
    vec2 uv = described_uv(gl_FragCoord.xy);
    // The picture has its size, whatever the frame renders at.
    bool same = described_size(0) == strip.target.zw;
    vec3 scene = same ? fetch(scene_image, 0, pixel).rgb : tap(scene_image, 0, uv);
    vec3 color = scene + tap(bloom_image, 1, uv) * 0.16;
    vec2 off_centre = uv - 0.5;
    color *= exposure * (1.0 - 0.9 * dot(off_centre, off_centre));
    vec3 encoded = encode(film(color * 1.6));
    float grain = pixel_noise(uvec2(pixel), 0u) - 0.5;
    picture = vec4(encoded + grain / 255.0, 1.0);
}
