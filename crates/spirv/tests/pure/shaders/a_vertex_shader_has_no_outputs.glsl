layout(location = 0) out vec4 v;
void main() { v = vec4(1); }
