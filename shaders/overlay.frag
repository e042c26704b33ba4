#version 460
#extension GL_GOOGLE_include_directive : require
// A shape's colour: plain, in stripes, or as far as a glyph covers it; corners may be round.

#include "overlay.glsl"

layout(set = 0, binding = 1) readonly buffer Glyphs {
    // Four texels a word, row by row, glyph after glyph: all coarse drawings, then all fine ones.
    uint coverage[];
};

layout(location = 0) in vec2 within;
layout(location = 1) flat in int number;
layout(location = 0) out vec4 colour;

float texel_of(uint first, ivec2 size, ivec2 texel) {
    if (any(lessThan(texel, ivec2(0))) || any(greaterThanEqual(texel, size))) {
        return 0.0;
    }
    uint at = first + uint(texel.y * size.x + texel.x);
    return unpackUnorm4x8(coverage[at / 4u])[at % 4u];
}

// How much of the point a glyph covers: texel by texel at one pixel to a point, else between the texels of the fine drawing.
float covered(uint glyph, vec2 point) {
    if (screen.scale == 1.0) {
        return texel_of(glyph * uint(GLYPH.x * GLYPH.y), GLYPH, ivec2(point));
    }
    ivec2 size = GLYPH * 2;
    uint first = COARSE_TEXELS + glyph * uint(size.x * size.y);
    vec2 at = point * 2.0 - 0.5;
    ivec2 low = ivec2(floor(at));
    vec2 share = at - vec2(low);
    float above = mix(texel_of(first, size, low), texel_of(first, size, low + ivec2(1, 0)), share.x);
    float below = mix(texel_of(first, size, low + ivec2(0, 1)), texel_of(first, size, low + ivec2(1, 1)), share.x);
    return mix(above, below, share.y);
}

void main() {
    Shape shape = shapes[number];
    colour = unpackUnorm4x8(shape.colour);
    if (shape.fill >= GLYPHS) {
        colour.a *= covered(shape.fill - GLYPHS, within);
    } else if (shape.fill == STRIPES) {
        // By the place in the picture, so that stripes go on from one shape to the next.
        float along = mod((gl_FragCoord.x + gl_FragCoord.y) / screen.scale, 8.0);
        colour.a *= along < 3.0 ? 1.0 : 0.25;
    }
    vec2 half_size = shape.place.zw * 0.5;
    vec2 outside = abs(within - half_size) - half_size + shape.radius;
    float distance = length(max(outside, 0.0)) + min(max(outside.x, outside.y), 0.0) - shape.radius;
    // Straight edges lie between pixels and stay sharp.
    colour.a *= shape.radius > 0.0 ? clamp(0.5 - distance * screen.scale, 0.0, 1.0) : 1.0;
}
