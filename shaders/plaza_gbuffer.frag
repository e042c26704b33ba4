#version 460
#extension GL_GOOGLE_include_directive : require
// Color, normal and motion of surfaces.

#include "plaza_surface.glsl"

layout(location = 2) in vec4 clip;
layout(location = 3) in vec4 previous_clip;

layout(location = 2) out vec2 motion;

void main() {
    write_surface();
    motion = (clip.xy / clip.w - previous_clip.xy / previous_clip.w) * 0.5;
}
