// Land with a texture of indices into the palette, one image or an image for each of its levels: colors are looked up first, and filtered then, as texture units of old did.

#include "land.glsl"
#include "land_lod.glsl"

layout(location = 0) in vec2 uv;
layout(location = 1) in vec3 position;
layout(location = 0) out vec4 color;

layout(set = 0, binding = 5) uniform sampler nearest_sampler;

// Through a sampler, and sizes from those of the finest level: texelFetch and textureSize of lavapipe take the level of the first of
// four pixels, past the edge of which others may be.
#ifdef LEVELS
layout(set = 1, binding = 0) uniform utexture2D indices[LEVELS];
const int levels = LEVELS;

uint index_at(vec2 at, int mip) {
#define READ(level) textureLod(usampler2D(indices[level], nearest_sampler), at, 0.0).r
    OF_LEVEL(mip, READ)
}
#else
layout(set = 1, binding = 0) uniform utexture2D indices;
int levels = textureQueryLevels(indices);

uint index_at(vec2 at, int mip) {
    return textureLod(usampler2D(indices, nearest_sampler), at, float(mip)).r;
}
#endif

vec3 texel(vec2 at, int mip, vec2 size) {
    return palette[index_at((at + 0.5) / size, mip)].rgb;
}

vec3 bilinear(int mip) {
    vec2 size = vec2(node.texels / float(1 << mip + node.levels - levels));
    vec2 at = uv * size - 0.5;
    vec2 base = floor(at), weight = at - base;
    vec3 above = mix(texel(base, mip, size), texel(base + vec2(1.0, 0.0), mip, size), weight.x);
    vec3 below = mix(texel(base + vec2(0.0, 1.0), mip, size), texel(base + vec2(1.0, 1.0), mip, size), weight.x);
    return mix(above, below, weight.y);
}

void main() {
    float lod = max(full_lod(uv) - float(node.levels - levels), 0.0);
    int mip = int(lod);
    vec3 land = mix(bilinear(mip), bilinear(min(mip + 1, levels - 1)), lod - float(mip));
    color = vec4(to_srgb(through_mist(land, position)), 1.0);
}
