layout(set = 0, binding = 0) uniform texture2D above;
layout(location = 0) out float sum;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy) * 2;
    sum = texelFetch(above, at, 0).r + texelFetch(above, at + ivec2(1, 0), 0).r
        + texelFetch(above, at + ivec2(0, 1), 0).r + texelFetch(above, at + ivec2(1, 1), 0).r;
}
