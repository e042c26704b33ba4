layout(binding = 0) buffer A { uint a; };
layout(binding = 1) buffer B { uint b; };
layout(binding = 2) buffer C { uint c; };
layout(local_size_x = 1) in;
void deep() { c = a; }
void never() { b = 1; }
void shallow() { deep(); }
void main() { shallow(); }
