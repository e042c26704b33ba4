layout(binding = 0, r32f) uniform image2D image;
layout(binding = 1) uniform textureBuffer texels;
layout(binding = 2, r32f) uniform imageBuffer more;
layout(set = 2, binding = 3) uniform Block { vec4 a; } block;
layout(set = 2, binding = 4) readonly buffer Data { vec4 b[]; } data[2];
layout(local_size_x = 1) in;
void main() { imageStore(image, ivec2(0), texelFetch(texels, 0) + imageLoad(more, 0) + block.a + data[1].b[0]); }
