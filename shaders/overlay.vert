#version 460
// A vertex of egui: points, texels of 0 to 1, premultiplied sRGB.

layout(location = 0) in vec2 position;
layout(location = 1) in vec2 texel;
layout(location = 2) in uint color;
layout(location = 0) out vec2 at;
layout(location = 1) out vec4 tint;
// The picture's sides in points, and the texture's in texels.
layout(push_constant) uniform Screen { vec2 size; ivec2 texels; } screen;

void main() {
    at = texel * vec2(screen.texels) - 0.5;
    tint = unpackUnorm4x8(color);
    gl_Position = vec4(position / screen.size * 2.0 - 1.0, 1.0, 1.0);
}
