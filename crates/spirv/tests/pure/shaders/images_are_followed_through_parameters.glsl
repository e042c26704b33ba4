#extension GL_EXT_shader_image_load_formatted : require
layout(binding = 0) uniform image2D a;
layout(binding = 1) uniform image2D b;
layout(binding = 2) uniform image2D c[4];
layout(binding = 3) uniform sampler2D d;
layout(binding = 4) uniform sampler2D e;
layout(local_size_x = 1) in;
void store(image2D target, float value) { imageStore(target, ivec2(0), vec4(value)); }
float load(image2D source) { return imageLoad(source, ivec2(0)).x; }
float relay(image2D source) { return load(source); }
float pick(sampler2D source) { return textureLod(source, vec2(0), 0).x; }
int size(sampler2D source) { return textureSize(source, 0).x; }
void main() { store(a, relay(b) + pick(d)); store(c[2], size(e)); }
