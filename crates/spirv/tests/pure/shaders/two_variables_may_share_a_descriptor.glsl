layout(binding = 0) buffer A { uint a[]; };
layout(binding = 0) buffer B { float b[]; };
layout(local_size_x = 1) in;
void main() { a[1] = uint(b[0]); }
