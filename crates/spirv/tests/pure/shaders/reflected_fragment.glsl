layout(binding = 0) uniform sampler2D albedo;
layout(binding = 1) uniform texture2D separate;
layout(binding = 2) uniform sampler wrap;
layout(binding = 3) buffer Lights { vec4 lights[]; };
layout(input_attachment_index = 0, binding = 4) uniform subpassInput before;
layout(location = 0) out vec4 color;
void main() {
    color = texture(albedo, vec2(0)) + texture(sampler2D(separate, wrap), vec2(0)) + lights[0] + subpassLoad(before);
}
