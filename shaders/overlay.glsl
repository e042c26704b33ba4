// What the shaders of overlays share; examples/support/sheet.rs has the same.
#ifndef OVERLAY_GLSL
#define OVERLAY_GLSL

// What a shape is filled with, besides a plain colour: stripes, or the glyph of this number less GLYPHS.
const uint STRIPES = 1;
const uint GLYPHS = 2;
// Points of a glyph, and texels of its coarse drawing; the fine one has two to a point.
const ivec2 GLYPH = ivec2(7, 16);
// Texels of all coarse drawings, which come first.
const uint COARSE_TEXELS = 2u * (95u + 96u) * 7u * 16u;

struct Shape {
    // Left, top, width, height, in points.
    vec4 place;
    // Red lowest, sRGB.
    uint colour;
    uint fill;
    float radius;
    uint unused;
};

layout(set = 0, binding = 0) readonly buffer Shapes { Shape shapes[]; };
// The picture's sides in points, and pixels to a point.
layout(push_constant) uniform Screen { vec2 size; float scale; } screen;

#endif
