// Which level of its texture a pixel of the land needs: fragment shaders alone can tell.
#ifndef LAND_LOD_GLSL
#define LAND_LOD_GLSL

// The level that a pixel needs, 0 the finest that the texture can have.
float full_lod(vec2 uv) {
    vec2 across = dFdx(uv) * node.texels, down = dFdy(uv) * node.texels;
    return clamp(0.5 * log2(max(dot(across, across), dot(down, down))), node.asked, float(node.levels - 1));
}

#endif
