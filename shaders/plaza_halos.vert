#version 460
#extension GL_GOOGLE_include_directive : require
// A square around every light.

#include "plaza.glsl"

layout(location = 0) out vec2 across;
layout(location = 1) flat out vec3 color;

void main() {
    const vec2 CORNERS[6] = vec2[](vec2(-1, -1), vec2(1, -1), vec2(1, 1), vec2(-1, -1), vec2(1, 1), vec2(-1, 1));
    Light lamp = light(uint(gl_InstanceIndex), constants.number);
    Camera from = camera(constants.number);
    across = CORNERS[gl_VertexIndex];
    color = lamp.color;
    vec4 clip = project(from, lamp.position + from.axes * (vec3(across, 0.62) * 0.9));
    gl_Position = clip + vec4(jitter(constants.number) * clip.w, 0.0, 0.0);
}
