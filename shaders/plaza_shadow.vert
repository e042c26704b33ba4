#version 460
#extension GL_GOOGLE_include_directive : require
// Objects as the moon sees them.

#include "plaza_objects.glsl"

void main() {
    uint index = uint(gl_InstanceIndex);
    Point at = place(object(index, constants.number), corner(uint(gl_VertexIndex), index >= BOXES));
    gl_Position = project_shadow(at.position);
}
