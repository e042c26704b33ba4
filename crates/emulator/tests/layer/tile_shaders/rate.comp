// Each invocation has a block of 2 x 1 texels: `color` becomes `source` at the mirrored texel of the tile, plus the tile's place.
#version 460
#extension GL_QCOM_tile_shading : require
layout(shading_rate_xQCOM = 2, shading_rate_yQCOM = 1, shading_rate_zQCOM = 1) in;
layout(set = 0, binding = 0, tile_attachmentQCOM, r32ui) uniform uimage2D color;
layout(set = 0, binding = 1, tile_attachmentQCOM, r32ui) uniform readonly uimage2D source;
layout(push_constant) uniform Area { uvec2 area; };
void main() {
    uvec2 end = min(gl_TileOffsetQCOM + gl_TileDimensionQCOM.xy, area);
    for (uint x = 0; x < 2; ++x) {
        uvec2 at = gl_TileOffsetQCOM + gl_GlobalInvocationID.xy * uvec2(2, 1) + uvec2(x, 0);
        if (any(greaterThanEqual(at, end))) continue;
        uvec2 mirrored = end - 1 - (at - gl_TileOffsetQCOM);
        uint place = gl_TileOffsetQCOM.x * 1000 + gl_TileOffsetQCOM.y * 1000000;
        imageStore(color, ivec2(at), uvec4(imageLoad(source, ivec2(mirrored)).x + place + gl_TileApronSizeQCOM.x));
    }
}
