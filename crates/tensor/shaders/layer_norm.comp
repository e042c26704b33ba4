#version 460
#extension GL_GOOGLE_include_directive : require
// Layer normalisation along an axis (axis.glsl), then times `scale`, plus `shift`, both [k/4, 4]. number[1].x: epsilon's
// bits.
#include "tensor.glsl"
#include "axis.glsl"
OPERAND_0(0, source)
OPERAND_1(1, scale)
OPERAND_2(2, shift)
OPERAND_3(3, target)

void main() {
    ivec4 extent = lines(shape[3]), at = invocation(extent);
    if (outside(at, extent)) return;
    int blocks = (number[0].y + 3) / 4;
    float count = float(number[0].y), mean = 0.0, variance = 0.0;
    for (int block = 0; block < blocks; ++block) {
        mean += total(counting(source_load(along(at, block)), block));
    }
    mean /= count;
    for (int block = 0; block < blocks; ++block) {
        vec4 off = counting(source_load(along(at, block)) - mean, block);
        variance += dot(off, off);
    }
    float factor = inversesqrt(variance / count + intBitsToFloat(number[1].x));
    for (int block = 0; block < blocks; ++block) {
        vec4 value = (source_load(along(at, block)) - mean) * factor;
        ivec4 column = ivec4(0, 0, 0, block);
        target_store(along(at, block), value * scale_load(column) + shift_load(column));
    }
}
