#version 460
#extension GL_GOOGLE_include_directive : require
// A color and a depth for each texel, by its position.
#include "strips.glsl"

layout(location = 0) out vec4 color;

void main() {
    ivec2 at = here();
    color = vec4(at.x * 5 & 255, at.y * 7 & 255, (at.x ^ at.y) & 255, 255) / 255.0;
    gl_FragDepth = float(at.x * 13 + at.y * 29 & 255) / 256.0;
}
