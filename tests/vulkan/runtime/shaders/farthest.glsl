layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform texture2D above;
layout(set = 0, binding = 1, r32f) uniform writeonly image2D here;
void main() {
    ivec2 at = ivec2(gl_LocalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(here)))) return;
    float far = 0.0;
    for (int i = 0; i < 4; i++)
        far = max(far, texelFetch(above, at * 2 + ivec2(i & 1, i >> 1), 0).r);
    imageStore(here, at, vec4(far));
}
