#version 460
#extension GL_GOOGLE_include_directive : require
// Light that leaves surfaces towards the camera, and the sky.

#include "plaza.glsl"

layout(set = 0, binding = 0) uniform texture2D albedo;
layout(set = 0, binding = 1) uniform texture2D packed_normal;
layout(set = 0, binding = 2) uniform texture2D depth;
layout(set = 0, binding = 3) uniform texture2D shadow;

layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 lit;

// How much of the moon a point sees: 3 x 3 texels of the shadow map.
float moon_visibility(vec3 world) {
    vec4 at = project_shadow(world);
    ivec2 size = textureSize(shadow, 0);
    ivec2 texel = ivec2(floor((at.xy * 0.5 + 0.5) * vec2(size)));
    float sum = 0.0;
    for (int y = -1; y <= 1; y++) {
        for (int x = -1; x <= 1; x++) {
            ivec2 near = texel + ivec2(x, y);
            bool outside = any(lessThan(near, ivec2(0))) || any(greaterThanEqual(near, size));
            sum += outside || texelFetch(shadow, clamp(near, ivec2(0), size - 1), 0).r <= at.z + 0.0015 ? 1.0 : 0.0;
        }
    }
    return sum / 9.0;
}

vec3 sky(vec3 towards) {
    vec3 color = mix(vec3(0.020, 0.026, 0.060), vec3(0.003, 0.004, 0.014), clamp(towards.y * 2.4, 0.0, 1.0));
    // Stars: points in some cells of a grid.
    vec3 grid = towards * 110.0;
    ivec3 cell = ivec3(floor(grid)) + 4096;
    float chance = random(uint(cell.x) * 8192u + uint(cell.y), uint(cell.z));
    float nearness = smoothstep(0.45, 0.1, length(fract(grid) - 0.5));
    return color + vec3(1.0, 1.1, 1.4) * nearness * max(chance - 0.985, 0.0) / 0.015;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    Camera from = camera(constants.number);
    vec2 clip = uv * 2.0 - 1.0 - jitter(constants.number);
    float nearness = texelFetch(depth, pixel, 0).r;
    if (nearness == 0.0) {
        lit = vec4(sky(normalize(unproject(from, clip, 1.0) - from.eye)), 1.0);
        return;
    }
    vec3 world = unproject(from, clip, NEAR / nearness);
    vec4 surface = texelFetch(albedo, pixel, 0);
    if (surface.a > 0.5) {
        lit = vec4(surface.rgb * 5.0, 1.0);
        return;
    }
    vec3 normal = normalize(texelFetch(packed_normal, pixel, 0).rgb * 2.0 - 1.0);
    vec3 towards_eye = normalize(from.eye - world);
    vec3 light_sum = vec3(0.010, 0.013, 0.024) * (1.0 + 0.5 * normal.y);
    vec3 gloss = vec3(0.0);
    float moon = max(dot(normal, MOON), 0.0) * moon_visibility(world + normal * 0.06);
    light_sum += MOONLIGHT * moon;
    for (uint index = 0u; index < LIGHTS; index++) {
        Light lamp = light(index, constants.number);
        vec3 way = lamp.position - world;
        float squared = dot(way, way);
        float window = max(1.0 - squared / (LIGHT_RADIUS * LIGHT_RADIUS), 0.0);
        if (window > 0.0) {
            vec3 towards = way * inversesqrt(squared);
            vec3 arriving = lamp.color * window * window / (squared + 0.15);
            light_sum += arriving * max(dot(normal, towards), 0.0);
            gloss += arriving * pow(max(dot(normal, normalize(towards + towards_eye)), 0.0), 48.0);
        }
    }
    lit = vec4(surface.rgb * light_sum + 0.12 * gloss, 1.0);
}
