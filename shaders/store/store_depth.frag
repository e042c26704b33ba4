#version 460
#extension GL_EXT_samplerless_texture_functions : require
// Stores a depth image of a split life, texel for texel.

layout(set = 0, binding = 0) uniform texture2D stretch;

void main() {
    gl_FragDepth = texelFetch(stretch, ivec2(gl_FragCoord.xy), 0).r;
}
