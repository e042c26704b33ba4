#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
// The painted texel, changed by the sum of those around it.
#include "strips.glsl"

layout(set = 0, binding = 0) uniform texture2D painted;
layout(set = 0, binding = 1) uniform texture2D blurred;
layout(location = 0) out vec4 color;

void main() {
    vec4 own = texelFetch(painted, here() - part.inputs[0], 0);
    uint sum = uint(texelFetch(blurred, here() - part.inputs[1], 0).x);
    color = vec4((uvec3(round(own.rgb * 255.0)) ^ uvec3(sum, sum >> 8, sum >> 16)) & 255u, 255) / 255.0;
}
