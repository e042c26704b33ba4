// One work group a tile: counts the visits of each texel that is in the tile and in the area.
#version 460
#extension GL_QCOM_tile_shading : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, tile_attachmentQCOM, r32ui) uniform uimage2D color;
layout(push_constant) uniform Area { uvec2 area; };
void main() {
    uvec2 end = min(gl_TileOffsetQCOM + gl_TileDimensionQCOM.xy, area);
    for (uint y = gl_TileOffsetQCOM.y + gl_GlobalInvocationID.y; y < end.y; y += 8)
        for (uint x = gl_TileOffsetQCOM.x + gl_GlobalInvocationID.x; x < end.x; x += 8)
            imageAtomicAdd(color, ivec2(x, y), 1);
}
