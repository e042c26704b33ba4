// What the shaders of overlays share; examples/support/sheet.rs has the same.
#ifndef OVERLAY_GLSL
#define OVERLAY_GLSL

// What a shape is filled with, besides a plain colour: stripes, or the glyph of this number less GLYPHS.
const uint STRIPES = 1;
const uint GLYPHS = 2;
const uint GLYPH_WIDTH = 7;
const uint GLYPH_HEIGHT = 16;

struct Shape {
    // Left, top, width, height.
    vec4 place;
    // Red lowest, sRGB.
    uint colour;
    uint fill;
    float radius;
    uint unused;
};

layout(set = 0, binding = 0) readonly buffer Shapes { Shape shapes[]; };
layout(push_constant) uniform Screen { vec2 size; } screen;

#endif
