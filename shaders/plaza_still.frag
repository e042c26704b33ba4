#version 460
#extension GL_GOOGLE_include_directive : require
// Color and normal of surfaces, for frames without temporal antialiasing.

#include "plaza_surface.glsl"

void main() {
    write_surface();
}
