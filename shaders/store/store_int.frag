#version 460
#extension GL_EXT_samplerless_texture_functions : require
// Stores a colour image, or a part of it, texel for texel.

// From the texel that is written to the one that is read.
layout(constant_id = 0) const int x = 0;
layout(constant_id = 1) const int y = 0;

layout(set = 0, binding = 0) uniform itexture2D stretch;
layout(location = 0) out ivec4 stored;

void main() {
    stored = texelFetch(stretch, ivec2(gl_FragCoord.xy) + ivec2(x, y), 0);
}
