#version 460
#extension GL_GOOGLE_include_directive : require
// A square of land: 16 by 16 quads between the heights, and a skirt around them that hides the cracks to its neighbours.

#include "land.glsl"

layout(location = 0) out vec2 uv;
layout(location = 1) out vec3 position;

const int QUADS = 16;
const float WORLD = 4096.0;
const int CELLS = 1024;

// The smallest squares have quads smaller than cells.
float height_at(vec2 at) {
    ivec2 cell = min(ivec2(at), ivec2(CELLS - 1));
    vec2 within = at - vec2(cell);
    int first = cell.y * (CELLS + 1) + cell.x;
    float above = mix(heights[first], heights[first + 1], within.x);
    float below = mix(heights[first + CELLS + 1], heights[first + CELLS + 2], within.x);
    return mix(above, below, within.y);
}

void main() {
    int quad = gl_VertexIndex / 6, corner = gl_VertexIndex % 6;
    // Two triangles: 0 1 2, 2 1 3.
    int point = corner < 3 ? corner : corner == 3 ? 2 : corner == 4 ? 1 : 3;
    ivec2 at = ivec2(quad % (QUADS + 2), quad / (QUADS + 2)) + ivec2(point & 1, point >> 1) - 1;
    ivec2 inside = clamp(at, ivec2(0), ivec2(QUADS));
    uv = vec2(inside) / float(QUADS);
    vec2 place = node.origin + uv * node.size;
    float height = height_at(place * (float(CELLS) / WORLD));
    position = vec3(place.x, at == inside ? height : height - node.skirt, place.y);
    gl_Position = camera.clip * vec4(position, 1.0);
}
