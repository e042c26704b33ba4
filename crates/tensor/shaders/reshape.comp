#version 460
#extension GL_GOOGLE_include_directive : require
// The same elements in the same row-major order under other dimensions. number[0]: the axis of the source that lies along
// its vectors, and the elements it has; number[1]: the target's.
#include "tensor.glsl"
OPERAND_0(0, source)
OPERAND_1(1, target)

ivec4 elements(ivec4 extent, ivec2 lanes) {
    extent[lanes.x] = lanes.y;
    return extent;
}

void main() {
    ivec4 at = invocation(shape[1]);
    if (outside(at, shape[1])) return;
    ivec2 from = number[0].xy, to = number[1].xy;
    ivec4 all_from = elements(shape[0], from), all_to = elements(shape[1], to);
    vec4 result = vec4(0.0);
    for (int lane = 0; lane < 4; ++lane) {
        ivec4 element = at;
        element[to.x] = at[to.x] * 4 + lane;
        if (element[to.x] >= to.y) continue;
        int rest = linear(element, all_to);
        ivec4 index;
        for (int axis = 3; axis >= 0; --axis) {
            index[axis] = rest % all_from[axis];
            rest /= all_from[axis];
        }
        int source_lane = index[from.x] % 4;
        index[from.x] /= 4;
        result[lane] = source_load_one(index, source_lane);
    }
    target_store(at, result);
}
