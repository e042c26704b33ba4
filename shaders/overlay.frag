#version 460
#extension GL_GOOGLE_include_directive : require
// A shape's colour: plain, in stripes, or as far as a glyph covers it; corners may be round.

#include "overlay.glsl"

layout(set = 0, binding = 1) readonly buffer Glyphs {
    // Four texels a word, row by row, glyph after glyph.
    uint coverage[];
};

layout(location = 0) in vec2 within;
layout(location = 1) flat in int number;
layout(location = 0) out vec4 colour;

void main() {
    Shape shape = shapes[number];
    colour = unpackUnorm4x8(shape.colour);
    if (shape.fill >= GLYPHS) {
        uvec2 texel = uvec2(within);
        uint at = (shape.fill - GLYPHS) * GLYPH_WIDTH * GLYPH_HEIGHT + texel.y * GLYPH_WIDTH + texel.x;
        colour.a *= unpackUnorm4x8(coverage[at / 4u])[at % 4u];
    } else if (shape.fill == STRIPES) {
        // In pixels of the screen, so that stripes go on from one shape to the next.
        float along = mod(gl_FragCoord.x + gl_FragCoord.y, 8.0);
        colour.a *= along < 3.0 ? 1.0 : 0.25;
    }
    vec2 half_size = shape.place.zw * 0.5;
    vec2 outside = abs(within - half_size) - half_size + shape.radius;
    float distance = length(max(outside, 0.0)) + min(max(outside.x, outside.y), 0.0) - shape.radius;
    // Straight edges lie between pixels and stay sharp.
    colour.a *= shape.radius > 0.0 ? clamp(0.5 - distance, 0.0, 1.0) : 1.0;
}
