#version 460
#extension GL_GOOGLE_include_directive : require
// Softmax along an axis (axis.glsl).
#include "tensor.glsl"
#include "axis.glsl"
OPERAND_0(0, source)
OPERAND_1(1, target)

void main() {
    ivec4 extent = lines(shape[1]), at = invocation(extent);
    if (outside(at, extent)) return;
    int blocks = (number[0].y + 3) / 4;
    float most = -3.402823466e38;
    for (int block = 0; block < blocks; ++block) {
        vec4 value = source_load(along(at, block));
        for (int lane = 0; lane < min(4, number[0].y - block * 4); ++lane) most = max(most, value[lane]);
    }
    float sum = 0.0;
    for (int block = 0; block < blocks; ++block) {
        sum += total(counting(exp(source_load(along(at, block)) - most), block));
    }
    for (int block = 0; block < blocks; ++block) {
        target_store(along(at, block), counting(exp(source_load(along(at, block)) - most), block) / sum);
    }
}
