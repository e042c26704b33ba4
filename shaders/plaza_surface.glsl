// Color and normal of a surface.
#ifndef PLAZA_SURFACE_GLSL
#define PLAZA_SURFACE_GLSL

#include "plaza.glsl"

layout(location = 0) in vec3 normal;
layout(location = 1) in vec3 position;
layout(location = 4) flat in vec4 color;

layout(location = 0) out vec4 albedo;
layout(location = 1) out vec4 packed_normal;

void write_surface() {
    vec3 tint = vec3(1.0);
    vec2 slab = position.xz / 1.25;
    vec2 width = max(fwidth(slab), 1e-4);
    if (position.y < 0.01 && color.a == 0.0) {
        // Paving: slabs of different shades, with joints.
        vec2 within = abs(fract(slab) - 0.5);
        ivec2 cell = ivec2(floor(slab)) + 1000;
        vec2 joint = clamp((within - 0.475) / width + 0.5, 0.0, 1.0) * min(vec2(0.05) / width, 1.0);
        tint *= 0.7 + 0.5 * random(uint(cell.x), uint(cell.y));
        tint *= mix(1.0, 0.45, max(joint.x, joint.y));
    }
    albedo = vec4(color.rgb * tint, color.a);
    packed_normal = vec4(normalize(normal) * 0.5 + 0.5, 1.0);
}

#endif
