layout(input_attachment_index = 3, binding = 0) uniform subpassInput color;
layout(input_attachment_index = 1, binding = 1) uniform usubpassInputMS samples;
layout(location = 0) out vec4 first;
layout(location = 2) out vec4 more[2];
layout(location = 7) out vec4 never;
void main() {
    first = subpassLoad(color) + vec4(subpassLoad(samples, 1));
    more[1] = vec4(1);
    gl_FragDepth = 0.5;
}
