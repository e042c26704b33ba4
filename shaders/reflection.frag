#version 460
#extension GL_GOOGLE_include_directive : require
// Reflections in smooth surfaces, at half resolution: rays march over the depth image, and what they hit has the color
// that the frame before gave it.

#include "space.glsl"
#include "strip.glsl"
#include "noise.glsl"

layout(set = 1, binding = 0) uniform texture2D albedo_image;
layout(set = 1, binding = 1) uniform texture2D normal_image;
layout(set = 1, binding = 2) uniform texture2D depth_image;
layout(set = 1, binding = 3) uniform texture2D history_image;

layout(location = 0) out vec4 reflection;   // color, and how sure of it

const int STEPS = 28;
const int REFINEMENTS = 5;

vec2 screen_of_view(vec3 position) {
    vec2 clip = position.xy / (-position.z * constants.unproject.xy);
    return (vec2(clip.x, -clip.y) + constants.jitter.xy) * 0.5 + 0.5;
}

float surface_distance(vec2 at, ivec2 size) {
    ivec2 pixel = clamp(ivec2(at * vec2(size)), ivec2(0), size - 1);
    return distance_of(fetch(depth_image, 2, pixel).x);
}

void main() {
    reflection = vec4(0.0);
    ivec2 size = described_size(2);
    ivec2 here = described_pixel(gl_FragCoord.xy);
    ivec2 pixel = min(here * 2, size - 1);
    float depth = fetch(depth_image, 2, pixel).x;
    float roughness = fetch(albedo_image, 0, pixel).a;
    if (depth == 0.0 || roughness > 0.55) {
        return;
    }
    vec3 world_normal = unpack_normal(fetch(normal_image, 1, pixel).xy * 2.0 - 1.0);
    vec3 normal = mat3(constants.view) * world_normal;
    vec3 origin = view_position((vec2(pixel) + 0.5) / vec2(size), distance_of(depth));

    // Rough surfaces spread their rays; the temporal pass averages them.
    uvec2 at = uvec2(here);
    vec2 spread = vec2(pixel_noise(at, constants.frame_index), pixel_noise(at.yx + 37, constants.frame_index)) - 0.5;
    vec3 scattered = normalize(normal + roughness * roughness * 0.5 * vec3(spread, 0.0));
    vec3 ray = reflect(normalize(origin), scattered);
    if (dot(ray, normal) <= 0.0) {
        return;
    }

    float start = pixel_noise(at, constants.frame_index + 3u);
    float before = 0.0;
    float along = 0.0;
    bool hit = false;
    for (int step = 0; step < STEPS; ++step) {
        before = along;
        // Steps grow with the way: 30 m in all.
        float share = (float(step) + 0.25 + 0.75 * start) / float(STEPS);
        along = 30.0 * share * share + 0.04;
        vec3 point = origin + ray * along;
        if (point.z > -constants.unproject.z) {
            return;
        }
        vec2 screen = screen_of_view(point);
        if (any(lessThan(screen, vec2(0.0))) || any(greaterThan(screen, vec2(1.0)))) {
            return;
        }
        float behind = -point.z - surface_distance(screen, size);
        if (behind > 0.0 && behind < 0.25 + 1.4 * (along - before)) {
            hit = true;
            break;
        }
    }
    if (!hit) {
        return;
    }
    for (int refinement = 0; refinement < REFINEMENTS; ++refinement) {
        float middle = 0.5 * (before + along);
        vec3 point = origin + ray * middle;
        bool behind = -point.z > surface_distance(screen_of_view(point), size);
        along = behind ? middle : along;
        before = behind ? before : middle;
    }

    vec3 point = world_of_view(origin + ray * along);
    vec4 clip = constants.previous_view_projection * vec4(point, 1.0);
    vec2 screen = clip.xy / clip.w * 0.5 + 0.5;
    vec2 border = smoothstep(vec2(0.0), vec2(0.08), screen) * smoothstep(vec2(0.0), vec2(0.08), 1.0 - screen);
    float sure = border.x * border.y * smoothstep(0.55, 0.25, roughness) * smoothstep(30.0, 18.0, along);
    // The first frame has no history: it is cleared to 0, alpha too.
    vec4 history = textureLod(sampler2D(history_image, linear_clamp), strip_uv(history_image, 3, screen), 0.0);
    // A single bright texel must not flicker over the floor.
    reflection = vec4(min(history.rgb, vec3(12.0)), sure * min(history.a, 1.0));
}
