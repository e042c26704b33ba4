#version 460
#extension GL_EXT_samplerless_texture_functions : require
// Copies the words of all images and of the list.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform texture2D color;
layout(set = 0, binding = 1) uniform utexture2D numbers;
layout(set = 0, binding = 2) uniform itexture2D signs;
layout(set = 0, binding = 3) uniform texture2D depth;
layout(set = 0, binding = 4) uniform utexture2D past;
layout(set = 0, binding = 5) readonly buffer List { uint list[]; };
layout(set = 0, binding = 6) writeonly buffer Result { uint result[]; };

void main() {
    uint n = gl_GlobalInvocationID.x;
    ivec2 at = ivec2(n % 32u, n / 32u);
    result[n * 6u] = packUnorm4x8(texelFetch(color, at, 0));
    result[n * 6u + 1u] = texelFetch(numbers, at, 0).r;
    result[n * 6u + 2u] = uint(texelFetch(signs, at, 0).r);
    result[n * 6u + 3u] = floatBitsToUint(texelFetch(depth, at, 0).r);
    result[n * 6u + 4u] = texelFetch(past, at, 0).r;
    result[n * 6u + 5u] = list[n];
}
