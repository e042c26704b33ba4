// Where a pixel is. Depth is reversed and infinite: near / distance, 0 at the sky.
#ifndef SPACE_GLSL
#define SPACE_GLSL

#include "constants.glsl"

float distance_of(float depth) {
    return constants.unproject.z / max(depth, 1e-7);
}

// View position of a point of the screen (0 to 1) at a distance along the view axis.
vec3 view_position(vec2 uv, float along) {
    vec2 clip = uv * 2.0 - 1.0 - constants.jitter.xy;
    return vec3(clip.x * constants.unproject.x, -clip.y * constants.unproject.y, -1.0) * along;
}

vec3 world_of_view(vec3 position) {
    return (constants.inverse_view * vec4(position, 1.0)).xyz;
}

vec3 eye() {
    return constants.inverse_view[3].xyz;
}

// A normal as a point of the unit square: the octahedral map.
vec2 pack_normal(vec3 normal) {
    vec2 flat_normal = normal.xy / (abs(normal.x) + abs(normal.y) + abs(normal.z));
    vec2 signs = vec2(flat_normal.x >= 0.0 ? 1.0 : -1.0, flat_normal.y >= 0.0 ? 1.0 : -1.0);
    return normal.z >= 0.0 ? flat_normal : (1.0 - abs(flat_normal.yx)) * signs;
}

vec3 unpack_normal(vec2 point) {
    vec3 normal = vec3(point, 1.0 - abs(point.x) - abs(point.y));
    float fold = max(-normal.z, 0.0);
    normal.x += normal.x >= 0.0 ? -fold : fold;
    normal.y += normal.y >= 0.0 ? -fold : fold;
    return normalize(normal);
}

#endif
