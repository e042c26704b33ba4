// Access of a kernel to its tensors in any storage.
//
// A tensor is [a, b, c, d] vectors of 4 elements. A kernel names its operands,
//
//     OPERAND_0(0, source)
//     OPERAND_1(1, target)
//
// and then has source_load(at) for a vector, source_load_one(at, lane) for an element and target_store(at, vector). The
// build says what OPERAND_n is: one of the macros below, for an input or output in a buffer of vectors, a texel buffer, a
// plain buffer, an image or an image array. HALF says whether elements are stored in 16 bits.
#ifndef TENSOR_GLSL
#define TENSOR_GLSL

#extension GL_EXT_samplerless_texture_functions : require

// Chosen to fit the target's shape.
layout(local_size_x_id = 16, local_size_y_id = 17, local_size_z_id = 18) in;

// Set when the pipeline is made: which of a kernel's ways, and what is done to each result (activation.glsl).
layout(constant_id = 4) const int way = 0;
layout(constant_id = 5) const int activation = 0;

// Set for each dispatch: the operands' shapes in vectors, and the kernel's own numbers.
layout(push_constant) uniform Arguments {
    ivec4 shape[4];
    ivec4 number[4];
};

#if HALF
#define FORMAT rgba16f
#define STORED uvec2
vec4 unpacked(uvec2 stored) { return vec4(unpackHalf2x16(stored.x), unpackHalf2x16(stored.y)); }
uvec2 packed(vec4 vector) { return uvec2(packHalf2x16(vector.xy), packHalf2x16(vector.zw)); }
#else
#define FORMAT rgba32f
#define STORED vec4
vec4 unpacked(vec4 stored) { return stored; }
vec4 packed(vec4 vector) { return vector; }
#endif

int linear(ivec4 at, ivec4 extent) {
    return ((at.x * extent.y + at.y) * extent.z + at.z) * extent.w + at.w;
}

// Image layouts: the first `split` axes make the rows, the others the columns.
int row(ivec4 at, ivec4 extent, int split) {
    int row = 0;
    for (int axis = 0; axis < split; ++axis) row = row * extent[axis] + at[axis];
    return row;
}

int column(ivec4 at, ivec4 extent, int split) {
    int column = 0;
    for (int axis = split; axis < 4; ++axis) column = column * extent[axis] + at[axis];
    return column;
}

ivec2 texel(ivec4 at, ivec4 extent, int split) {
    return ivec2(column(at, extent, split), row(at, extent, split));
}

// In an array the last of the axes that make rows alone does, and those before it make layers.
ivec3 layered(ivec4 at, ivec4 extent, int split) {
    return ivec3(column(at, extent, split), at[split - 1], row(at, extent, split - 1));
}

// A plain buffer: 32-bit elements in row-major order, of which each vector gathers 4 along the axis number[3].x, of
// number[3].y elements.
int plain(ivec4 at, ivec4 extent, int lane) {
    int axis = number[3].x;
    at[axis] = at[axis] * 4 + lane;
    extent[axis] = number[3].y;
    return at[axis] < extent[axis] ? linear(at, extent) : -1;
}

#define INPUT(name) \
    float name##_load_one(ivec4 at, int lane) { return name##_load(at)[lane]; }

#define INPUT_BUFFER(index, name) \
    layout(set = 0, binding = index, std430) readonly buffer name##_Block { STORED name##_data[]; }; \
    vec4 name##_load(ivec4 at) { return unpacked(name##_data[linear(at, shape[index])]); } \
    INPUT(name)

#define INPUT_TEXELS(index, name) \
    layout(set = 0, binding = index) uniform textureBuffer name##_texels; \
    vec4 name##_load(ivec4 at) { return texelFetch(name##_texels, linear(at, shape[index])); } \
    INPUT(name)

#define INPUT_PLAIN(index, name) \
    layout(set = 0, binding = index, std430) readonly buffer name##_Block { float name##_data[]; }; \
    vec4 name##_load(ivec4 at) { \
        vec4 vector = vec4(0.0); \
        for (int lane = 0; lane < 4; ++lane) { \
            int place = plain(at, shape[index], lane); \
            if (place >= 0) vector[lane] = name##_data[place]; \
        } \
        return vector; \
    } \
    INPUT(name)

#define INPUT_IMAGE(index, name) \
    layout(constant_id = index) const int name##_split = 3; \
    layout(set = 0, binding = index) uniform texture2D name##_image; \
    vec4 name##_load(ivec4 at) { return texelFetch(name##_image, texel(at, shape[index], name##_split), 0); } \
    INPUT(name)

#define INPUT_ARRAY(index, name) \
    layout(constant_id = index) const int name##_split = 3; \
    layout(set = 0, binding = index) uniform texture2DArray name##_image; \
    vec4 name##_load(ivec4 at) { return texelFetch(name##_image, layered(at, shape[index], name##_split), 0); } \
    INPUT(name)

#define OUTPUT_BUFFER(index, name) \
    layout(set = 0, binding = index, std430) writeonly buffer name##_Block { STORED name##_data[]; }; \
    void name##_store(ivec4 at, vec4 vector) { name##_data[linear(at, shape[index])] = packed(vector); }

#define OUTPUT_TEXELS(index, name) \
    layout(set = 0, binding = index, FORMAT) writeonly uniform imageBuffer name##_texels; \
    void name##_store(ivec4 at, vec4 vector) { imageStore(name##_texels, linear(at, shape[index]), vector); }

#define OUTPUT_PLAIN(index, name) \
    layout(set = 0, binding = index, std430) writeonly buffer name##_Block { float name##_data[]; }; \
    void name##_store(ivec4 at, vec4 vector) { \
        for (int lane = 0; lane < 4; ++lane) { \
            int place = plain(at, shape[index], lane); \
            if (place >= 0) name##_data[place] = vector[lane]; \
        } \
    }

#define OUTPUT_IMAGE(index, name) \
    layout(constant_id = index) const int name##_split = 3; \
    layout(set = 0, binding = index, FORMAT) writeonly uniform image2D name##_image; \
    void name##_store(ivec4 at, vec4 vector) { \
        imageStore(name##_image, texel(at, shape[index], name##_split), vector); \
    }

#define OUTPUT_ARRAY(index, name) \
    layout(constant_id = index) const int name##_split = 3; \
    layout(set = 0, binding = index, FORMAT) writeonly uniform image2DArray name##_image; \
    void name##_store(ivec4 at, vec4 vector) { \
        imageStore(name##_image, layered(at, shape[index], name##_split), vector); \
    }

// The vector of an operand that this invocation is for: columns by rows, then all layers.
ivec4 invocation(ivec4 extent) {
    ivec3 id = ivec3(gl_GlobalInvocationID);
    return ivec4(id.z / extent.y, id.z % extent.y, id.y, id.x);
}

bool outside(ivec4 at, ivec4 extent) { return any(greaterThanEqual(at, extent)); }

// The elements of a vector that are among the next `count`, and 0 for those that fill it up: these may be anything, infinite too.
vec4 counted(vec4 vector, int count) { return mix(vec4(0.0), vector, lessThan(ivec4(0, 1, 2, 3), ivec4(count))); }

#endif
