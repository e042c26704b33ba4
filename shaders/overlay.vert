#version 460
#extension GL_GOOGLE_include_directive : require
// Rectangles in pixels.

#include "land.glsl"

struct Rectangle {
    // Left, top, width, height.
    vec4 place;
    vec4 colour;
};

layout(set = 0, binding = 4) readonly buffer Rectangles { Rectangle rectangles[]; };
layout(location = 0) out vec4 shade;

void main() {
    Rectangle rectangle = rectangles[gl_InstanceIndex];
    int point = gl_VertexIndex < 3 ? gl_VertexIndex : gl_VertexIndex == 3 ? 2 : gl_VertexIndex == 4 ? 1 : 3;
    vec2 at = rectangle.place.xy + vec2(point & 1, point >> 1) * rectangle.place.zw;
    shade = rectangle.colour;
    gl_Position = vec4(at / camera.screen.xy * 2.0 - 1.0, 1.0, 1.0);
}
