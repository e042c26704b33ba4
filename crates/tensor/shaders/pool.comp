#version 460
#extension GL_GOOGLE_include_directive : require
// The largest (way 0) or the mean (way 1) of a window; what is outside the source counts in neither. Source and target
// [n, c/4, h, w, 4]. number[0]: stride and padding, both y then x; number[1]: window y, x.
#include "tensor.glsl"
OPERAND_0(0, source)
OPERAND_1(1, target)

void main() {
    ivec4 at = invocation(shape[1]);
    if (outside(at, shape[1])) return;
    ivec2 extent = shape[0].zw;
    ivec2 first = at.zw * number[0].xy - number[0].zw;
    ivec2 end = min(first + number[1].xy, extent);
    first = max(first, ivec2(0));
    vec4 result = way == 0 ? vec4(-3.402823466e38) : vec4(0.0);
    for (int y = first.x; y < end.x; ++y) {
        for (int x = first.y; x < end.y; ++x) {
            vec4 value = source_load(ivec4(at.xy, y, x));
            result = way == 0 ? max(result, value) : result + value;
        }
    }
    ivec2 size = end - first;
    target_store(at, way == 0 ? result : result / float(size.x * size.y));
}
