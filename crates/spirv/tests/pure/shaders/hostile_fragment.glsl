layout(input_attachment_index = 3, binding = 0) uniform subpassInput color;
layout(binding = 1) uniform sampler2D albedo;
layout(binding = 2) uniform Block { mat4 matrices[4]; float weights[8]; } block;
layout(location = 0) out vec4 first;
layout(location = 2) out vec4 more[2];
vec4 shade(sampler2D source) { return texture(source, gl_FragCoord.xy); }
void main() {
    first = subpassLoad(color) + shade(albedo) * block.matrices[2];
    more[1] = vec4(block.weights[3]);
    gl_FragDepth = first.x;
}
