#version 460
#extension GL_GOOGLE_include_directive : require
// The wider glow joins the narrower one.

#include "bloom.glsl"

layout(set = 1, binding = 0) uniform texture2D smaller_image;
layout(set = 1, binding = 1) uniform texture2D same_image;

layout(location = 0) out vec4 bright;

void main() {
    vec3 wider = grow(smaller_image, 0, described_uv(gl_FragCoord.xy));
    bright = vec4(wider * 0.85 + fetch(same_image, 1, described_pixel(gl_FragCoord.xy)).rgb, 1.0);
}
