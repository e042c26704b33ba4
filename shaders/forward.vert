#version 460
#extension GL_GOOGLE_include_directive : require
// Every object of examples/forward, as the eye or a light sees it.

#include "forward.glsl"

layout(push_constant) uniform Push {
    uint view;
};

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 color;

layout(location = 0) out vec3 world;
layout(location = 1) out vec3 facing;
layout(location = 2) out vec3 albedo;

// The depth that is drawn first is that of the surfaces that are drawn then.
invariant gl_Position;

void main() {
    world = position;
    facing = normal;
    albedo = color;
    gl_Position = constants.views[view] * vec4(position, 1.0);
}
