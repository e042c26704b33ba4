#version 460
#extension GL_GOOGLE_include_directive : require
// Averages this frame's jittered picture with the frames before, moved to where their surfaces are now.

#include "constants.glsl"
#include "strip.glsl"

layout(set = 1, binding = 0) uniform texture2D hdr_image;
layout(set = 1, binding = 1) uniform texture2D motion_image;
layout(set = 1, binding = 2) uniform texture2D history_image;

layout(location = 0) out vec4 resolved;

// Bright pixels count for less, or one of them would outshine its neighbours' edges.
vec3 compress(vec3 color) {
    return color / (1.0 + max(color.r, max(color.g, color.b)));
}

vec3 expand(vec3 color) {
    return color / max(1.0 - max(color.r, max(color.g, color.b)), 1e-3);
}

void main() {
    ivec2 size = described_size(0);
    ivec2 pixel = described_pixel(gl_FragCoord.xy);
    vec3 now = compress(fetch(hdr_image, 0, pixel).rgb);
    vec2 source = described_uv(gl_FragCoord.xy) - fetch(motion_image, 1, pixel).xy;
    bool inside = all(greaterThanEqual(source, vec2(0.0))) && all(lessThanEqual(source, vec2(1.0)));
    // Alpha counts the frames in the average; it is 0 where there is no history yet.
    vec4 history = textureLod(sampler2D(history_image, linear_clamp), strip_uv(history_image, 2, source), 0.0);
    if (history.a == 0.0 || !inside) {
        resolved = vec4(expand(now), 1.0);
        return;
    }

    // History counts as far as the neighbourhood makes it credible: mean and deviation of 3 x 3 pixels.
    vec3 sum = vec3(0.0);
    vec3 squares = vec3(0.0);
    for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
            vec3 color = compress(fetch(hdr_image, 0, clamp(pixel + ivec2(x, y), ivec2(0), size - 1)).rgb);
            sum += color;
            squares += color * color;
        }
    }
    vec3 mean = sum / 9.0;
    vec3 deviation = sqrt(max(squares / 9.0 - mean * mean, vec3(0.0))) * 1.25;
    vec3 before = clamp(compress(history.rgb), mean - deviation, mean + deviation);

    // The first frames all weigh the same.
    float frames = min(history.a + 1.0, 10.0);
    resolved = vec4(expand(mix(before, now, 1.0 / frames)), frames);
}
