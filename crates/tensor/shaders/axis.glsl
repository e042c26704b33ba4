// For kernels that go along one axis of vectors: number[0].x says which, number[0].y how many of its elements count.
#ifndef AXIS_GLSL
#define AXIS_GLSL

vec4 counting(vec4 vector, int block) { return counted(vector, number[0].y - block * 4); }

ivec4 along(ivec4 at, int block) {
    at[number[0].x] = block;
    return at;
}

// The work of an invocation: one line of vectors.
ivec4 lines(ivec4 extent) {
    extent[number[0].x] = 1;
    return extent;
}

float total(vec4 vector) { return dot(vector, vec4(1.0)); }

#endif
