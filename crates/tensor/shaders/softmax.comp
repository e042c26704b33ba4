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
        vec4 value = mix(vec4(most), source_load(along(at, block)), counting(block));
        most = max(most, max(max(value.x, value.y), max(value.z, value.w)));
    }
    float sum = 0.0;
    for (int block = 0; block < blocks; ++block) {
        sum += total(exp(source_load(along(at, block)) - most) * counting(block));
    }
    for (int block = 0; block < blocks; ++block) {
        target_store(along(at, block), exp(source_load(along(at, block)) - most) * counting(block) / sum);
    }
}
