#version 460
#extension GL_GOOGLE_include_directive : require
// The sky, and the open sea below the horizon.

#include "land.glsl"

layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;

void main() {
    vec2 at = uv * 2.0 - 1.0;
    vec3 direction = normalize(camera.forward.xyz + camera.right.xyz * at.x - camera.up.xyz * at.y);
    vec3 seen = sky(direction) + vec3(8.0, 6.5, 4.5) * smoothstep(0.99955, 0.9998, dot(direction, camera.sun.xyz));
    if (direction.y < -1e-4) {
        vec3 place = camera.eye.xyz - direction * (camera.eye.y / direction.y);
        seen = through_mist(camera.sea.rgb, place);
    }
    color = vec4(to_srgb(seen), 1.0);
}
