#version 460
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform utexture2D image;
layout(set = 0, binding = 1) writeonly buffer Result { uint texels[]; };
void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    texels[at.x + textureSize(image, 0).x * at.y] = texelFetch(image, ivec2(at), 0).r;
}
