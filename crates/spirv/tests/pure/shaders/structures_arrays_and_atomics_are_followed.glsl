#extension GL_EXT_nonuniform_qualifier : require
struct Light { vec4 position; uint next[4]; };
layout(binding = 0) buffer Lights { Light lights[]; };
layout(binding = 1) buffer Counter { uint count; };
layout(binding = 2) buffer Many { uint values[]; } many[];
layout(binding = 3) buffer Whole { Light one; Light two; };
layout(local_size_x = 1) in;
void main() {
    uint at = atomicAdd(count, 1);
    lights[at].next[2] = at;
    many[nonuniformEXT(at)].values[3] = at;
    Light copy = two;
    one = copy;
    atomicMax(lights[at].next[1], 3u);
}
