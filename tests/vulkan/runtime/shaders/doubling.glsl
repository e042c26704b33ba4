#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform readonly uimage2D lit;
layout(set = 0, binding = 1) writeonly buffer Doubled { uint doubled[]; };
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    doubled[at.y * 32 + at.x] = imageLoad(lit, at).r * 2u;
}
