// Shared by the shaders of the terrain: camera, height data, sky, mist.
#ifndef LAND_GLSL
#define LAND_GLSL

layout(set = 0, binding = 0) uniform Camera {
    mat4 clip;
    vec4 eye;
    vec4 right;
    vec4 up;
    vec4 forward;
    vec4 sun;
    vec4 sea;
    vec4 screen;
} camera;
layout(set = 0, binding = 1) readonly buffer Heights { float heights[]; };
layout(set = 0, binding = 2) readonly buffer Palette { vec4 palette[]; };

layout(push_constant) uniform Node {
    vec2 origin;
    float size;
    // Depth of the skirt below the edge of a patch.
    float skirt;
    vec4 plain;
    // Texels across the finest level, and how many levels that is.
    float texels;
    int levels;
    // The level that was asked for, 0 the finest: nothing finer is read, though it may still be there.
    float asked;
} node;

vec3 sky(vec3 direction) {
    float high = max(direction.y, 0.0);
    vec3 color = mix(vec3(0.72, 0.76, 0.80), vec3(0.20, 0.40, 0.75), 1.0 - exp(-high * 5.5));
    float toward = max(dot(direction, camera.sun.xyz), 0.0);
    color += vec3(1.0, 0.72, 0.42) * (0.30 * pow(toward, 6.0) * exp(-high * 3.0) + 0.25 * pow(toward, 64.0));
    return color;
}

// Thinner higher up: the integral along the ray in closed form.
vec3 through_mist(vec3 color, vec3 to) {
    vec3 ray = to - camera.eye.xyz;
    float along = length(ray), fall = 0.0052;
    float rise = ray.y * fall;
    float slab = abs(rise) > 1e-3 ? (1.0 - exp(-rise)) / rise : 1.0;
    float optical = 0.00046 * along * exp(-camera.eye.y * fall) * slab;
    vec3 direction = ray / max(along, 1e-3);
    vec3 air = sky(normalize(vec3(direction.x, max(direction.y, 0.015), direction.z)));
    // Blue is scattered first.
    vec3 clear = exp(-optical * vec3(0.82, 1.0, 1.28));
    return color * clear + air * (1.0 - clear);
}

vec3 to_srgb(vec3 color) {
    color = clamp(color, 0.0, 1.0);
    return mix(1.055 * pow(color, vec3(1.0 / 2.4)) - 0.055, color * 12.92, lessThan(color, vec3(0.0031308)));
}

#endif
