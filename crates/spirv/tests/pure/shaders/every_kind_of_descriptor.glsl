layout(set = 0, binding = 0) uniform sampler2D combined;
layout(set = 0, binding = 1) uniform texture2D separate;
layout(set = 0, binding = 2) uniform sampler wrap;
layout(set = 0, binding = 3, rgba8) uniform readonly image2D source;
layout(set = 0, binding = 4, rgba8) uniform writeonly image2D target;
layout(set = 0, binding = 5, r32ui) uniform uimage2D counts;
layout(set = 0, binding = 6) uniform samplerBuffer texels;
layout(set = 0, binding = 7, r32f) uniform imageBuffer storageTexels;
layout(set = 0, binding = 8) uniform Constants { vec4 a; };
layout(set = 0, binding = 9) buffer Data { vec4 b[]; };
layout(set = 0, binding = 10) readonly buffer Input { vec4 c[]; } inputs;
layout(set = 0, binding = 11) writeonly buffer Result { vec4 d[]; } results;
layout(set = 0, binding = 12) uniform sampler2D unused;
layout(set = 1, binding = 0) buffer Sized { float e[]; } sized;
layout(local_size_x = 1) in;
void main() {
    vec4 sum = texture(combined, vec2(0)) + texture(sampler2D(separate, wrap), vec2(0));
    sum += imageLoad(source, ivec2(0)) + texelFetch(texels, 0) + a + inputs.c[1];
    imageStore(target, ivec2(0), sum);
    imageAtomicAdd(counts, ivec2(0), 1u);
    imageStore(storageTexels, 0, sum);
    b[0] += sum;
    results.d[sized.e.length()] = sum;
}
