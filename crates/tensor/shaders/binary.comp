#version 460
#extension GL_GOOGLE_include_directive : require
// left + right (way 0) or left * right (way 1). An axis of length 1 serves every index; so does the one element of a
// vector where number[0] says so: x for the left, y for the right.
#include "tensor.glsl"
#include "activation.glsl"
OPERAND_0(0, left)
OPERAND_1(1, right)
OPERAND_2(2, target)

void main() {
    ivec4 at = invocation(shape[2]);
    if (outside(at, shape[2])) return;
    ivec4 at_left = min(at, shape[0] - 1), at_right = min(at, shape[1] - 1);
    vec4 a = number[0].x != 0 ? vec4(left_load_one(at_left, 0)) : left_load(at_left);
    vec4 b = number[0].y != 0 ? vec4(right_load_one(at_right, 0)) : right_load(at_right);
    target_store(at, activated(way == 0 ? a + b : a * b));
}
