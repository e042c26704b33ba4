#version 460
#extension GL_EXT_samplerless_texture_functions : require
// Words of each format, by position; `past` adds to its previous version.
layout(set = 0, binding = 4) uniform utexture2D before;

layout(location = 0) out vec4 color;
layout(location = 1) out uint numbers;
layout(location = 2) out int signs;
layout(location = 3) out uint past;

void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    uint n = at.y * 32u + at.x;
    color = vec4(n % 256u, n / 256u, n * 7u % 256u, 255u) / 255.0;
    numbers = n * 2654435761u;
    signs = -int(n) * 65537;
    gl_FragDepth = float(n) / 1024.0;
    past = texelFetch(before, ivec2(at), 0).r + n;
}
