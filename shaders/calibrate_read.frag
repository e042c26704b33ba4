#version 460
#extension GL_EXT_samplerless_texture_functions : require
// Five texels of an image, as far apart as the pass has declared.

layout(set = 0, binding = 0) uniform texture2D image;
layout(push_constant) uniform Read {
    ivec2 origin; // what lies between this pixel and its texel in `image`
    int reach;
} read;

layout(location = 0) out vec4 color;

vec4 texel(int x, int y) {
    ivec2 at = ivec2(gl_FragCoord.xy) + read.origin + read.reach * ivec2(x, y);
    return texelFetch(image, clamp(at, ivec2(0), textureSize(image, 0) - 1), 0);
}

void main() {
    color = (texel(0, 0) + texel(1, 0) + texel(-1, 0) + texel(0, 1) + texel(0, -1)) / 5.0;
}
