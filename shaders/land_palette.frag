#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
// Land with a texture of indices into the palette: colours are looked up first, and filtered then, as texture units of old did.

#include "land.glsl"
#include "land_lod.glsl"

layout(location = 0) in vec2 uv;
layout(location = 1) in vec3 position;
layout(location = 0) out vec4 colour;

layout(set = 0, binding = 5) uniform sampler nearest_sampler;
layout(set = 1, binding = 0) uniform utexture2D indices;

// Through a sampler: texelFetch of lavapipe takes the level of the first of four pixels, past the edge of which others may be.
vec3 texel(vec2 at, int mip, vec2 size) {
    return palette[textureLod(usampler2D(indices, nearest_sampler), (at + 0.5) / size, float(mip)).r].rgb;
}

vec3 bilinear(int mip) {
    vec2 size = vec2(textureSize(indices, mip));
    vec2 at = uv * size - 0.5;
    vec2 base = floor(at), weight = at - base;
    vec3 above = mix(texel(base, mip, size), texel(base + vec2(1.0, 0.0), mip, size), weight.x);
    vec3 below = mix(texel(base + vec2(0.0, 1.0), mip, size), texel(base + vec2(1.0, 1.0), mip, size), weight.x);
    return mix(above, below, weight.y);
}

void main() {
    int levels = textureQueryLevels(indices);
    float lod = max(full_lod(uv) - float(node.levels - levels), 0.0);
    int mip = int(lod);
    vec3 land = mix(bilinear(mip), bilinear(min(mip + 1, levels - 1)), lod - float(mip));
    colour = vec4(to_srgb(through_mist(land, position)), 1.0);
}
