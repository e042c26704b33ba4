#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D image;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    imageStore(image, at, imageLoad(image, at) + 100u);
}
