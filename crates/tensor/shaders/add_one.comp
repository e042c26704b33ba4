#version 460
#extension GL_GOOGLE_include_directive : require
// x + 1, each invocation a tile of 4 x 4 vectors (the RFC's `addone`).
#include "tensor.glsl"
OPERAND_0(0, source)
OPERAND_1(1, target)

void main() {
    ivec4 first = invocation(shape[1]) * ivec4(1, 1, 4, 4);
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 4; ++x) {
            ivec4 at = first + ivec4(0, 0, y, x);
            if (outside(at, shape[1])) continue;
            target_store(at, source_load(at) + 1.0);
        }
    }
}
