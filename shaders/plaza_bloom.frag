#version 460
#extension GL_GOOGLE_include_directive : require
// A blur: a tent over 3 x 3 texels; at half the size, the average of 2 x 2.

#include "plaza.glsl"

layout(set = 0, binding = 0) uniform texture2D source;

layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 blurred;

void main() {
    vec2 texel = 1.0 / vec2(textureSize(source, 0));
    vec3 sum = vec3(0.0);
    for (int y = -1; y <= 1; y += 2) {
        for (int x = -1; x <= 1; x += 2) {
            sum += textureLod(sampler2D(source, linear_clamp), uv + texel * 0.5 * vec2(x, y), 0.0).rgb;
        }
    }
    blurred = vec4(sum * 0.25, 1.0);
}
