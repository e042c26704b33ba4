#version 460
#extension GL_GOOGLE_include_directive : require
// The wider glow joins the narrower one.

#include "bloom.glsl"

layout(set = 1, binding = 0) uniform texture2D smaller_image;
layout(set = 1, binding = 1) uniform texture2D same_image;

layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 bright;

void main() {
    bright = vec4(grow(smaller_image, uv) * 0.85 + texelFetch(same_image, ivec2(gl_FragCoord.xy), 0).rgb, 1.0);
}
