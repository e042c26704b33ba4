#version 460
#extension GL_GOOGLE_include_directive : require
// Light on every surface: the moon through its shadow map, the lights of the pixel's tile, the sky, reflections, mist.

#include "space.glsl"
#include "strip.glsl"
#include "sky.glsl"

layout(set = 1, binding = 0) uniform texture2D albedo_image;
layout(set = 1, binding = 1) uniform texture2D normal_image;
layout(set = 1, binding = 2) uniform texture2D depth_image;
layout(set = 1, binding = 3) uniform texture2D shadow_image;
layout(set = 1, binding = 4) uniform texture2D ao_image;
layout(set = 1, binding = 5) uniform texture2D reflection_image;
layout(set = 1, binding = 6, std430) readonly buffer LightMasks {
    uint light_masks[];
};

layout(location = 0) out vec4 radiance;

struct Surface {
    vec3 position;
    vec3 normal;
    vec3 to_eye;
    vec3 diffuse;       // albedo of the part of light that enters
    vec3 specular;      // reflectance straight on
    float roughness;
};

// GGX with Schlick's Fresnel and the joint Smith approximation; `size` widens the highlight of an area light.
vec3 lit(Surface surface, vec3 to_light, float size) {
    float facing = dot(surface.normal, to_light);
    if (facing <= 0.0) {
        return vec3(0.0);
    }
    vec3 halfway = normalize(to_light + surface.to_eye);
    float alpha = clamp(surface.roughness * surface.roughness + size, 0.003, 1.0);
    float square = alpha * alpha;
    float view = max(dot(surface.normal, surface.to_eye), 1e-3);
    float peak = dot(surface.normal, halfway);
    float spread = peak * peak * (square - 1.0) + 1.0;
    float distribution = square / (3.14159265 * spread * spread);
    float joint = 0.5 / mix(2.0 * facing * view, facing + view, alpha);
    float edge = 1.0 - max(dot(surface.to_eye, halfway), 0.0);
    float edge_2 = edge * edge;
    vec3 fresnel = surface.specular + (1.0 - surface.specular) * (edge_2 * edge_2 * edge);
    // A smaller highlight of the same energy where the light was widened.
    float sharp = surface.roughness * surface.roughness / alpha;
    return (surface.diffuse / 3.14159265 + fresnel * min(distribution * joint, 40.0) * sharp * sharp) * facing;
}

// Nine taps of the shadow map, weighed as if each were four.
float moon_visibility(vec3 position, vec3 normal) {
    vec4 clip = constants.moon_view_projection * vec4(position + normal * 0.06, 1.0);
    vec2 at = clip.xy * 0.5 + 0.5;
    if (any(lessThan(at, vec2(0.0))) || any(greaterThan(at, vec2(1.0)))) {
        return 1.0;
    }
    ivec2 size = textureSize(shadow_image, 0);
    ivec2 corner = ivec2(0);
    if (size.x > size.y) {
        // Two maps side by side: the second is finer, where it has all that is looked at.
        size.x = size.y;
        vec2 near = near_shadow(clip.xy) * 0.5 + 0.5;
        if (all(lessThan(abs(near - 0.5), vec2(0.49)))) {
            at = near;
            corner.x = size.x;
        }
    }
    vec2 texel = at * vec2(size) - 0.5;
    ivec2 first = ivec2(floor(texel)) - 1;
    vec2 within = fract(texel);
    float sum = 0.0;
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 4; ++x) {
            vec2 weight = mix(vec2(1.0), vec2(1.0 - within.x, 1.0 - within.y), equal(ivec2(x, y), ivec2(0)));
            weight = mix(weight, within, equal(ivec2(x, y), ivec2(3)));
            float nearest = texelFetch(shadow_image, corner + clamp(first + ivec2(x, y), ivec2(0), size - 1), 0).x;
            sum += clip.z + 0.0008 >= nearest ? weight.x * weight.y : 0.0;
        }
    }
    return sum / 9.0;
}

vec3 tile_lights(Surface surface) {
    uvec2 tile = uvec2(described_pixel(gl_FragCoord.xy)) / TILE;
    uint across = (uint(described_size(2).x) + TILE - 1) / TILE;
    uint first = (tile.y * across + tile.x) * MASK_WORDS;
    vec3 sum = vec3(0.0);
    for (uint word = 0; word < MASK_WORDS; ++word) {
        uint rest = light_masks[first + word];
        while (rest != 0) {
            uint index = word * 32 + uint(findLSB(rest));
            rest &= rest - 1;
            vec4 light = lights[index].position_radius;
            vec3 towards = light.xyz - surface.position;
            float square = dot(towards, towards);
            float ratio = square / (light.w * light.w);
            float window = max(1.0 - ratio * ratio, 0.0);
            float falloff = window * window / (square + 0.05);
            float far = sqrt(square);
            sum += lights[index].color.rgb * falloff * lit(surface, towards / max(far, 1e-4), 0.08 / (far + 0.4));
        }
    }
    return sum;
}

// The four half-size texels around the pixel, those of its own surface counting most.
vec4 from_half_size(texture2D image, int binding, float along) {
    ivec2 size = described_size(binding);
    ivec2 full = described_size(2) - 1;
    vec2 texel = vec2(described_pixel(gl_FragCoord.xy)) * 0.5;
    ivec2 first = ivec2(floor(texel));
    vec2 within = fract(texel);
    vec4 sum = vec4(0.0);
    float weights = 0.0;
    for (int corner = 0; corner < 4; ++corner) {
        ivec2 offset = ivec2(corner & 1, corner >> 1);
        ivec2 pixel = clamp(first + offset, ivec2(0), size - 1);
        float other = distance_of(fetch(depth_image, 2, min(pixel * 2, full)).x);
        vec2 share = mix(1.0 - within, within, vec2(offset));
        float weight = share.x * share.y * max(1.0 - abs(other - along) / (0.05 * along), 0.0) + 1e-4;
        sum += fetch(image, binding, pixel) * weight;
        weights += weight;
    }
    return sum / weights;
}

// Light from all around: the sky above, what the ground throws back below.
vec3 ambient(vec3 direction) {
    vec3 above = vec3(0.046, 0.062, 0.130);
    vec3 around = vec3(0.060, 0.046, 0.072);
    vec3 below = vec3(0.034, 0.025, 0.022);
    return direction.y > 0.0 ? mix(around, above, direction.y) : mix(around, below, -direction.y);
}

void main() {
    ivec2 pixel = described_pixel(gl_FragCoord.xy);
    vec2 uv = described_uv(gl_FragCoord.xy);
    float depth = fetch(depth_image, 2, pixel).x;
    float along = distance_of(depth);
    vec3 from = eye();
    if (depth == 0.0) {
        vec3 far = world_of_view(view_position(uv, 1.0));
        radiance = vec4(through_mist(sky(normalize(far - from)), from, from + normalize(far - from) * 90.0), 1.0);
        return;
    }
    vec4 albedo = fetch(albedo_image, 0, pixel);
    vec4 packed_normal = fetch(normal_image, 1, pixel);
    vec3 position = world_of_view(view_position(uv, along));
    if (packed_normal.w > 0.5 && packed_normal.w < 0.8) {
        radiance = vec4(through_mist(albedo.rgb * GLOW, from, position), 1.0);
        return;
    }

    bool metal = packed_normal.w > 0.2;
    Surface surface;
    surface.position = position;
    surface.normal = unpack_normal(packed_normal.xy * 2.0 - 1.0);
    surface.to_eye = normalize(from - position);
    surface.diffuse = metal ? vec3(0.0) : albedo.rgb;
    surface.specular = metal ? albedo.rgb : vec3(0.04);
    surface.roughness = max(albedo.a, 0.05);

    vec3 sum = tile_lights(surface);
    vec3 moon_direction = constants.moon_direction.xyz;
    if (dot(surface.normal, moon_direction) > 0.0) {
        float visible = moon_visibility(position, surface.normal);
        sum += constants.moon_color.rgb * visible * lit(surface, moon_direction, 0.01);
    }

    float open = from_half_size(ao_image, 4, along).x;
    vec4 mirrored = from_half_size(reflection_image, 5, along);
    vec3 bounce = reflect(-surface.to_eye, surface.normal);
    float edge = 1.0 - max(dot(surface.normal, surface.to_eye), 0.0);
    float edge_2 = edge * edge;
    vec3 smooth_limit = max(vec3(1.0 - surface.roughness), surface.specular);
    vec3 fresnel = surface.specular + (smooth_limit - surface.specular) * (edge_2 * edge_2 * edge);
    vec3 surroundings = mix(sky_gradient(bounce), ambient(bounce), min(surface.roughness * 2.0, 1.0));
    surroundings *= mix(1.0, 0.35, clamp(-bounce.y * 4.0, 0.0, 1.0));
    surroundings = mix(surroundings * open, mirrored.rgb, mirrored.a);
    sum += surface.diffuse * ambient(surface.normal) * open + fresnel * surroundings;

    radiance = vec4(through_mist(sum, from, position), 1.0);
}
