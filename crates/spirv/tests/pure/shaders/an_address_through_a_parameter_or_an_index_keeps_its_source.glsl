#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430) buffer Data { uint value; };
layout(push_constant) uniform Push { uint at; Data many[4]; };
layout(binding = 1) buffer Addresses { Data all[]; };
layout(local_size_x = 1) in;
void set(Data data) { data.value = 1; }
uint get(inout Data data) { return data.value; }
void main() { set(many[at]); Data copy = all[at]; at == get(copy); }
