// Noise from integers: the same on every machine, whatever its sin() does.
#ifndef NOISE_GLSL
#define NOISE_GLSL

uint hash(uint x) {
    uint state = x * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

// 0 to 1, from a cell of a grid.
float cell_noise(ivec3 cell) {
    return float(hash(uint(cell.x) + hash(uint(cell.y) + hash(uint(cell.z)))) >> 8) / 16777216.0;
}

// 0 to 1, smooth.
float value_noise(vec3 point) {
    ivec3 cell = ivec3(floor(point));
    vec3 within = fract(point);
    vec3 weight = within * within * (3.0 - 2.0 * within);
    float sum = 0.0;
    for (int corner = 0; corner < 8; ++corner) {
        ivec3 offset = ivec3(corner & 1, (corner >> 1) & 1, corner >> 2);
        vec3 share = mix(1.0 - weight, weight, vec3(offset));
        sum += cell_noise(cell + offset) * share.x * share.y * share.z;
    }
    return sum;
}

// 0 to 1, three octaves.
float rough_noise(vec3 point) {
    return (value_noise(point) * 4.0 + value_noise(point * 2.03) * 2.0 + value_noise(point * 4.1)) / 7.0;
}

// 0 to 1, evenly spread over neighbouring pixels, another pattern in each of eight frames.
float pixel_noise(uvec2 pixel, uint frame) {
    vec2 point = vec2(pixel) + 5.588238 * float(frame % 8u);
    return fract(52.9829189 * fract(dot(point, vec2(0.06711056, 0.00583715))));
}

#endif
