#version 460
#extension GL_GOOGLE_include_directive : require

#include "constants.glsl"

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;

layout(location = 0) out vec3 world_position;
layout(location = 1) out vec3 world_normal;
layout(location = 2) out vec3 object_position;
layout(location = 3) out vec3 clip;
layout(location = 4) out vec3 previous_clip;
layout(location = 5) flat out uint instance_index;

void main() {
    Instance instance = instances[gl_InstanceIndex];
    vec4 point = vec4(position, 1.0);
    world_position =
        vec3(dot(instance.rows[0], point), dot(instance.rows[1], point), dot(instance.rows[2], point));
    vec3 previous_position = vec3(dot(instance.previous_rows[0], point), dot(instance.previous_rows[1], point),
                                  dot(instance.previous_rows[2], point));

    // Normals go by the cofactors, which any scale but 0 keeps perpendicular.
    mat3 linear = transpose(mat3(instance.rows[0].xyz, instance.rows[1].xyz, instance.rows[2].xyz));
    mat3 cofactors = mat3(cross(linear[1], linear[2]), cross(linear[2], linear[0]), cross(linear[0], linear[1]));
    world_normal = cofactors * normal;
    object_position = position;
    instance_index = gl_InstanceIndex;

    clip = (constants.view_projection * vec4(world_position, 1.0)).xyw;
    previous_clip = (constants.previous_view_projection * vec4(previous_position, 1.0)).xyw;
    gl_Position = constants.jittered_view_projection * vec4(world_position, 1.0);
}
