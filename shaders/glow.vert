#version 460
#extension GL_GOOGLE_include_directive : require
// A halo around every light: a square that faces the eye, a little in front of it.

#include "space.glsl"

layout(location = 0) out vec2 corner;
layout(location = 1) flat out vec3 color;

const float HALO = 1.5;     // metres

void main() {
    Light light = lights[gl_InstanceIndex];
    vec2 corners[6] = vec2[](vec2(-1, -1), vec2(1, -1), vec2(1, 1), vec2(-1, -1), vec2(1, 1), vec2(-1, 1));
    corner = corners[gl_VertexIndex];
    vec3 forward = normalize(eye() - light.position_radius.xyz);
    vec3 right = constants.inverse_view[0].xyz;
    vec3 up = constants.inverse_view[1].xyz;
    vec3 middle = light.position_radius.xyz + forward * 0.35;
    color = light.color.rgb * 0.016 * exp(-0.022 * distance(eye(), middle));
    vec3 position = middle + (right * corner.x + up * corner.y) * HALO;
    gl_Position = constants.jittered_view_projection * vec4(position, 1.0);
}
