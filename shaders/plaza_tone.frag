#version 460
#extension GL_GOOGLE_include_directive : require
// From light to picture: bloom, a film-like curve, sRGB.

#include "plaza.glsl"

layout(set = 0, binding = 0) uniform texture2D resolved;
layout(set = 0, binding = 1) uniform texture2D bloom;
layout(set = 0, binding = 2) uniform texture2D wide_bloom;

layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 picture;

void main() {
    vec3 light = texelFetch(resolved, ivec2(gl_FragCoord.xy), 0).rgb;
    light += 0.35 * textureLod(sampler2D(bloom, linear_clamp), uv, 0.0).rgb;
    light += 0.35 * textureLod(sampler2D(wide_bloom, linear_clamp), uv, 0.0).rgb;
    light *= 1.3;
    // Krzysztof Narkowicz's fit of the ACES curve.
    vec3 film = clamp(light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14), 0.0, 1.0);
    vec3 curved = 1.055 * pow(max(film, vec3(1e-5)), vec3(1.0 / 2.4)) - 0.055;
    picture = vec4(mix(curved, film * 12.92, lessThan(film, vec3(0.0031308))), 1.0);
}
