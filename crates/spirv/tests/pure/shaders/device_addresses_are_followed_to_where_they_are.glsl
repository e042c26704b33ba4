#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430) buffer Node { uint value; Node next; };
layout(buffer_reference, std430) readonly buffer Table { uint values[]; };
layout(push_constant) uniform Push { uint count; Node written; Table read; uint64_t raw; };
layout(binding = 0) uniform Constants { vec4 pad; Table tables[2]; };
layout(binding = 1) buffer Out { uint result; };
layout(local_size_x = 1) in;
void main() {
    written.value = count;
    Table local = read;
    result = local.values[count] + tables[1].values[2];
    Node other = Node(raw + 16ul);
    other.next.value = 1;
}
