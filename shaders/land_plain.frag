#version 460
#extension GL_GOOGLE_include_directive : require
// Land whose texture is not there yet.

#include "land.glsl"

layout(location = 0) in vec2 uv;
layout(location = 1) in vec3 position;
layout(location = 0) out vec4 color;

void main() {
    color = vec4(to_srgb(through_mist(node.plain.rgb, position)), 1.0);
}
