layout(binding = 0) uniform sampler2D albedo;
layout(binding = 1) uniform sampler2D depth;
layout(binding = 2) buffer Lights { vec4 lights[]; };
layout(binding = 3) uniform sampler2D material;
layout(location = 0) out vec4 color;
void main() { color = texture(albedo, vec2(0)) * texture(depth, vec2(0)) + lights[0] + texture(material, vec2(0)); }
