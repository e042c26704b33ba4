#version 460
#extension GL_GOOGLE_include_directive : require
// A fully connected layer: source [.., m, i/4, 4], weights [o/4, i, 4] (the 4 are outputs), bias [o/4, 4], target
// [.., m, o/4, 4].
#include "tensor.glsl"
#include "activation.glsl"
OPERAND_0(0, source)
OPERAND_1(1, weights)
OPERAND_2(2, bias)
OPERAND_3(3, target)

void main() {
    ivec4 at = invocation(shape[3]);
    if (outside(at, shape[3])) return;
    int inputs = shape[1].w;
    vec4 sum = bias_load(ivec4(0, 0, 0, at.w));
    for (int block = 0; block * 4 < inputs; ++block) {
        vec4 value = source_load(ivec4(at.xyz, block));
        int lanes = min(4, inputs - block * 4);
        for (int lane = 0; lane < lanes; ++lane) {
            sum += value[lane] * weights_load(ivec4(0, 0, at.w, block * 4 + lane));
        }
    }
    target_store(at, activated(sum));
}
