//! Accesses of compute shaders after bounds checks, and the parts of buffers and images covered by the invocations that pass.

use super::*;
use tileheap_spirv::{AccessRange, Binding, Dispatch, GuardValue};

/// Local size 32 by 2, in dispatches of 3 by 2 groups: 96 by 4 invocations.
const DECLARATIONS: &str = "
    layout(local_size_x = 32, local_size_y = 2) in;
    layout(std430, binding = 0) buffer A { uint head[4]; uint a[]; };
    layout(binding = 1, r32ui) uniform uimage2D image;
    layout(binding = 2) uniform sampler2D tex;
    layout(std430, binding = 3) buffer B { uint b[]; };
    layout(binding = 4) uniform U { uint limit; bool flag; } u;
    layout(binding = 5, r32ui) uniform uimage3D volume;
    layout(binding = 6, r32ui) uniform uimage2D images[2];
    layout(push_constant) uniform P { uint zero; uint count; uvec2 size; int n; float f; };
    layout(constant_id = 3) const uint SPECIAL = 5;
    shared uint s[64];
    uint global;
    bool inside() { return gl_GlobalInvocationID.x < count; }
    void put(uint i, uint end) { if (i >= end) return; a[i] = 1; }
    void store() { a[gl_GlobalInvocationID.x] = 1; }
    uint end() { return count; }
";

/// The values known for a dispatch: the push constants are 0, 50, (40, 3), -1; image 1 is 60 x 3, the texture 70 x 2, and `b` has 20 elements.
fn known(value: GuardValue) -> Option<u32> {
    Some(match value {
        GuardValue::PushConstant { offset } => [0, 50, 40, 3, u32::MAX][offset as usize / 4],
        GuardValue::ImageSize {
            set: 0,
            binding: 1,
            axis,
        } => [60, 3][usize::from(axis)],
        GuardValue::ImageSize {
            set: 0,
            binding: 2,
            axis,
        } => [70, 2][usize::from(axis)],
        GuardValue::ImageSize {
            set: 0,
            binding: 5,
            axis,
        } => [8, 9, 10][usize::from(axis)],
        GuardValue::ArrayLength {
            set: 0,
            binding: 3,
            offset: 0,
            stride: 4,
        } => 20,
        other => panic!("{other:?}"),
    })
}

const KNOWN: Dispatch<'_> = Dispatch {
    groups: [3, 2, 1],
    values: &known,
};

fn binding_of(body: &str, number: u32, minor: usize) -> Binding {
    let source = format!(
        "{DECLARATIONS} void main() {{ uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y; {body} }}"
    );
    let bindings = entry_of(Stage::Compute, &source, minor).bindings;
    let found = bindings.into_iter().find(|it| it.binding == number);
    found.unwrap_or_else(|| panic!("binding {number} in {body}"))
}

/// Returns the certain writes of a dispatch to a binding that is not always written: `true` if there are any, and the written part.
fn written(body: &str, number: u32) -> (bool, Option<AccessRange>) {
    let binding = binding_of(body, number, 6);
    assert!(!binding.always_writes, "{body}");
    let part = binding.written_extent(KNOWN, u64::MAX);
    assert!(part.is_none() || binding.certainly_writes(KNOWN), "{body}");
    // If only the number of groups is known, no more is certain.
    let unknown = binding.written_extent(KNOWN.groups, u64::MAX);
    assert!(unknown.is_none() || unknown == part, "{body}");
    (binding.certainly_writes(KNOWN), part)
}

fn elements(first: u64, end: u64) -> (bool, Option<AccessRange>) {
    (true, Some(AccessRange::Bytes(16 + 4 * first..16 + 4 * end)))
}

fn texels(start: [u32; 2], end: [u32; 2]) -> (bool, Option<AccessRange>) {
    let extent = AccessRange::Texels {
        start: [start[0], start[1], 0],
        end: [end[0], end[1], 1],
    };
    (true, Some(extent))
}

const NOTHING: (bool, Option<AccessRange>) = (false, None);

#[test]
fn accesses_behind_bounds_checks_are_certain() {
    for (body, end) in [
        ("if (x >= count) return; a[x] = 1;", 50),
        ("if (x < count) a[x] = 1;", 50),
        ("if (count > x) a[x] = 1;", 50),
        ("if (x <= count) a[x] = 1;", 51),
        ("if (!(x < count)) return; a[x] = 1;", 50),
        ("if (int(x) >= int(count)) return; a[x] = 1;", 50),
        (
            "int i = int(gl_GlobalInvocationID.x); int e = int(count); if (i < e) a[i] = 1;",
            50,
        ),
        ("if (x >= 33) return; a[x] = 1;", 33),
        ("if (x >= size.x) return; a[x] = 1;", 40),
        ("uvec2 e = size; if (x >= e.x) return; a[x] = 1;", 40),
        ("if (x >= end()) return; a[x] = 1;", 50),
        ("if (!inside()) return; a[x] = 1;", 50),
        ("bool b = x < count; if (b) a[x] = 1;", 50),
        ("put(x, count);", 50),
        ("if (x < count) store();", 50),
        ("if (x < 1000) a[x] = 1;", 96),
        ("if (n != -1) return; if (x < count) a[x] = 1;", 50),
        ("if (count == 0) return; if (x < count) a[x] = 1;", 50),
        ("if (x >= count || y >= size.y) return; a[x] = 1;", 50),
        ("if (x < count && y < size.y) a[x] = 1;", 50),
        (
            "if (x < count) { if (y < size.y) { if (x < size.x) a[x] = 1; } }",
            40,
        ),
        (
            "if (x >= count) return; if (x >= size.x) return; if (y >= 3) return; a[x] = 1;",
            40,
        ),
        ("if (all(lessThan(uvec2(x, y), size))) a[x] = 1;", 40),
        (
            "if (any(greaterThanEqual(gl_GlobalInvocationID.xy, size))) return; a[x] = 1;",
            40,
        ),
        ("if (x >= count) { global = 3; return; } a[x] = 1;", 50),
        (
            "for (uint k = 0; k < u.limit; ++k) global += k; if (x < count) a[x] = global;",
            50,
        ),
        ("if (x < count) { uint i = x; a[i] = 1; }", 50),
        (
            "if (x >= count) return; uint i = gl_GlobalInvocationID.x; if (y >= size.y) return; a[i] = 1;",
            50,
        ),
        ("barrier(); if (x < count) a[x] = 1;", 50),
        (
            "do { if (x < count) a[x] = global; } while (global++ < u.limit);",
            50,
        ),
        ("if (x < count) a[x] = 1; else if (u.limit == 1) a[x] = 2;", 50),
        ("if (x < b.length()) a[x] = 1;", 20),
        ("if (int(x) >= b.length()) return; a[x] = 1;", 20),
        ("if (x < imageSize(image).x) a[x] = 1;", 60),
        ("if (x >= textureSize(tex, 0).x) return; a[x] = 1;", 70),
        ("if (gl_WorkGroupID.x < 2) a[x] = 1;", 64),
        (
            "if (gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x < count) a[x] = 1;",
            50,
        ),
    ] {
        assert_eq!(written(body, 0), elements(0, end), "{body}");
    }
}

#[test]
fn the_part_is_that_of_the_invocations_that_pass() {
    for (body, expected) in [
        ("if (x < count) ; else a[x] = 1;", elements(50, 96)),
        ("if (x >= 10 && x < 20) a[x] = 1;", elements(10, 20)),
        ("if (x > 10) a[x] = 1;", elements(11, 96)),
        ("if (x == 7) a[x] = 1;", elements(7, 8)),
        ("if (x != 0) a[x] = 1;", elements(1, 96)),
        ("if (y == 3) a[x] = 1;", elements(0, 96)),
        ("if (y == 4) a[x] = 1;", NOTHING),
        ("if (x >= 96) a[x] = 1;", NOTHING),
        ("if (x < zero) a[x] = 1;", NOTHING),
        ("if (zero == 1) a[x] = 1;", NOTHING),
        // Unsigned, -1 is larger than any index; signed it is smaller.
        ("if (x < uint(n)) a[x] = 1;", elements(0, 96)),
        ("if (int(x) < n) a[x] = 1;", NOTHING),
        ("if (int(x) > n) a[x] = 1;", elements(0, 96)),
        // Executed by one invocation of each group.
        (
            "if (gl_LocalInvocationIndex == 0) a[gl_WorkGroupID.x] = 1;",
            elements(0, 3),
        ),
        (
            "if (gl_LocalInvocationID.x == 0) a[gl_WorkGroupID.x] = 1;",
            elements(0, 3),
        ),
        ("if (gl_LocalInvocationID.x < 4) a[x] = 1;", (true, None)),
        ("if (x < 40) a[gl_WorkGroupID.x] = 1;", elements(0, 2)),
        // The access is certain, but not its position.
        ("if (x < count) a[x + 1] = 1;", (true, None)),
        ("if (x < count) a[u.limit] = 1;", (true, None)),
        ("if (x < count) atomicAdd(a[x], 1);", (true, None)),
        ("if (x < count) a[3] = 1;", elements(3, 4)),
        // Together, both sides cover it.
        ("if (x < count) a[x] = 1; else a[x] = 2;", elements(0, 96)),
    ] {
        assert_eq!(written(body, 0), expected, "{body}");
    }
    let own = "ivec2 p = ivec2(gl_GlobalInvocationID.xy);";
    for (body, expected) in [
        (
            "if (any(greaterThanEqual(p, imageSize(image)))) return;",
            texels([0, 0], [60, 3]),
        ),
        (
            "if (p.x >= imageSize(image).x || p.y >= imageSize(image).y) return;",
            texels([0, 0], [60, 3]),
        ),
        (
            "if (all(lessThan(uvec2(p), uvec2(textureSize(tex, 0)))) == false) return;",
            NOTHING,
        ),
        (
            "ivec2 e = textureSize(tex, 0); if (!all(lessThan(p, e))) return;",
            texels([0, 0], [70, 2]),
        ),
        ("if (p.y < 1 || p.x >= 8) return;", texels([0, 1], [8, 4])),
        ("if (p.x >= 8) return;", texels([0, 0], [8, 4])),
        ("if (p.x >= imageSize(volume).z) return;", texels([0, 0], [10, 4])),
    ] {
        let body = format!("{own} {body} imageStore(image, p, uvec4(1));");
        assert_eq!(written(&body, 1), expected, "{body}");
    }
}

#[test]
fn what_is_not_proved_is_not_claimed() {
    for body in [
        // The compared value is not known, or changes between comparisons.
        "if (x < u.limit) a[x] = 1;",
        "if (x < head[0]) a[x] = 1;",
        "if (u.flag) a[x] = 1;",
        "if (x + 1 < count) a[x] = 1;",
        "if (x < count - 1) a[x] = 1;",
        "if (x * 2 < count) a[x] = 1;",
        "if (x < SPECIAL) a[x] = 1;",
        "if (x < uint(f)) a[x] = 1;",
        "if (float(x) < f) a[x] = 1;",
        "if (x < y) a[x] = 1;",
        "if (x < imageSize(images[1]).x) a[x] = 1;",
        "if (x < textureSize(tex, 1).x) a[x] = 1;",
        "if (x < textureSize(tex, int(u.limit)).x) a[x] = 1;",
        "for (uint i = x; i < count; i += 96) a[i] = 1;",
        "for (uint i = 0; i < count; ++i) a[i] = 1;",
        "uint i = x; i += u.limit; if (i < count) a[x] = 1;",
        "uint i = x; if (u.flag) i = 99; if (i < count) a[x] = 1;",
        "uint e = count; if (u.flag) e = 0; if (x < e) a[x] = 1;",
        "bool b = x < count; if (u.flag) b = false; if (b) a[x] = 1;",
        "bool b = x < count; if (y < 2) b = u.flag; if (b) a[x] = 1;",
        "s[gl_LocalInvocationIndex] = count; barrier(); if (x < s[0]) a[x] = 1;",
        "uint e; if (u.flag) e = count; if (x < e) a[x] = 1;",
        "x++; if (x < count) a[0] = 1;",
        // The access depends on more than the bounds.
        "if (x < count && u.flag) a[x] = 1;",
        "if (u.flag && x < count) a[x] = 1;",
        "if (x >= count || u.flag) return; a[x] = 1;",
        "if (x >= count) return; if (u.flag) return; a[x] = 1;",
        "if (u.flag) return; if (x >= count) return; a[x] = 1;",
        "if (u.flag) { if (x < count) a[x] = 1; }",
        "if (x < count) { if (u.flag) a[x] = 1; }",
        "if (x < count ? u.flag : false) a[x] = 1;",
        "if ((x < count) != u.flag) a[x] = 1;",
        "if (any(bvec2(x < count, u.flag)) == false) a[x] = 1;",
        "if (all(bvec2(x < count, u.flag))) a[x] = 1;",
        "if (x < count) for (uint k = 0; k < u.limit; ++k) a[x] = k;",
        "if (x < count) switch (u.limit) { case 1: a[x] = 1; }",
        "for (uint k = 0; k < u.limit; ++k) if (x < count) a[x] = k;",
        "if (x < count) { if (u.limit == 1) for (;;) {} a[x] = 1; }",
        "put(x, count); put(x, u.limit);",
        "if (u.flag) store(); else global = 1;",
        // The passing side of the branch leads elsewhere.
        "while (true) { if (x < count) break; if (u.flag) continue; a[x] = 1; }",
    ] {
        assert_eq!(written(body, 0), NOTHING, "{body}");
    }
    // With unknown values nothing is certain.
    let binding = binding_of("if (x < count) a[x] = 1;", 0, 6);
    assert!(!binding.certainly_writes([3, 2, 1]));
    assert_eq!(binding.written_extent([3, 2, 1], u64::MAX), None);
    for groups in [[0, 1, 1], [1, 0, 1]] {
        let none = Dispatch { groups, ..KNOWN };
        assert!(!binding.certainly_writes(none));
    }
    // More invocations than signed numbers can count.
    let many = Dispatch {
        groups: [1 << 27, 1, 1],
        ..KNOWN
    };
    assert!(!binding.certainly_writes(many));
}

/// A literal of a switch may equal the number of a label, such as that of the first block, which the phi of a short circuit names.
#[test]
fn literals_of_a_switch_are_not_labels() {
    for literal in 0..40 {
        let body = format!(
            "bool flag = u.flag; if (flag && x >= uint(b.length())) a[x] = 1; \
             if (x < count) {{ switch (u.limit) {{ case {literal}: b[0] = 1; }} }}"
        );
        assert!(!binding_of(&body, 0, 3).certainly_writes(KNOWN), "case {literal}");
    }
}

#[test]
fn one_of_two_conditions_is_enough_if_it_decides() {
    for (body, expected) in [
        ("if (x < count || u.flag) a[x] = 1;", elements(0, 50)),
        ("if (u.flag || x < count) a[x] = 1;", elements(0, 50)),
        ("if (any(bvec2(u.flag, x < count))) a[x] = 1;", elements(0, 50)),
        ("if (x >= count && u.flag) return; a[x] = 1;", elements(0, 50)),
    ] {
        assert_eq!(written(body, 0), expected, "{body}");
    }
}

#[test]
fn guarded_reads_come_first_if_no_write_may_come_before() {
    for (body, reads_first) in [
        ("if (x < count) a[x] += 1;", true),
        ("if (x >= count) return; uint v = a[x]; a[x] = v + 1;", true),
        ("if (x < count) { uint v = a[x]; if (u.flag) a[x] = v; }", true),
        ("if (x < count) { a[x] = 1; head[0] = a[x + 1]; }", false),
        ("if (u.flag) a[0] = 1; if (x < count) a[x] += 1;", false),
        ("if (x < count) { b[0] = a[x]; } a[x] = 1;", false),
        ("if (x < count) b[0] = a[x]; else a[x] = 1;", false),
        ("if (x < count || u.flag) { b[0] = a[x]; a[x] = 1; }", true),
        ("if (x < count) { b[0] = a[x]; } if (x < count) a[x] = 1;", false),
        ("if (x < count) { b[0] = a[x]; store(); }", false),
    ] {
        let binding = binding_of(body, 0, 6);
        assert!(binding.certainly_reads(KNOWN), "{body}");
        assert_eq!(binding.reads_first, reads_first, "{body}");
    }
}

#[test]
fn what_depends_on_the_base_of_a_dispatch_is_told() {
    for (body, depends) in [
        ("if (x < count) a[0] = 1;", true),
        ("if (count != 0) a[0] = 1;", false),
        ("if (count != 0) a[x] = 1;", true),
        ("if (gl_LocalInvocationID.x == 3) a[0] = 1;", false),
        (
            "if (gl_LocalInvocationID.x == 3) a[gl_LocalInvocationID.y] = 1;",
            false,
        ),
        ("if (gl_WorkGroupID.x == 0) a[0] = 1;", true),
    ] {
        let binding = binding_of(body, 0, 6);
        assert!(!binding.certain.is_empty(), "{body}");
        let all = binding.certain.iter();
        assert_eq!(all.clone().all(|one| one.depends_on_base()), depends, "{body}");
        assert_eq!(all.clone().any(|one| one.depends_on_base()), depends, "{body}");
    }
}

#[test]
fn other_stages_have_no_guards() {
    let source = "layout(binding = 0) buffer A { uint a[]; };
        layout(push_constant) uniform P { uint count; };
        layout(location = 0) out vec4 o;
        void main() { if (count == 50) a[0] = 1; o = vec4(1); }";
    let binding = entry_of(Stage::Fragment, source, 6).bindings.remove(0);
    assert!(binding.writes && binding.certain.is_empty() && !binding.certainly_writes(KNOWN));
}
