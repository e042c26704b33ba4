#version 460
// Diagonal stripes, which examples/alias_bugs computes into memory that another resource uses.

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, rgba8) uniform writeonly image2D target;

void main() {
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    bool light = (texel.x + texel.y) / 12 % 2 == 0;
    imageStore(target, texel, light ? vec4(0.85, 0.10, 0.45, 1.0) : vec4(0.25, 0.05, 0.30, 1.0));
}
