#version 460
#extension GL_GOOGLE_include_directive : require
// left [.., m, k/4, 4] times right, [.., k, n/4, 4] (way 0) or transposed, [.., n, k/4, 4] (way 1): [.., m, n/4, 4].
// number[0].x: k; number[0].y: n. Leading axes of length 1 serve every index.
#include "tensor.glsl"
#include "activation.glsl"
OPERAND_0(0, left)
OPERAND_1(1, right)
OPERAND_2(2, target)

void main() {
    ivec4 at = invocation(shape[2]);
    if (outside(at, shape[2])) return;
    ivec2 of_left = min(at.xy, shape[0].xy - 1), of_right = min(at.xy, shape[1].xy - 1);
    int inner = number[0].x;
    vec4 sum = vec4(0.0);
    if (way == 0) {
        for (int k = 0; k < inner; ++k) {
            sum += left_load_one(ivec4(of_left, at.z, k / 4), k % 4) * right_load(ivec4(of_right, k, at.w));
        }
    } else {
        for (int block = 0; block * 4 < inner; ++block) {
            int count = inner - block * 4;
            vec4 value = counted(left_load(ivec4(of_left, at.z, block)), count);
            for (int lane = 0; lane < min(4, number[0].y - at.w * 4); ++lane) {
                sum[lane] += dot(value, counted(right_load(ivec4(of_right, at.w * 4 + lane, block)), count));
            }
        }
    }
    target_store(at, activated(sum));
}
