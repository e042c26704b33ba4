#version 460
#extension GL_GOOGLE_include_directive : require
// Objects as the camera sees them.

#include "plaza_objects.glsl"

layout(location = 0) out vec3 normal;
layout(location = 1) out vec3 position;
layout(location = 2) out vec4 clip;           // without jitter
layout(location = 3) out vec4 previous_clip;  // in the frame before
layout(location = 4) flat out vec4 color;

void main() {
    uint index = uint(gl_InstanceIndex);
    uint before = max(constants.number, 1u) - 1u;
    Point unit = corner(uint(gl_VertexIndex), index >= BOXES);
    Object now = object(index, constants.number);
    Point at = place(now, unit);
    normal = at.normal;
    position = at.position;
    color = now.color;
    clip = project(camera(constants.number), at.position);
    previous_clip = project(camera(before), place(object(index, before), unit).position);
    gl_Position = clip + vec4(jitter(constants.number) * clip.w, 0.0, 0.0);
}
