#version 460
#extension GL_GOOGLE_include_directive : require
// Transposed convolution: source [n, i/4, h, w, 4], weights [i/4, o, kh, kw, 4] (the 4 are input channels), bias [o/4, 4],
// target [n, o/4, oh, ow, 4]. number[0]: stride and padding, both y then x; number[1].x: i.
#include "tensor.glsl"
#include "activation.glsl"
OPERAND_0(0, source)
OPERAND_1(1, weights)
OPERAND_2(2, bias)
OPERAND_3(3, target)

void main() {
    ivec4 at = invocation(shape[3]);
    if (outside(at, shape[3])) return;
    ivec2 extent = shape[0].zw, window = shape[1].zw, stride = number[0].xy;
    int channels = number[1].x, outputs = min(4, shape[1].y - at.y * 4);
    vec4 sum = bias_load(ivec4(0, 0, 0, at.y));
    for (int ky = 0; ky < window.x; ++ky) {
        int y = at.z + number[0].z - ky;
        if (y < 0 || y % stride.x != 0 || y / stride.x >= extent.x) continue;
        for (int kx = 0; kx < window.y; ++kx) {
            int x = at.w + number[0].w - kx;
            if (x < 0 || x % stride.y != 0 || x / stride.y >= extent.y) continue;
            for (int block = 0; block * 4 < channels; ++block) {
                vec4 value = counted(source_load(ivec4(at.x, block, y / stride.x, x / stride.y)), channels - block * 4);
                for (int lane = 0; lane < outputs; ++lane) {
                    sum[lane] += dot(value, weights_load(ivec4(block, at.y * 4 + lane, ky, kx)));
                }
            }
        }
    }
    target_store(at, activated(sum));
}
