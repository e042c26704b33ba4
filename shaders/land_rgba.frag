#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
// Land with a texture of colours.

#include "land.glsl"
#include "land_lod.glsl"

layout(location = 0) in vec2 uv;
layout(location = 1) in vec3 position;
layout(location = 0) out vec4 colour;

layout(set = 0, binding = 3) uniform sampler linear_sampler;
layout(set = 1, binding = 0) uniform texture2D image;

void main() {
    int levels = textureQueryLevels(image);
    float lod = max(full_lod(uv) - float(node.levels - levels), 0.0);
    vec3 land = textureLod(sampler2D(image, linear_sampler), uv, lod).rgb;
    colour = vec4(to_srgb(through_mist(land, position)), 1.0);
}
