//! Accesses that every invocation performs, and the parts of buffers and images that they cover.

use super::*;
use tileheap_spirv::{AccessRange, Binding};

/// Declarations of most compute shaders here.
const COMPUTE: &str = "
    layout(local_size_x = 32, local_size_y = 2) in;
    struct Pair { uint one; uint two; };
    struct Padded { vec3 position; };
    layout(std430, binding = 0) buffer A { uint head[4]; uint a[]; };
    layout(std430, binding = 1) buffer B { uint first; Pair pairs[8]; Padded padded[8]; vec4 last; };
    layout(std430, binding = 2) buffer C { vec4 c[]; };
    layout(binding = 3, r32ui) uniform uimage2D image;
    layout(binding = 4) uniform sampler2D tex;
    layout(binding = 5, r32ui) uniform uimage2DArray layers;
    layout(binding = 6) buffer D { uint d[]; } many[2];
    layout(binding = 7, r32ui) uniform uimageBuffer texels;
    layout(binding = 8) uniform U { uint limit; vec4 factor; } u;
    layout(binding = 9, r32ui) uniform uimage3D volume;
    layout(push_constant) uniform P { uint offset; uint count; };
    layout(binding = 10, r32ui) uniform uimage2D other;
    layout(binding = 11) buffer E { uint grid[8][8]; };
    shared uint detour[64];
    shared uint single;
    uint global;
    void store(uint i) { a[i] = 1; }
    void stop() { if (first == 7u) return; a[0] = 1; }
    uint pick() { if (u.limit == 1) return gl_GlobalInvocationID.x; return 3; }
    void put(writeonly uimage2D target) { imageStore(target, ivec2(gl_GlobalInvocationID.xy), uvec4(1)); }
    uvec3 id() { return gl_GlobalInvocationID; }
";

/// The groups of every dispatch here: 96 by 4 by 5 invocations.
const GROUPS: [u32; 3] = [3, 2, 5];

/// Returns a binding of a shader, which must be the same in several versions of SPIR-V.
fn binding_of(stage: Stage, source: &str, number: u32) -> Binding {
    let find = |minor| {
        let bindings = entry_of(stage, source, minor).bindings;
        let found = bindings.into_iter().find(|it| it.binding == number);
        found.unwrap_or_else(|| panic!("binding {number} in {source}"))
    };
    let binding = find(6);
    for minor in [0, 3] {
        let other = find(minor);
        let described = |it: &Binding| {
            let extents = (
                it.read_extent(GROUPS, u64::MAX),
                it.written_extent(GROUPS, u64::MAX),
            );
            (it.always_reads, it.always_writes, extents)
        };
        assert_eq!(described(&other), described(&binding), "{source}");
    }
    binding
}

fn computed(body: &str, number: u32) -> Binding {
    binding_of(
        Stage::Compute,
        &format!("{COMPUTE} void main() {{ {body} }}"),
        number,
    )
}

fn bytes(start: u64, end: u64) -> Option<AccessRange> {
    Some(AccessRange::Bytes(start..end))
}

fn texels(end: [u32; 3]) -> Option<AccessRange> {
    Some(AccessRange::Texels { start: [0; 3], end })
}

/// Returns the part of a binding that a compute shader writes.
fn written(body: &str, number: u32) -> Option<AccessRange> {
    let binding = computed(body, number);
    let extent = binding.written_extent(GROUPS, u64::MAX);
    assert!(extent.is_none() || binding.always_writes, "{body}");
    extent
}

/// Returns the part of a binding that a compute shader reads.
fn read(body: &str, number: u32) -> Option<AccessRange> {
    let binding = computed(body, number);
    let extent = binding.read_extent(GROUPS, u64::MAX);
    assert!(extent.is_none() || binding.always_reads, "{body}");
    extent
}

#[test]
fn reads_come_first_if_no_write_may_come_before() {
    for (body, reads_first) in [
        ("a[gl_GlobalInvocationID.x] += 1;", true),
        ("uint x = a[0]; a[1] = x; first = x;", true),
        ("first = a[0]; if (u.limit == 1) a[1] = 2;", true),
        ("if (u.limit == 1) { first = a[0]; } a[1] = a[2];", true),
        ("atomicAdd(a[0], 1);", true),
        ("uint x = a[0]; store(x);", false),
        (
            "a[gl_GlobalInvocationID.x] = 1; barrier(); first = a[gl_GlobalInvocationID.x ^ 1];",
            false,
        ),
        ("if (u.limit == 1) a[0] = 3; first = a[1];", false),
        ("store(3); first = a[1];", false),
    ] {
        let binding = computed(body, 0);
        assert!(binding.writes && binding.always_reads, "{body}");
        assert_eq!(binding.reads_first, reads_first, "{body}");
    }
}

#[test]
fn arrays_indexed_by_the_invocation_are_written_whole() {
    for body in [
        "a[gl_GlobalInvocationID.x] = 1;",
        "uint i = gl_GlobalInvocationID.x; a[i] = 1;",
        "int i = int(gl_GlobalInvocationID.x); a[i] = 1;",
        "uvec3 i = gl_GlobalInvocationID; a[i.x] = 1;",
        "a[gl_WorkGroupID.x * 32 + gl_LocalInvocationID.x] = 1;",
        "uvec2 i = gl_LocalInvocationID.xy + gl_WorkGroupSize.xy * gl_WorkGroupID.xy; a[i.x] = 1;",
        "uvec2 i = gl_GlobalInvocationID.yx; a[i.y] = 1;",
        "uvec2 i = uvec2(gl_GlobalInvocationID.x, 3); a[i.x] = 1;",
        "store(gl_GlobalInvocationID.x);",
        "const uint i = gl_GlobalInvocationID.x; for (uint n = 0; n < u.limit; ++n) global += n; a[i] = global;",
        "if (u.limit == 1) global = 4; a[gl_GlobalInvocationID.x] = global;",
        "switch (u.limit) { case 1: global = 2; break; default: global = 3; } a[gl_GlobalInvocationID.x] = global;",
        "a[gl_GlobalInvocationID.x] = 1; if (u.limit == 1) return; a[0] = 2;",
        "a[gl_GlobalInvocationID.x] = 1; a[u.limit] = 2;",
        "do { a[gl_GlobalInvocationID.x] = global++; } while (global < u.limit);",
    ] {
        assert_eq!(written(body, 0), bytes(16, 16 + 96 * 4), "{body}");
    }
    // Atomics do not race with each other: that they are performed is reported, but not where.
    let atomic = "atomicAdd(a[gl_GlobalInvocationID.x], 1);";
    assert!(computed(atomic, 0).always_writes);
    assert_eq!(written(atomic, 0), None);
    assert_eq!(
        written("a[gl_LocalInvocationID.x] = 1;", 0),
        bytes(16, 16 + 32 * 4)
    );
    assert_eq!(written("a[gl_WorkGroupID.x] = 1;", 0), bytes(16, 16 + 3 * 4));
    // 4 invocations on axis y, and 5 on z.
    assert_eq!(written("a[gl_GlobalInvocationID.y] = 1;", 0), bytes(16, 32));
    assert_eq!(written("a[gl_GlobalInvocationID.z] = 1;", 0), bytes(16, 36));
}

#[test]
fn accesses_that_may_be_skipped_are_not_claimed() {
    for body in [
        "if (gl_GlobalInvocationID.x >= count) return; a[gl_GlobalInvocationID.x] = 1;",
        "if (gl_GlobalInvocationID.x < count) a[gl_GlobalInvocationID.x] = 1;",
        "for (uint n = 0; n < u.limit; ++n) a[gl_GlobalInvocationID.x] = n;",
        "for (;;) { if (u.limit == first) break; a[gl_GlobalInvocationID.x] = 1; }",
        "for (uint n = 0; n < u.limit; ++n) { if (n == count) return; } a[gl_GlobalInvocationID.x] = 1;",
        "switch (u.limit) { case 1: a[gl_GlobalInvocationID.x] = 1; break; case 2: a[gl_GlobalInvocationID.x] = 2; }",
        "switch (u.limit) { case 1: return; default: break; } a[gl_GlobalInvocationID.x] = 1;",
        "if (u.limit == 1) for (;;) {} a[gl_GlobalInvocationID.x] = 1;",
        "if (u.limit == 1) store(gl_GlobalInvocationID.x);",
        "u.limit == 1 && atomicAdd(a[gl_GlobalInvocationID.x], 1) == 2;",
        "stop();",
    ] {
        let binding = computed(body, 0);
        assert!(!binding.always_writes && binding.writes, "{body}");
        assert_eq!(written(body, 0), None, "{body}");
    }
    // Both sides write; neither write is certain.
    let both = "if (u.limit == 1) a[0] = 1; else a[0] = 2;";
    assert!(!computed(both, 0).always_writes);
}

#[test]
fn computed_indices_are_not_claimed_but_the_access_is() {
    for body in [
        "a[gl_GlobalInvocationID.x + 1] = 1;",
        "a[gl_GlobalInvocationID.x + offset] = 1;",
        "a[gl_GlobalInvocationID.x * 2] = 1;",
        "a[gl_GlobalInvocationID.x & 0xFFFF] = 1;",
        "a[gl_LocalInvocationIndex] = 1;",
        "a[gl_WorkGroupID.x * 16 + gl_LocalInvocationID.x] = 1;",
        "a[gl_WorkGroupID.x * 32 + gl_LocalInvocationID.y] = 1;",
        "a[gl_WorkGroupID.y * 32 + gl_LocalInvocationID.x] = 1;",
        "a[gl_WorkGroupID.x + 32 + gl_LocalInvocationID.x] = 1;",
        "a[offset] = 1;",
        "detour[gl_LocalInvocationIndex] = gl_GlobalInvocationID.x; barrier(); a[detour[0]] = 1;",
        "detour[0] = gl_GlobalInvocationID.x; a[detour[0]] = 1;",
        "single = gl_GlobalInvocationID.x; barrier(); a[single] = 1;",
        "a[pick()] = 1;",
        "uint i = gl_GlobalInvocationID.x; if (u.limit == 1) i = 3; a[i] = 1;",
        "uint i; if (u.limit == 1) i = gl_GlobalInvocationID.x; a[i] = 1;",
        "uint i = gl_GlobalInvocationID.x; i++; a[i] = 1;",
        "for (uint n = 0; n < 2; ++n) { a[global] = 1; global = gl_GlobalInvocationID.x; } a[0] = u.limit; a[global] = 1;",
        "uint i[2]; i[u.limit] = gl_GlobalInvocationID.x; a[i[0]] = 1;",
        "uint i = u.limit == 1 ? gl_GlobalInvocationID.x : 0; a[i] = 1;",
        "uvec3 i = gl_GlobalInvocationID; i.x = 4; a[i.x] = 1;",
        "store(gl_GlobalInvocationID.x); store(u.limit);",
        "a[int(float(gl_GlobalInvocationID.x))] = 1;",
    ] {
        assert!(computed(body, 0).always_writes, "{body}");
        assert!(
            !matches!(written(body, 0), Some(AccessRange::Bytes(bytes)) if bytes.end - bytes.start > 4),
            "{body}"
        );
    }
}

#[test]
fn narrow_indices_are_not_claimed() {
    let source = "
        #version 460
        #extension GL_EXT_shader_explicit_arithmetic_types : require
        layout(local_size_x = 32) in;
        layout(binding = 0) buffer A { uint a[]; };
        void main() { a[uint(INDEX(gl_GlobalInvocationID.x))] = 1; }";
    for (index, expected) in [
        ("uint16_t", None),
        ("uint8_t", None),
        ("uint64_t", None),
        ("uint", bytes(0, 128)),
    ] {
        let source = source.trim().replace("INDEX", index);
        let binding = entry_of(Stage::Compute, &source, 6).bindings.remove(0);
        assert!(binding.always_writes);
        assert_eq!(binding.written_extent([1; 3], u64::MAX), expected, "{index}");
    }
}

#[test]
fn constant_chains_are_exact() {
    for (body, expected) in [
        ("first = 1;", bytes(0, 4)),
        ("pairs[2].two = 1;", bytes(4 + 16 + 4, 4 + 16 + 8)),
        ("last = vec4(0);", bytes(208, 224)),
        ("last.z = 0;", bytes(216, 220)),
        ("padded[1].position = vec3(0);", bytes(96, 108)),
        // All members of all elements, although the arrays end after 8.
        (
            "pairs[gl_GlobalInvocationID.x].one = 1; pairs[gl_GlobalInvocationID.x].two = 1;",
            bytes(4, 68),
        ),
        ("pairs[gl_GlobalInvocationID.x] = Pair(1, 2);", bytes(4, 68)),
        // Elements with gaps: only the first one.
        ("pairs[gl_GlobalInvocationID.x].two = 1;", bytes(8, 12)),
        (
            "padded[gl_GlobalInvocationID.x].position = vec3(0);",
            bytes(80, 92),
        ),
        (
            "pairs[gl_GlobalInvocationID.x].one = 1; pairs[gl_GlobalInvocationID.y].two = 1;",
            bytes(4, 12),
        ),
        // Two halves, separate and adjacent.
        (
            "pairs[0].one = 1; pairs[0].two = 2; last = vec4(0);",
            bytes(208, 224),
        ),
        (
            "pairs[0] = Pair(1, 2); pairs[1] = Pair(3, 4); pairs[2].one = 5; last = vec4(0);",
            bytes(4, 24),
        ),
        (
            "first = 1; pairs[gl_GlobalInvocationID.x] = Pair(1, 2);",
            bytes(0, 68),
        ),
    ] {
        assert_eq!(written(body, 1), expected, "{body}");
    }
    assert_eq!(
        written("if (u.limit == 1) pairs[0].one = 1; pairs[0].two = 2;", 1),
        bytes(8, 12)
    );
    assert_eq!(written("c[gl_GlobalInvocationID.x].x = 1;", 2), bytes(0, 4));
    // A diagonal is not a range.
    assert_eq!(
        written("grid[gl_GlobalInvocationID.x][gl_GlobalInvocationID.x] = 1;", 11),
        None
    );
    assert_eq!(
        written("grid[2][gl_GlobalInvocationID.x] = 1;", 11),
        bytes(64, 96)
    );
    // An access to an array of descriptors accesses only one of them.
    assert_eq!(written("many[0].d[0] = 1;", 6), None);
    assert!(!computed("many[0].d[0] = 1;", 6).always_writes);
}

#[test]
fn only_what_is_used_is_read() {
    for (body, expected) in [
        ("a[0] = uint(c[gl_GlobalInvocationID.x].x);", bytes(0, 4)),
        (
            "vec4 v = c[gl_GlobalInvocationID.x]; a[0] = uint(dot(v, v));",
            bytes(0, 96 * 16),
        ),
        (
            "vec4 v = c[gl_GlobalInvocationID.x] * 2; last = v.wzyx;",
            bytes(0, 96 * 16),
        ),
        // Its last component may never have been written.
        ("vec4 v = c[gl_GlobalInvocationID.x] * 2; last.xyz = v.xyz;", None),
        (
            "vec4 v = c[gl_GlobalInvocationID.x]; vec4 w = v; last = w.xyzz;",
            None,
        ),
        (
            "vec4 v = c[gl_GlobalInvocationID.x]; last = vec4(v.zyx, v.x);",
            None,
        ),
        (
            "vec4 v = c[gl_GlobalInvocationID.x]; last = vec4(v.wz, v.xy);",
            bytes(0, 96 * 16),
        ),
    ] {
        assert!(computed(body, 2).always_reads, "{body}");
        assert_eq!(read(body, 2), expected, "{body}");
    }
    let unused = computed("vec4 v = c[gl_GlobalInvocationID.x]; float w = v.x * 2;", 2);
    assert!(unused.reads && !unused.always_reads);
    // A whole structure is loaded to access one member.
    let whole = "Pair p = pairs[gl_GlobalInvocationID.x]; a[0] = p.one;";
    assert!(computed(whole, 1).always_reads);
    assert_eq!(read(whole, 1), None);
    assert_eq!(read("a[0] = pairs[gl_GlobalInvocationID.x].one;", 1), bytes(4, 8));
    assert!(computed("a[0] = atomicAdd(first, 1);", 1).always_reads);
    assert_eq!(read("a[0] = u.limit;", 8), bytes(0, 4));
    // It compares first: a write is not certain.
    let compared = computed("atomicCompSwap(a[gl_GlobalInvocationID.x], 1, 2);", 0);
    assert!(compared.always_reads && !compared.always_writes);
    assert_eq!(compared.written_extent(GROUPS, u64::MAX), None);
}

#[test]
fn images_are_covered_by_boxes() {
    let x = "int(gl_GlobalInvocationID.x)";
    for (body, expected) in [
        ("imageStore(image, ivec2(gl_GlobalInvocationID.xy), uvec4(1));".to_owned(), texels([96, 4, 1])),
        ("ivec2 p = ivec2(gl_GlobalInvocationID.xy); imageStore(image, p, uvec4(1));".to_owned(), texels([96, 4, 1])),
        ("imageStore(image, ivec2(id().xy), uvec4(1));".to_owned(), texels([96, 4, 1])),
        // With swapped coordinates, the box is swapped too.
        ("imageStore(image, ivec2(gl_GlobalInvocationID.yx), uvec4(1));".to_owned(), texels([4, 96, 1])),
        (format!("imageStore(image, ivec2({x}, 0), uvec4(1));"), texels([96, 1, 1])),
        (format!("imageStore(image, ivec2({x}, 0), uvec4(1)); imageStore(image, ivec2({x}, 1), uvec4(1));"), texels([96, 2, 1])),
        (format!("imageStore(image, ivec2({x}, 0), uvec4(1)); imageStore(image, ivec2({x}, 2), uvec4(1));"), texels([96, 1, 1])),
        // A diagonal, an offset, a factor.
        (format!("imageStore(image, ivec2({x}, {x}), uvec4(1));"), None),
        ("imageStore(image, ivec2(gl_GlobalInvocationID.xy) + 1, uvec4(1));".to_owned(), None),
        ("imageStore(image, ivec2(gl_GlobalInvocationID.xy) * 2, uvec4(1));".to_owned(), None),
        ("imageStore(image, ivec2(gl_GlobalInvocationID.x, offset), uvec4(1));".to_owned(), None),
        ("imageAtomicAdd(image, ivec2(gl_GlobalInvocationID.xy), 1);".to_owned(), None),
        ("if (gl_GlobalInvocationID.x >= count) return; imageStore(image, ivec2(gl_GlobalInvocationID.xy), uvec4(1));".to_owned(), None),
    ] {
        assert_eq!(written(&body, 3), expected, "{body}");
    }
    // Through a parameter, if the function is called once.
    assert_eq!(written("put(image);", 3), texels([96, 4, 1]));
    for body in [
        "if (u.limit == 1) put(image); put(other);",
        "put(other); if (u.limit == 1) put(image);",
    ] {
        assert!(!computed(body, 3).always_writes, "{body}");
    }
}

#[test]
fn images_without_layers_and_levels_are_covered() {
    let x = "int(gl_GlobalInvocationID.x)";
    let fetch = |coordinate: &str, lod: &str| {
        let body = format!("last = texelFetch(tex, {coordinate}, {lod});");
        assert!(computed(&body, 4).always_reads);
        read(&body, 4)
    };
    let own = "ivec2(gl_GlobalInvocationID.xy)";
    assert_eq!(fetch(own, "0"), texels([96, 4, 1]));
    assert_eq!(fetch(own, "1"), None);
    assert_eq!(fetch(own, "int(u.limit)"), None);
    assert_eq!(
        read(
            &format!("last = texelFetchOffset(tex, {own}, 0, ivec2(1, 0));"),
            4
        ),
        None
    );
    let sampled = "last = textureLod(tex, vec2(gl_GlobalInvocationID.xy), 0);";
    assert!(computed(sampled, 4).always_reads);
    assert_eq!(read(sampled, 4), None);
    assert_eq!(
        written("imageStore(layers, ivec3(gl_GlobalInvocationID), uvec4(1));", 5),
        None
    );
    assert_eq!(
        written(&format!("imageStore(texels, {x}, uvec4(1));"), 7),
        texels([96, 1, 1])
    );
    let volume = "imageStore(volume, ivec3(gl_GlobalInvocationID), uvec4(1));";
    assert_eq!(written(volume, 9), texels([96, 4, 5]));
    assert_eq!(
        read("a[0] = imageLoad(image, ivec2(gl_GlobalInvocationID.xy)).x;", 3),
        texels([96, 4, 1])
    );
}

#[test]
fn extents_follow_groups_and_ranges() {
    let binding = computed("a[gl_GlobalInvocationID.x] = 1;", 0);
    let extent = |groups, range| binding.written_extent(groups, range);
    assert_eq!(extent([1, 1, 1], u64::MAX), bytes(16, 144));
    for groups in [[0, 1, 1], [1, 0, 1], [1, 1, 0]] {
        assert_eq!(extent(groups, u64::MAX), None);
    }
    // Only elements inside the range.
    assert_eq!(extent([1, 1, 1], 16), None);
    assert_eq!(extent([1, 1, 1], 19), None);
    assert_eq!(extent([1, 1, 1], 20), bytes(16, 20));
    assert_eq!(extent([1, 1, 1], 27), bytes(16, 24));
    assert_eq!(extent([1, 1, 1], 144), bytes(16, 144));
    // More than signed indices can represent.
    assert_eq!(extent([u32::MAX, 1, 1], u64::MAX), None);
    assert_eq!(binding.read_extent([1, 1, 1], u64::MAX), None);
}

#[test]
fn specialized_local_sizes_and_lengths_give_no_extent() {
    let source = |layout: &str| {
        format!(
            "layout({layout}) in; layout(constant_id = 3) const uint N = 4; layout(binding = 0) buffer A {{ uint a[N]; uint b[4]; }};
             layout(binding = 1) buffer B {{ uint c[]; }};
             void main() {{ a[gl_GlobalInvocationID.x] = 1; b[0] = 2; c[gl_GlobalInvocationID.x] = gl_WorkGroupSize.x; }}"
        )
    };
    let known = binding_of(Stage::Compute, &source("local_size_x = 8"), 1);
    assert_eq!(known.written_extent([2, 1, 1], u64::MAX), bytes(0, 64));
    for layout in [
        "local_size_x_id = 0",
        "local_size_x = 8, local_size_x_id = 0",
        "local_size_x = 8, local_size_y_id = 1",
    ] {
        let binding = binding_of(Stage::Compute, &source(layout), 1);
        assert!(binding.always_writes);
        assert_eq!(binding.written_extent([2, 1, 1], u64::MAX), None, "{layout}");
    }
    // An array of specialized length is not followed.
    let binding = binding_of(Stage::Compute, &source("local_size_x = 8"), 0);
    assert!(
        binding
            .certain
            .iter()
            .all(|access| format!("{access:?}").contains("element: None"))
    );
}

#[test]
fn accesses_by_address_are_not_claimed() {
    let source = "
        #version 460
        #extension GL_EXT_buffer_reference : require
        layout(local_size_x = 32) in;
        layout(buffer_reference) buffer Target { uint x[]; };
        layout(binding = 0) buffer A { Target target; uint b; };
        void main() { target.x[gl_GlobalInvocationID.x] = 1; }";
    let binding = entry_of(Stage::Compute, source.trim(), 6).bindings.remove(0);
    assert!(binding.always_reads && !binding.always_writes);
    assert_eq!(binding.written_extent([1; 3], u64::MAX), None);
    assert_eq!(binding.read_extent([1; 3], u64::MAX), None);
}

/// Returns whether a fragment shader with this body always reads and always writes binding 0, a storage buffer.
fn fragment(body: &str) -> (bool, bool) {
    let source = format!(
        "#version 460
        #extension GL_EXT_demote_to_helper_invocation : require
        layout(binding = 0) buffer A {{ uint a; uint b; }};
        layout(location = 0) flat in uint v; layout(location = 0) out vec4 o;
        void kill() {{ if (v == 1) discard; }}
        void harmless() {{ if (v == 1) return; o = vec4(1); }}
        void main() {{ {body} }}"
    );
    let entry = entry_of(Stage::Fragment, &source, 6);
    let binding = entry.bindings.iter().find(|it| it.binding == 0);
    // The compiler removes code after an unconditional `discard`.
    binding.map_or((false, false), |it| (it.always_reads, it.always_writes))
}

#[test]
fn fragments_may_be_discarded() {
    for (body, expected) in [
        ("a = 1;", (false, true)),
        ("a = 1; if (v == 1) discard;", (false, true)),
        ("o.x = float(a); if (v == 1) discard;", (true, false)),
        ("if (v == 1) discard; a = 1;", (false, false)),
        ("if (v == 1) discard; o.x = float(a);", (false, false)),
        ("discard; a = 1;", (false, false)),
        ("if (v == 1) demote; a = 1;", (false, false)),
        ("demote; a = 1;", (false, false)),
        ("a = 1; demote;", (false, true)),
        ("kill(); a = 1;", (false, false)),
        ("if (v == 2) kill(); a = 1;", (false, false)),
        ("a = 1; kill();", (false, true)),
        ("harmless(); a = 1;", (false, true)),
        (
            "for (uint n = 0; n < v; ++n) { if (n == 3) discard; } a = 1;",
            (false, false),
        ),
        ("for (uint n = 0; n < v; ++n) o.x += n; a = 1;", (false, true)),
    ] {
        assert_eq!(fragment(body), expected, "{body}");
    }
}

#[test]
fn graphics_stages_have_constant_ranges_only() {
    let source = "layout(binding = 0) buffer A { vec4 a[]; }; layout(location = 0) out vec4 o;
        void main() { o = a[2]; gl_Position = a[gl_VertexIndex]; }";
    let binding = binding_of(Stage::Vertex, source, 0);
    assert!(binding.always_reads);
    assert_eq!(binding.read_extent([1; 3], u64::MAX), bytes(32, 48));
}
