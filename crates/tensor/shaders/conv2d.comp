#version 460
#extension GL_GOOGLE_include_directive : require
// Convolution: source [n, i/4, h, w, 4], weights [o/4, i, kh, kw, 4] (the 4 are output channels), bias [o/4, 4],
// target [n, o/4, oh, ow, 4]. number[0]: stride and padding, both y then x; number[1]: dilation y, x.
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
    int channels = shape[1].y;
    vec4 sum = bias_load(ivec4(0, 0, 0, at.y));
    for (int ky = 0; ky < window.x; ++ky) {
        int y = first.x + ky * dilation.x;
        if (y < 0 || y >= extent.x) continue;
        for (int kx = 0; kx < window.y; ++kx) {
            int x = first.y + kx * dilation.y;
            if (x < 0 || x >= extent.y) continue;
            for (int block = 0; block * 4 < channels; ++block) {
                vec4 value = source_load(ivec4(at.x, block, y, x));
                int lanes = min(4, channels - block * 4);
                for (int lane = 0; lane < lanes; ++lane) {
                    sum += value[lane] * weights_load(ivec4(at.y, block * 4 + lane, ky, kx));
                }
            }
        }
    }
    target_store(at, activated(sum));
}
