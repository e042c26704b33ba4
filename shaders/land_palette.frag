#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
// Land with a texture of indices into the palette: colours are looked up first, and filtered then, as texture units of old did.

#include "land.glsl"
#include "land_lod.glsl"

layout(location = 0) in vec2 uv;
layout(location = 1) in vec3 position;
layout(location = 0) out vec4 colour;

layout(set = 1, binding = 0) uniform utexture2D indices;

vec3 texel(ivec2 at, int mip, ivec2 last) {
    return palette[texelFetch(indices, clamp(at, ivec2(0), last), mip).r].rgb;
}

vec3 bilinear(int mip) {
    ivec2 size = textureSize(indices, mip);
    vec2 at = uv * vec2(size) - 0.5;
    ivec2 base = ivec2(floor(at)), last = size - 1;
    vec2 weight = at - floor(at);
    vec3 above = mix(texel(base, mip, last), texel(base + ivec2(1, 0), mip, last), weight.x);
    vec3 below = mix(texel(base + ivec2(0, 1), mip, last), texel(base + ivec2(1, 1), mip, last), weight.x);
    return mix(above, below, weight.y);
}

void main() {
    int levels = textureQueryLevels(indices);
    float lod = max(full_lod(uv) - float(node.levels - levels), 0.0);
    int mip = int(lod);
    vec3 land = mix(bilinear(mip), bilinear(min(mip + 1, levels - 1)), lod - float(mip));
    colour = vec4(to_srgb(through_mist(land, position)), 1.0);
}
