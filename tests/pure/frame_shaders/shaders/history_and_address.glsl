#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430) buffer Data { uint value; };
layout(push_constant) uniform Push { Data data; };
layout(binding = 0) uniform sampler2D before;
layout(binding = 1, rgba8) uniform writeonly image2D after;
layout(local_size_x = 1) in;
void main() { imageStore(after, ivec2(0), textureLod(before, vec2(0), 0)); data.value = 1; }
