#version 460
layout(local_size_x = 4, local_size_y = 4) in;
layout(set = 0, binding = 0, r32ui) uniform readonly uimage2D image_before;
layout(set = 0, binding = 1, r32ui) uniform writeonly uimage2D image_now;
layout(set = 0, binding = 2) readonly buffer LoadOp { uint buffer_before[]; };
layout(set = 0, binding = 3) writeonly buffer Now { uint buffer_now[]; };
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    imageStore(image_now, at, imageLoad(image_before, at) + 1u);
    buffer_now[at.y * 4 + at.x] = buffer_before[at.y * 4 + at.x] + 2u;
}
