#version 460
#extension GL_GOOGLE_include_directive : require
// Temporal antialiasing: reprojects the previous frame, and clips it to the range of colors around.

#include "plaza.glsl"

layout(set = 0, binding = 0) uniform texture2D lit;
layout(set = 0, binding = 1) uniform texture2D motion;
layout(set = 0, binding = 2) uniform texture2D previous;

layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 resolved;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    ivec2 last = textureSize(lit, 0) - 1;
    vec3 now = texelFetch(lit, pixel, 0).rgb;
    vec3 low = now, high = now;
    for (int y = -1; y <= 1; y++) {
        for (int x = -1; x <= 1; x++) {
            vec3 near = texelFetch(lit, clamp(pixel + ivec2(x, y), ivec2(0), last), 0).rgb;
            low = min(low, near);
            high = max(high, near);
        }
    }
    vec2 then = uv - texelFetch(motion, pixel, 0).xy;
    vec4 before = textureLod(sampler2D(previous, linear_clamp), then, 0.0);
    // A history that was never written is zero, alpha included.
    bool usable = before.a > 0.5 && all(greaterThan(then, vec2(0.0))) && all(lessThan(then, vec2(1.0)));
    // Towards the middle of the colors around, which keeps the hue.
    vec3 middle = 0.5 * (low + high);
    vec3 excess = abs(before.rgb - middle) / (0.5 * (high - low) + 1e-4);
    vec3 clipped = middle + (before.rgb - middle) / max(1.0, max(excess.r, max(excess.g, excess.b)));
    resolved = vec4(mix(now, clipped, usable ? 0.88 : 0.0), 1.0);
}
