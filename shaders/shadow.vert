#version 460
#extension GL_GOOGLE_include_directive : require
// Depth alone, as the moon sees it; right of that, where there is a second map, what is near.

#include "constants.glsl"
#include "strip.glsl"

layout(location = 0) in vec3 position;

void main() {
    Instance instance = instances[gl_InstanceIndex];
    vec4 point = vec4(position, 1.0);
    vec3 world = vec3(dot(instance.rows[0], point), dot(instance.rows[1], point), dot(instance.rows[2], point));
    gl_Position = constants.moon_view_projection * vec4(world, 1.0);
    if (strip.target.x < 0) {
        gl_Position.xy = near_shadow(gl_Position.xy);
    }
}
