#version 460
#extension GL_GOOGLE_include_directive : require
// ReLU and its kin, element by element.
#include "tensor.glsl"
#include "activation.glsl"
OPERAND_0(0, source)
OPERAND_1(1, target)

void main() {
    ivec4 at = invocation(shape[1]);
    if (outside(at, shape[1])) return;
    target_store(at, activated(source_load(at)));
}
