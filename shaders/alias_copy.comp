#version 460
#extension GL_EXT_samplerless_texture_functions : require
// A frame of examples/alias_bugs that only computes: it copies an image.

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform texture2D source;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D target;

void main() {
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    imageStore(target, texel, texelFetch(source, texel, 0));
}
