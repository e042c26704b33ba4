#version 460
// The texture of egui, which holds its glyphs, filtered linearly.

layout(set = 0, binding = 0) readonly buffer Texture { uint texels[]; };
layout(location = 0) in vec2 at;
layout(location = 1) in vec4 tint;
layout(location = 0) out vec4 color;
layout(push_constant) uniform Screen { vec2 size; ivec2 texels; } screen;

vec4 texel(ivec2 at) {
    at = clamp(at, ivec2(0), screen.texels - 1);
    return unpackUnorm4x8(texels[at.y * screen.texels.x + at.x]);
}

void main() {
    ivec2 low = ivec2(floor(at));
    vec2 share = at - vec2(low);
    vec4 above = mix(texel(low), texel(low + ivec2(1, 0)), share.x);
    vec4 below = mix(texel(low + ivec2(0, 1)), texel(low + ivec2(1, 1)), share.x);
    color = tint * mix(above, below, share.y);
}
