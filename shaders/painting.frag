#version 460
// The painting of examples/tile_bugs and examples/alias_bugs: dunes under a sun, a medallion to hang over them, and stripes.

layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;

layout(push_constant) uniform Motif {
    uint motif;
};

vec3 dunes() {
    vec3 sky = mix(vec3(0.98, 0.80, 0.55), vec3(0.26, 0.40, 0.66), smoothstep(0.55, 0.0, uv.y));
    float sun = distance((uv - vec2(0.30, 0.36)) * vec2(1.78, 1.0), vec2(0.0));
    sky = mix(vec3(1.0, 0.95, 0.80), sky, smoothstep(0.075, 0.085, sun));
    vec3 picture = sky;
    for (int ridge = 0; ridge < 5; ridge++) {
        float depth = float(ridge) / 4.0;
        float crest = 0.50 + 0.09 * float(ridge) + 0.045 * sin(uv.x * (5.0 + 2.0 * depth) + 2.4 * float(ridge));
        float shade = 0.5 + 0.5 * cos(uv.x * (5.0 + 2.0 * depth) + 2.4 * float(ridge));
        vec3 sand = mix(vec3(0.86, 0.58, 0.36), vec3(0.42, 0.20, 0.16), depth) * mix(0.72, 1.08, shade);
        picture = mix(picture, sand, smoothstep(crest - 0.002, crest + 0.002, uv.y));
    }
    return picture;
}

void main() {
    if (motif == 0) {
        color = vec4(dunes(), 1.0);
        return;
    }
    if (motif == 2) {
        color = fract(12.0 * (uv.x + uv.y)) < 0.5 ? vec4(0.85, 0.10, 0.45, 1.0) : vec4(0.25, 0.05, 0.30, 1.0);
        return;
    }
    vec2 at = (uv - vec2(0.76, 0.68)) * vec2(1.78, 1.0);
    float radius = length(at);
    float petals = 0.5 + 0.5 * cos(8.0 * atan(at.y, at.x));
    vec3 gold = mix(vec3(0.95, 0.76, 0.32), vec3(0.30, 0.20, 0.35), step(0.10 + 0.05 * petals, radius));
    gold = mix(gold, vec3(0.98, 0.86, 0.52), step(0.19, radius));
    color = vec4(gold, 1.0 - smoothstep(0.205, 0.21, radius));
}
