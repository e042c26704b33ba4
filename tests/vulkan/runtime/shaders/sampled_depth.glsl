layout(set = 0, binding = 0) uniform texture2D depth;
layout(location = 0) out float first;
layout(location = 1) out uint second;
void main() {
    first = texelFetch(depth, ivec2(gl_FragCoord.xy), 0).r;
    second = uint(gl_FragCoord.x);
}
