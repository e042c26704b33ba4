#version 460
#extension GL_EXT_samplerless_texture_functions : require
// From light to picture: a film-like curve and sRGB.

layout(set = 0, binding = 3) uniform texture2D hdr;

layout(push_constant) uniform Push {
    // From a pixel of the picture to its texel.
    layout(offset = 8) ivec2 further;
};

layout(location = 0) out vec4 picture;

void main() {
    vec3 light = texelFetch(hdr, ivec2(gl_FragCoord.xy) + further, 0).rgb;
    // Krzysztof Narkowicz's fit of the ACES curve.
    vec3 film = clamp(light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14), 0.0, 1.0);
    picture = vec4(mix(1.055 * pow(max(film, vec3(1e-5)), vec3(1.0 / 2.4)) - 0.055, film * 12.92, lessThan(film, vec3(0.0031308))), 1.0);
}
