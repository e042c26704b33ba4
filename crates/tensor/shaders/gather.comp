#version 460
#extension GL_GOOGLE_include_directive : require
// Elements of the source at other places: slices, transposes, zeros around, each element several times. For each axis of the
// target, number[0]: the source's axis; number[1]: where it begins there; number[2]: how often each element stands. number[3]: the
// axis that lies along vectors and its elements, the source's and the target's.
#include "tensor.glsl"
OPERAND_0(0, source)
OPERAND_1(1, target)

void main() {
    ivec4 at = invocation(shape[1]);
    if (outside(at, shape[1])) return;
    ivec2 from = number[3].xy, to = number[3].zw;
    ivec4 extent = shape[0];
    extent[from.x] = from.y;
    vec4 result = vec4(0.0);
    for (int lane = 0; lane < 4; ++lane) {
        ivec4 element = at;
        element[to.x] = at[to.x] * 4 + lane;
        if (element[to.x] >= to.y) continue;
        element += number[1];
        ivec4 index;
        for (int axis = 0; axis < 4; ++axis) index[number[0][axis]] = element[axis] / number[2][axis];
        if (any(lessThan(element, ivec4(0))) || outside(index, extent)) continue;
        int source_lane = index[from.x] % 4;
        index[from.x] /= 4;
        result[lane] = source_load_one(index, source_lane);
    }
    target_store(at, result);
}
