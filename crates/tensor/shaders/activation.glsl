// The activation of a result before it is stored, by its number in the table of operators.
#ifndef ACTIVATION_GLSL
#define ACTIVATION_GLSL

// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26; off by at most 1.5e-7.
vec4 erf(vec4 x) {
    vec4 t = 1.0 / (1.0 + 0.3275911 * abs(x));
    vec4 sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
    return sign(x) * (1.0 - sum * exp(-x * x));
}

vec4 activated(vec4 x) {
    switch (activation) {
    case 1: return max(x, 0.0);
    case 2: return clamp(x, 0.0, 6.0);
    case 3: return x * clamp(x + 3.0, 0.0, 6.0) / 6.0;
    case 4: return 1.0 / (1.0 + exp(-x));
    case 5: return tanh(x);
    case 6: return 0.5 * x * (1.0 + erf(x * 0.70710678));
    case 7: return x / (1.0 + exp(-x));
    case 8: return erf(x);
    case 9: return exp(x);
    case 10: return sqrt(x);
    default: return x;
    }
}

#endif
