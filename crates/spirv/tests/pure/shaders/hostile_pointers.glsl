#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_image_load_formatted : require
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430) buffer Node { uint value; Node next; };
layout(push_constant) uniform Push { uint count; Node head; };
layout(binding = 0) uniform image2D images[3];
layout(binding = 1) buffer Data { vec4 b[]; } data[2];
layout(local_size_x = 1) in;
float load(image2D source, int at) { return imageLoad(source, ivec2(at)).x; }
void main() {
    Node node = head;
    for (uint i = 0; i < count; ++i) { node.value += uint(load(images[1], int(i))); node = node.next; }
    data[1].b[count] = data[0].b.length() > 3 ? data[0].b[2] : vec4(0);
}
