#version 460
#extension GL_EXT_samplerless_texture_functions : require
// Stores a colour image of a split life, texel for texel.

layout(set = 0, binding = 0) uniform utexture2D stretch;
layout(location = 0) out uvec4 stored;

void main() {
    stored = texelFetch(stretch, ivec2(gl_FragCoord.xy), 0);
}
