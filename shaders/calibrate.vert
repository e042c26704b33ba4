#version 460
// Small triangles, strewn by their number.

uint scattered(uint number) {
    number = (number ^ 61u ^ (number >> 16)) * 9u;
    number = (number ^ (number >> 4)) * 0x27d4eb2du;
    return number ^ (number >> 15);
}

void main() {
    uint triangle = scattered(uint(gl_VertexIndex) / 3u);
    uint corner = uint(gl_VertexIndex) % 3u;
    vec2 middle = vec2(triangle & 0xffffu, triangle >> 16) / 65535.0 * 2.0 - 1.0;
    vec2 side = vec2(corner == 1u, corner == 2u) * 0.01;
    gl_Position = vec4(middle + side, 0.5, 1.0);
}
