#version 460
#extension GL_GOOGLE_include_directive : require
// Paints texels that are farther than 0.5.
#include "strips.glsl"

layout(location = 0) out vec4 color;

void main() {
    color = vec4(here().y & 1, here().x & 1, 1, 1);
    gl_FragDepth = 0.5;
}
