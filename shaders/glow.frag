#version 460
// Added to what is there.

layout(location = 0) in vec2 corner;
layout(location = 1) flat in vec3 color;

layout(location = 0) out vec4 radiance;

void main() {
    float square = dot(corner, corner);
    float rim = max(1.0 - square, 0.0);
    radiance = vec4(color * rim * rim / (1.0 + 30.0 * square), 0.0);
}
