//! Distances from its own pixel at which a fragment shader fetches.

use super::*;
use tileheap_units::ReadReach;

#[test]
fn fetches_at_the_own_pixel_have_a_reach() {
    let source = |body: &str| {
        format!(
            "layout(binding = 0) uniform sampler2D t; \
             layout(location = 0) in vec2 uv; layout(location = 0) out vec4 o; \
             layout(binding = 2, input_attachment_index = 0) uniform subpassInput i; void main() {{ {body} }}"
        )
    };
    let own = ReadReach::PIXEL;
    let (two, anywhere) = (ReadReach::Texels(2), ReadReach::Anywhere);
    for (body, expected) in [
        ("o = texelFetch(t, ivec2(gl_FragCoord.xy), 0);", own),
        (
            "ivec2 p = ivec2(gl_FragCoord.xy); o = texelFetch(t, p, 0) + texelFetch(t, p + ivec2(1, -2), 0);",
            two,
        ),
        (
            "o = texelFetchOffset(t, ivec2(gl_FragCoord.x, gl_FragCoord.y) + 1, 0, ivec2(1, 0));",
            two,
        ),
        ("o = texelFetch(t, ivec2(gl_FragCoord.xy - vec2(2, 0)), 0);", two),
        // Swapped, from another level, scaled, in a loop, conditional, sampled.
        ("o = texelFetch(t, ivec2(gl_FragCoord.yx), 0);", anywhere),
        ("o = texelFetch(t, ivec2(gl_FragCoord.xy), 1);", anywhere),
        ("o = texelFetch(t, ivec2(gl_FragCoord.xy) * 2, 0);", anywhere),
        (
            "ivec2 p = ivec2(gl_FragCoord.xy); for (int x = 0; x < 3; ++x) { p.x += x; o += texelFetch(t, p, 0); }",
            anywhere,
        ),
        (
            "ivec2 p = ivec2(gl_FragCoord.xy); if (uv.x > 0.5) p = ivec2(3); o = texelFetch(t, p, 0);",
            anywhere,
        ),
        (
            "o = texelFetch(t, ivec2(gl_FragCoord.xy), 0) + texture(t, uv);",
            anywhere,
        ),
    ] {
        let entry = entry_of(
            Stage::Fragment,
            &source(&format!("{body} o += subpassLoad(i);")),
            3,
        );
        let reach = |binding| {
            entry
                .bindings
                .iter()
                .find(|one| one.binding == binding)
                .expect("bound")
                .reach
        };
        assert_eq!((reach(0), reach(2)), (expected, own), "{body}");
    }
}
