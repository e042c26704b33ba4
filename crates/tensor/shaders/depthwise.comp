#version 460
#extension GL_GOOGLE_include_directive : require
// Depthwise convolution: each channel by itself; source [n, c/4, h, w, 4], weights [c/4, 1, kh, kw, 4], bias [c/4, 4],
// target [n, c/4, oh, ow, 4]; numbers as conv2d.
#include "tensor.glsl"
#include "activation.glsl"
OPERAND_0(0, source)
OPERAND_1(1, weights)
OPERAND_2(2, bias)
OPERAND_3(3, target)

void main() {
    ivec4 at = invocation(shape[3]);
    if (outside(at, shape[3])) return;
    ivec2 extent = shape[0].zw, window = shape[1].zw, dilation = number[1].xy;
    ivec2 first = at.zw * number[0].xy - number[0].zw;
    vec4 sum = bias_load(ivec4(0, 0, 0, at.y));
    for (int ky = 0; ky < window.x; ++ky) {
        int y = first.x + ky * dilation.x;
        if (y < 0 || y >= extent.x) continue;
        for (int kx = 0; kx < window.y; ++kx) {
            int x = first.y + kx * dilation.y;
            if (x < 0 || x >= extent.y) continue;
            sum += source_load(ivec4(at.xy, y, x)) * weights_load(ivec4(at.y, 0, ky, kx));
        }
    }
    target_store(at, activated(sum));
}
