#version 460
#extension GL_EXT_samplerless_texture_functions : require
// Where a pass computes, in texels of the whole image: x and y, 16 bits each.
layout(push_constant) uniform Part {
    uint origin, first, end, group, inputs[3];
} part;
const ivec2 SIZE = ivec2(64, 32);
ivec2 unpack(uint both) { return ivec2(both & 0xffffu, both >> 16); }
vec4 fetch(texture2D image, uint input_index, ivec2 at) { return texelFetch(image, at - unpack(part.inputs[input_index]), 0); }
bool is_outside(ivec2 at) { return any(lessThan(at, unpack(part.first))) || any(greaterThanEqual(at, unpack(part.end))); }
