#version 460
#extension GL_GOOGLE_include_directive : require
// left + right (way 0), left * right (1), left - right (2), left / right (3), the larger (4) or smaller (5). An axis of length 1 serves every index; so does the one element of a
// vector where number[0] says so: x for the left, y for the right.
#include "tensor.glsl"
#include "activation.glsl"
OPERAND_0(0, left)
OPERAND_1(1, right)
OPERAND_2(2, target)

vec4 combined(vec4 a, vec4 b) {
    switch (way) {
    case 1: return a * b;
    case 2: return a - b;
    case 3: return a / b;
    case 4: return max(a, b);
    case 5: return min(a, b);
    default: return a + b;
    }
}

void main() {
    ivec4 at = invocation(shape[2]);
    if (outside(at, shape[2])) return;
    ivec4 at_left = min(at, shape[0] - 1), at_right = min(at, shape[1] - 1);
    vec4 a = number[0].x != 0 ? vec4(left_load_one(at_left, 0)) : left_load(at_left);
    vec4 b = number[0].y != 0 ? vec4(right_load_one(at_right, 0)) : right_load(at_right);
    target_store(at, activated(combined(a, b)));
}
