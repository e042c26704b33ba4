// Noise from integers: the same on every machine, whatever its sin() does.
#ifndef NOISE_GLSL
#define NOISE_GLSL

// 0 to 1, from a cell of a grid (a PCG step over a sum of large odd multiples).
float cell_noise(ivec3 cell) {
    uvec3 parts = uvec3(cell) * uvec3(0x9e3779b1u, 0x85ebca77u, 0xc2b2ae3du);
    uint state = (parts.x ^ parts.y ^ parts.z) * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return float(((word >> 22u) ^ word) >> 8) / 16777216.0;
}

// 0 to 1, smooth.
float value_noise(vec3 point) {
    ivec3 cell = ivec3(floor(point));
    vec3 within = fract(point);
    vec3 weight = within * within * (3.0 - 2.0 * within);
    vec4 low = vec4(cell_noise(cell), cell_noise(cell + ivec3(1, 0, 0)), cell_noise(cell + ivec3(0, 1, 0)),
                    cell_noise(cell + ivec3(1, 1, 0)));
    vec4 high = vec4(cell_noise(cell + ivec3(0, 0, 1)), cell_noise(cell + ivec3(1, 0, 1)),
                     cell_noise(cell + ivec3(0, 1, 1)), cell_noise(cell + ivec3(1, 1, 1)));
    vec4 slab = mix(low, high, weight.z);
    vec2 row = mix(slab.xy, slab.zw, weight.y);
    return mix(row.x, row.y, weight.x);
}

// 0 to 1, two octaves.
float rough_noise(vec3 point) {
    return (value_noise(point) * 2.0 + value_noise(point * 2.37 + 19.0)) / 3.0;
}

// 0 to 1, evenly spread over neighbouring pixels, another pattern in each of eight frames.
float pixel_noise(uvec2 pixel, uint frame) {
    vec2 point = vec2(pixel) + 5.588238 * float(frame % 8u);
    return fract(52.9829189 * fract(dot(point, vec2(0.06711056, 0.00583715))));
}

#endif
