struct Light { vec4 position; uint next[4]; };
layout(binding = 0) buffer Lights { Light lights[]; };
layout(binding = 1) buffer Whole { Light one; Light two; };
shared Light cache[16];
layout(local_size_x = 16) in;
void main() {
    uint at = gl_LocalInvocationIndex;
    cache[at] = lights[at];
    barrier();
    atomicMax(lights[at].next[1], cache[15 - at].next[0]);
    one = two;
}
