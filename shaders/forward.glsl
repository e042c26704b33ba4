// Constants shared by all shaders of examples/forward: `Constants` in examples/forward/scene.rs.

layout(set = 0, binding = 0, std140) uniform Constants {
    // World to clip: the eye's, the sun's, the lamp's.
    mat4 views[3];
    vec4 eye;
    vec4 to_sun;
    vec4 sun_light;
    vec4 lamp;
    vec4 lamp_aim;
    vec4 lamp_light;
    vec4 sky;
} constants;
