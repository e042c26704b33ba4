// What is done to a result before it is stored: none, ReLU, ReLU6, hard-swish, sigmoid, tanh.
#ifndef ACTIVATION_GLSL
#define ACTIVATION_GLSL

vec4 activated(vec4 x) {
    switch (activation) {
    case 1: return max(x, 0.0);
    case 2: return clamp(x, 0.0, 6.0);
    case 3: return x * clamp(x + 3.0, 0.0, 6.0) / 6.0;
    case 4: return 1.0 / (1.0 + exp(-x));
    case 5: return tanh(x);
    default: return x;
    }
}

#endif
