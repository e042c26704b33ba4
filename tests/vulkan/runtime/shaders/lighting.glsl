#version 460
#extension GL_EXT_samplerless_texture_functions : require
layout(set = 0, binding = 0) uniform texture2D albedo;
layout(set = 0, binding = 1) uniform texture2D depth;
layout(location = 0) out uint lit;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 color = texelFetch(albedo, at, 0);
    lit = uint(round(color.r * 255.0)) + uint(round(color.g * 255.0)) * 256u
        + uint(texelFetch(depth, at, 0).r * 100.0) * 65536u + at.x;
}
