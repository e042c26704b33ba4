#version 460
layout(location = 0) out uint color;
layout(location = 1) out uint source;
void main() {
    color = 7;
    source = uint(gl_FragCoord.x) + 2048 * uint(gl_FragCoord.y);
}
