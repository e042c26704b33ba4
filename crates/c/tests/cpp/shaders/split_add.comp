#version 460
// Adds to each element of the list.
layout(local_size_x = 64) in;
layout(set = 0, binding = 5) buffer List { uint list[]; };

void main() {
    list[gl_GlobalInvocationID.x] += 5u;
}
