#version 460
// Additive halos of scattered light.

layout(location = 0) in vec2 across;
layout(location = 1) flat in vec3 color;
layout(location = 0) out vec4 lit;

void main() {
    float falloff = max(1.0 - dot(across, across), 0.0);
    lit = vec4(color * falloff * falloff * falloff * 0.13, 0.0);
}
