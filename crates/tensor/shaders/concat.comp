#version 460
#extension GL_GOOGLE_include_directive : require
// A part of the target, in which one of two neighbouring operands follows the other. number[0]: the axis along which, the first index of
// the part and how many it has, the axis that lies along vectors; number[1]: where left and right begin in the target, and where
// right ends, in elements.
#include "tensor.glsl"
OPERAND_0(0, left)
OPERAND_1(1, right)
OPERAND_2(2, target)

void main() {
    int axis = number[0].x, along = number[0].w;
    ivec4 extent = shape[2];
    extent[axis] = number[0].z;
    ivec4 at = invocation(extent);
    if (outside(at, extent)) return;
    at[axis] += number[0].y;
    vec4 result = vec4(0.0);
    for (int lane = 0; lane < 4; ++lane) {
        ivec4 element = at;
        element[along] = at[along] * 4 + lane;
        if (element[axis] >= number[1].z) continue;
        bool is_left = element[axis] < number[1].y;
        element[axis] -= is_left ? number[1].x : number[1].y;
        int source_lane = element[along] % 4;
        element[along] /= 4;
        result[lane] = is_left ? left_load_one(element, source_lane) : right_load_one(element, source_lane);
    }
    target_store(at, result);
}
