// Where a pass computes: what it writes and reads may be as large as a strip of the images that the frame describes, and a frame may
// render to a part of them: then that is the described image.
#ifndef STRIP_GLSL
#define STRIP_GLSL

#extension GL_EXT_samplerless_texture_functions : require

// xy: the texel of the described image that is texel (0, 0) here; zw: the described image's size.
layout(push_constant) uniform Strip {
    ivec4 target;       // of a dispatch, xy: its first pixel
    ivec4 inputs[7];    // by binding in set 1
} strip;

// A pixel that is being written, in the described image: where its upper left corner and its middle are.
ivec2 described_pixel(vec2 here) {
    return ivec2(here) + strip.target.xy;
}

vec2 described_uv(vec2 here) {
    return (vec2(described_pixel(here)) + 0.5) / vec2(strip.target.zw);
}

ivec2 described_size(int binding) {
    return strip.inputs[binding].zw;
}

vec4 fetch(texture2D image, int binding, ivec2 pixel) {
    return texelFetch(image, pixel - strip.inputs[binding].xy, 0);
}

// A point of the described image (0 to 1) in the image that is there, where linear filtering reads nothing outside of the described one:
// at the middle of its last texel it would read the next one, with a weight of 0, and what is undefined may be no number.
vec2 strip_uv(texture2D image, int binding, vec2 uv) {
    ivec4 part = strip.inputs[binding];
    vec2 texel = min(max(uv * vec2(part.zw), vec2(0.5)), vec2(part.zw) - (0.5 + 1.0 / 64.0));
    return (texel - vec2(part.xy)) / vec2(textureSize(image, 0));
}

#endif
