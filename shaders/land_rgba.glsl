// Land with a texture of colors: one image, or an image for each of its levels.

#include "land.glsl"
#include "land_lod.glsl"

layout(location = 0) in vec2 uv;
layout(location = 1) in vec3 position;
layout(location = 0) out vec4 color;

layout(set = 0, binding = 3) uniform sampler linear_sampler;

#ifdef LEVELS
layout(set = 1, binding = 0) uniform texture2D images[LEVELS];

vec3 color_at(int mip) {
#define READ(level) textureLod(sampler2D(images[level], linear_sampler), uv, 0.0).rgb
    OF_LEVEL(mip, READ)
}

vec3 land_at(float lod) {
    int mip = int(lod);
    return mix(color_at(mip), color_at(min(mip + 1, LEVELS - 1)), lod - float(mip));
}
#else
layout(set = 1, binding = 0) uniform texture2D image;

vec3 land_at(float lod) {
    lod = max(lod - float(node.levels - textureQueryLevels(image)), 0.0);
    return textureLod(sampler2D(image, linear_sampler), uv, lod).rgb;
}
#endif

void main() {
    color = vec4(to_srgb(through_mist(land_at(full_lod(uv)), position)), 1.0);
}
