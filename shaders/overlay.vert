#version 460
#extension GL_GOOGLE_include_directive : require
// Shapes in points: two triangles each.

#include "overlay.glsl"

layout(location = 0) out vec2 within;
layout(location = 1) flat out int number;

void main() {
    number = gl_InstanceIndex;
    Shape shape = shapes[number];
    int point = gl_VertexIndex < 3 ? gl_VertexIndex : gl_VertexIndex == 3 ? 2 : gl_VertexIndex == 4 ? 1 : 3;
    within = vec2(point & 1, point >> 1) * shape.place.zw;
    gl_Position = vec4((shape.place.xy + within) / screen.size * 2.0 - 1.0, 1.0, 1.0);
}
