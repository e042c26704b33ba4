#version 460
#extension GL_GOOGLE_include_directive : require

#include "bloom.glsl"

layout(set = 1, binding = 0) uniform texture2D larger_image;

layout(location = 0) out vec4 bright;

void main() {
    bright = vec4(shrink(larger_image, 0, described_uv(gl_FragCoord.xy)), 1.0);
}
