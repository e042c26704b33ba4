// A plaza by night: columns around a fountain, balls that float above it, and a light on every column. The scene is a function of the
// frame's number, computed in shaders, so that renderers in several languages draw the same one.
#ifndef PLAZA_GLSL
#define PLAZA_GLSL

#extension GL_EXT_samplerless_texture_functions : require

layout(push_constant) uniform Constants {
    uvec2 extent;  // of the picture
    uint number;   // of the frame
} constants;

layout(set = 0, binding = 4) uniform sampler linear_clamp;

const float TURN = 6.2831853;

// A number in [0, 1) that looks random: the hash `pcg` of two integers.
float random(uint one, uint other) {
    uint state = (one * 747796405u + other * 277803737u + 1u) * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return float(((word >> 22u) ^ word) >> 8u) / 16777216.0;
}

// A bright color.
vec3 hue(float angle) {
    return 0.5 + 0.5 * cos(TURN * (angle + vec3(0.0, 0.33, 0.67)));
}

// Lights: one above every column, then some that circle the fountain.
const uint COLUMNS = 16u;
const uint LIGHTS = COLUMNS + 5u;
const float LIGHT_RADIUS = 7.0;

struct Light {
    vec3 position;
    vec3 color;
};

vec3 column(uint index) {
    float angle = TURN * (float(index) + 0.5) / float(COLUMNS);
    return vec3(8.0 * sin(angle), 0.0, 8.0 * cos(angle));
}

Light light(uint index, uint number) {
    if (index < COLUMNS) {
        return Light(column(index) + vec3(0.0, 4.3, 0.0), vec3(1.0, 0.55, 0.22) * (1.6 + random(index, 1u)));
    }
    float part = float(index - COLUMNS) / float(LIGHTS - COLUMNS);
    float angle = TURN * part + 0.02 * float(number);
    return Light(vec3(4.6 * sin(angle), 0.9, 4.6 * cos(angle)), hue(part) * 4.0);
}

const vec3 MOON = vec3(0.433, 0.742, -0.512);  // of length 1
const vec3 MOONLIGHT = vec3(0.15, 0.19, 0.30);

// World to clip space of the shadow map. Depth is reversed: 1 is nearest to the moon.
vec4 project_shadow(vec3 world) {
    vec3 right = normalize(cross(vec3(0.0, 1.0, 0.0), MOON));
    vec3 up = cross(MOON, right);
    return vec4(dot(world, right) / 13.0, -dot(world, up) / 13.0, 0.5 + dot(world, MOON) / 64.0, 1.0);
}

struct Camera {
    vec3 eye;
    mat3 axes;   // to the right, up, backwards
    vec2 scale;  // of the projection
};

const float NEAR = 0.1;

Camera camera(uint number) {
    float angle = 0.56 + 0.004 * float(number);
    vec3 eye = vec3(16.5 * sin(angle), 7.2, 16.5 * cos(angle));
    vec3 back = normalize(eye - vec3(0.0, 1.9, 0.0));
    vec3 right = normalize(cross(vec3(0.0, 1.0, 0.0), back));
    vec2 scale = vec2(1.9 * float(constants.extent.y) / float(constants.extent.x), 1.9);
    return Camera(eye, mat3(right, cross(back, right), back), scale);
}

// World to clip space. Depth is reversed and infinite: `NEAR` / distance.
vec4 project(Camera from, vec3 world) {
    vec3 seen = (world - from.eye) * from.axes;
    return vec4(seen.x * from.scale.x, -seen.y * from.scale.y, NEAR, -seen.z);
}

// The world position of a point in clip space at a distance along the view axis.
vec3 unproject(Camera from, vec2 clip, float along) {
    return from.eye + from.axes * (vec3(clip.x / from.scale.x, -clip.y / from.scale.y, -1.0) * along);
}

// The sub-pixel offset of a frame in clip space: eight points of the Halton sequence.
vec2 jitter(uint number) {
    const vec2 POINTS[8] = vec2[](
        vec2(0.5, 0.3333), vec2(0.25, 0.6667), vec2(0.75, 0.1111), vec2(0.125, 0.4444),
        vec2(0.625, 0.7778), vec2(0.375, 0.2222), vec2(0.875, 0.5556), vec2(0.0625, 0.8889));
    return (POINTS[number % 8u] * 2.0 - 1.0) / vec2(constants.extent);
}

#endif
