// The sky, and the mist that everything fades into.
#ifndef SKY_GLSL
#define SKY_GLSL

#include "constants.glsl"
#include "noise.glsl"

vec3 sky_gradient(vec3 direction) {
    float height = max(direction.y, 0.0);
    vec3 zenith = vec3(0.010, 0.022, 0.062);
    vec3 middle = vec3(0.036, 0.052, 0.125);
    vec3 horizon = vec3(0.135, 0.095, 0.150);
    vec3 color = mix(horizon, middle, smoothstep(0.0, 0.24, height));
    color = mix(color, zenith, smoothstep(0.15, 0.75, height));
    float towards = max(dot(direction, constants.moon_direction.xyz), 0.0);
    float towards_4 = towards * towards * towards * towards;
    return color + constants.moon_color.rgb * (0.030 * towards_4 + 0.05 * pow(towards, 48.0));
}

vec3 stars(vec3 direction) {
    vec3 point = direction * 150.0;
    ivec3 cell = ivec3(floor(point));
    float bright = cell_noise(cell);
    if (bright < 0.989 || direction.y < 0.02) {
        return vec3(0.0);
    }
    vec3 offset = vec3(cell_noise(cell + 17), cell_noise(cell + 31), cell_noise(cell + 57)) * 0.5 + 0.25;
    float near = 1.0 - smoothstep(0.05, 0.22, length(fract(point) - offset));
    vec3 tint = mix(vec3(1.0, 0.8, 0.65), vec3(0.7, 0.85, 1.0), cell_noise(cell + 91));
    return tint * near * (bright - 0.989) * 150.0 * smoothstep(0.02, 0.25, direction.y);
}

vec3 moon(vec3 direction) {
    vec3 axis = constants.moon_direction.xyz;
    vec3 across = direction - axis * dot(direction, axis);
    float radius = length(across) / 0.056;
    if (radius > 1.0 || dot(direction, axis) < 0.0) {
        return vec3(0.0);
    }
    float seas = rough_noise(across * 30.0 + 9.0);
    float limb = sqrt(max(1.0 - radius * radius, 0.0));
    vec3 face = mix(vec3(1.0, 0.93, 0.80), vec3(0.46, 0.45, 0.48), smoothstep(0.40, 0.66, seas));
    return face * (0.5 + 0.5 * limb) * 0.62 * smoothstep(1.0, 0.965, radius);
}

vec3 sky(vec3 direction) {
    return sky_gradient(direction) + stars(direction) + moon(direction);
}

// The color after the mist: the light that it lets through plus the light that it adds.
vec3 through_mist(vec3 color, vec3 from, vec3 to) {
    vec3 ray = to - from;
    float along = length(ray);
    // Density halves every 5 m upwards: the integral along the ray in closed form.
    float fall = 0.139;
    float rise = ray.y * fall;
    float slab = abs(rise) > 1e-3 ? (1.0 - exp(-rise)) / rise : 1.0;
    float optical = 0.018 * along * exp(-max(from.y, -1.0) * fall) * slab;
    float clear = exp(-optical);
    vec3 direction = ray / max(along, 1e-4);
    vec3 glow = sky_gradient(normalize(vec3(direction.x, max(direction.y, 0.02), direction.z)));
    return color * clear + glow * 1.1 * (1.0 - clear);
}

#endif
