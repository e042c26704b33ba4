#version 460

layout(location = 0) out vec4 color;

void main() {
    color = vec4(fract(gl_FragCoord.xy / 64.0), 0.25, 0.5);
}
