#version 460
#extension GL_GOOGLE_include_directive : require
// Color above white, at half size.

#include "bloom.glsl"

layout(set = 1, binding = 0) uniform texture2D scene_image;

layout(location = 0) out vec4 bright;

void main() {
    vec3 color = shrink(scene_image, 0, described_uv(gl_FragCoord.xy));
    float peak = max(color.r, max(color.g, color.b));
    float over = max(peak - 0.9, 0.0);
    bright = vec4(min(color * over / max(peak, 1e-4), vec3(16.0)), 1.0);
}
