#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
// A weighted sum of the texels within a distance of 3.
#include "strips.glsl"

layout(set = 0, binding = 0) uniform texture2D painted;
layout(location = 0) out float sum;

void main() {
    sum = 0.0;
    for (int y = -3; y <= 3; y++)
        for (int x = -3; x <= 3; x++) {
            ivec2 near = clamp(here() + ivec2(x, y), ivec2(0), part.size - 1);
            sum += round(dot(texelFetch(painted, near - part.inputs[0], 0).rgb, vec3(255, 510, 1020))) * float((x + 4) * (y + 5));
        }
}
