#version 460
#extension GL_EXT_samplerless_texture_functions : require
// The last pass of examples/tile_bugs: the medallion over the dunes.

layout(location = 0) out vec4 color;

layout(set = 0, binding = 0) uniform texture2D dunes;
layout(set = 0, binding = 1) uniform texture2D medallion;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 above = texelFetch(medallion, texel, 0);
    color = vec4(mix(texelFetch(dunes, texel, 0).rgb, above.rgb, above.a), 1.0);
}
