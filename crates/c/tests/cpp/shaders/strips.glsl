// Positions of an arranged pass, in texels of the described images.
layout(push_constant) uniform Part {
    // The texel (0, 0) of the images that the pass writes.
    ivec2 written;
    // The first texels of the images at bindings 0 and 1.
    ivec2 inputs[2];
    ivec2 size;
} part;

// The described texel that this invocation computes.
ivec2 here() {
    return ivec2(gl_FragCoord.xy) + part.written;
}
