#version 460
#extension GL_GOOGLE_include_directive : require
// Bright pass at half resolution: color above 0.8.

#include "plaza.glsl"

layout(set = 0, binding = 0) uniform texture2D resolved;

layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 bright;

void main() {
    vec3 color = textureLod(sampler2D(resolved, linear_clamp), uv, 0.0).rgb;
    bright = vec4(max(color - 0.8, 0.0), 1.0);
}
