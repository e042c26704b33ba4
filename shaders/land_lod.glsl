// Which level of its texture a pixel of the land needs: fragment shaders alone can tell.
#ifndef LAND_LOD_GLSL
#define LAND_LOD_GLSL

// The level that a pixel needs, 0 the finest that the texture can have: between the lengths of its two sides, so that land seen at
// an angle does not blur; and not far from what was asked for, where an edge makes the sides meaningless.
float full_lod(vec2 uv) {
    vec2 across = dFdx(uv) * node.texels, down = dFdy(uv) * node.texels;
    float lod = 0.25 * log2(max(dot(across, across) * dot(down, down), 1e-12));
    return clamp(lod, node.asked, min(node.asked + 2.5, float(node.levels - 1)));
}

#endif
