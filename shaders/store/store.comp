#version 460
// Stores a buffer of a split life, word by word.

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) readonly buffer Stretch {
    uint words[];
} stretch;

layout(set = 0, binding = 1, std430) writeonly buffer Stored {
    uint words[];
} stored;

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint word = gl_GlobalInvocationID.x; word < uint(stretch.words.length()); word += step) {
        stored.words[word] = stretch.words[word];
    }
}
