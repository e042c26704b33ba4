#version 460
#extension GL_GOOGLE_include_directive : require
// Sun, lamp and sky on a surface; both lights look up what they see in their shadow maps.

#include "forward.glsl"

layout(set = 0, binding = 1) uniform texture2D sun_map;
layout(set = 0, binding = 2) uniform texture2D lamp_map;
layout(set = 0, binding = 4) uniform samplerShadow nearer;

layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec3 albedo;

layout(location = 0) out vec4 hdr;

// The share of a light that reaches a point: the mean of 5 x 5 comparisons; all of it outside the map.
float reaches(texture2D map, mat4 view, vec3 point) {
    vec4 clip = view * vec4(point, 1.0);
    vec3 at = clip.xyz / clip.w;
    vec2 uv = at.xy * 0.5 + 0.5;
    if (clip.w <= 0.0 || any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0))) || at.z > 1.0) {
        return 1.0;
    }
    vec2 texel = 1.0 / vec2(textureSize(sampler2DShadow(map, nearer), 0));
    float sum = 0.0;
    for (int y = -2; y <= 2; ++y) {
        for (int x = -2; x <= 2; ++x) {
            sum += textureLod(sampler2DShadow(map, nearer), vec3(uv + vec2(x, y) * texel, at.z), 0.0);
        }
    }
    return sum / 25.0;
}

void main() {
    vec3 normal = normalize(facing);
    // Off the surface, so that it does not shade itself.
    vec3 point = world + normal * 0.03;

    float sun = max(dot(normal, constants.to_sun.xyz), 0.0) * reaches(sun_map, constants.views[1], point);

    vec3 to_lamp = constants.lamp.xyz - world;
    float distance_squared = dot(to_lamp, to_lamp);
    to_lamp *= inversesqrt(distance_squared);
    float cone = smoothstep(0.70, 0.86, dot(-to_lamp, constants.lamp_aim.xyz));
    float lamp = max(dot(normal, to_lamp), 0.0) * cone / (1.0 + distance_squared)
        * reaches(lamp_map, constants.views[2], point);

    vec3 ambient = constants.sky.rgb * (0.25 + 0.15 * normal.y);
    vec3 light = albedo * (constants.sun_light.rgb * sun + constants.lamp_light.rgb * lamp + ambient);
    float haze = 1.0 - exp(-length(constants.eye.xyz - world) * 0.008);
    hdr = vec4(mix(light, constants.sky.rgb, haze), 1.0);
}
