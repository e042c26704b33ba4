#version 460
// Fills the list.
layout(local_size_x = 64) in;
layout(set = 0, binding = 5) writeonly buffer List { uint list[]; };

void main() {
    list[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * 3u;
}
