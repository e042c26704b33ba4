#version 460
#extension GL_GOOGLE_include_directive : require
// A tensor from one storage to another, in any layout of each.
#include "tensor.glsl"
OPERAND_0(0, source)
OPERAND_1(1, target)

void main() {
    ivec4 at = invocation(shape[1]);
    if (outside(at, shape[1])) return;
    target_store(at, source_load(at));
}
