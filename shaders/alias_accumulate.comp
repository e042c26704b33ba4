#version 460
#extension GL_EXT_samplerless_texture_functions : require
// Adds an image to a buffer that examples/alias_bugs clears before, or forgets to.

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform texture2D source;
layout(set = 0, binding = 1, std430) buffer Sums {
    uint sums[];
};

void main() {
    uvec2 texel = gl_GlobalInvocationID.xy;
    uint width = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    sums[texel.y * width + texel.x] += packUnorm4x8(texelFetch(source, ivec2(texel), 0));
}
