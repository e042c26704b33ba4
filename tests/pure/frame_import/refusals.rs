//! What means nothing is refused by name.

use super::*;

#[test]
fn what_means_nothing_is_refused_by_name() {
    let a = image("a", "");
    let draw = raster("p", "", "a color");
    let one = std::slice::from_ref(&draw);
    let cases = [
        (
            refusal(&a, &[raster("p", "a sampled", "")]),
            "pass `p` reads `a` before anything in the frame has written it",
        ),
        (
            refusal(&a, &[raster("p", "", "a color, a storage")]),
            "pass `p` declares two writers of `a`",
        ),
        (
            refusal(&a, &[raster("p", "", "a color, a color")]),
            "pass `p` declares two writers of `a`",
        ),
        (
            refusal(&a, &[draw.clone(), raster("q", "a sampled, a sampled", "")]),
            "pass `q`: lists `a` twice as `sampled` in its reads",
        ),
        (
            refusal(&a, &[raster("p", "", "b color")]),
            "pass `p` refers to resource `b`, which the frame does not declare",
        ),
        (
            refusal(&a, &[raster("p", "", "a colr")]),
            "pass `p`: writes `a` as `colr`: no such use is known",
        ),
        (
            refusal(&a, &[raster("p", "", "a depth_read")]),
            "pass `p`: writes `a` as `depth_read`: it only reads",
        ),
        (
            refusal(&a, &[raster("p", "", "a sampled")]),
            "pass `p` uses `a` as SampledImage: such accesses cannot write",
        ),
        (
            refusal(&a, &[compute("p", "", "a color")]),
            "pass `p` uses `a` as ColorAttachment: only render passes have attachments",
        ),
        (
            refusal(&a, &[raster("p", "", "a transfer_dst")]),
            "pass `p` uses `a` as TransferDestination: transfers are not allowed inside",
        ),
        (
            refusal(&a, &[raster("p", "", "a vertex")]),
            "pass `p` uses `a` as VertexBuffer: only buffers can be used so",
        ),
        (
            refusal(&a, &[raster("p", "a present", "a color")]),
            "resource `a`: is presented, and so must be `imported`",
        ),
        (
            refusal(&a, &[draw.replace("raster", "rastr")]),
            "pass `p`: type `rastr` is none of `raster`, `compute`, `transfer`, `present`",
        ),
        (
            refusal(&a, &[draw.replace("raster", "present")]),
            "pass `p`: presents, and so can do nothing else",
        ),
        (
            refusal(&a, &[draw.replace("\"type\"", "\"kind\"")]),
            "frame JSON, line 1 column 226, at `passes[0]`: missing field `type`",
        ),
        (
            refusal(&a, &[draw.replace("\"p\"", "3")]),
            "frame JSON, line 1 column 150, at `passes[0].name`: invalid type: integer `3`, expected a string",
        ),
        (refusal(&a, &[]), "frame `t` has no passes"),
        (refusal(&format!("{a}, {a}"), one), "two resources are named `a`"),
        (
            refusal(&a.replace("RGBA8", "foo"), one),
            "resource `a`: format `foo` is not known, and `bytes_per_texel` = 0 does not say it either",
        ),
        (
            refusal(&a.replace("[1, 1]", "[0, 1]"), one),
            "image `a` is scaled by 0 x 1",
        ),
        (
            refusal(&a.replace("\"extent_scale\": [1, 1]", "\"extent\": [0, 1]"), one),
            "image `a` has a zero extent (0 x 1 x 1)",
        ),
        (
            refusal(&a.replace(", \"extent_scale\": [1, 1]", ""), one),
            "resource `a`: is an image with neither `extent` nor `extent_scale`",
        ),
        (
            refusal(&image("a", r#", "extent": [1, 1]"#), one),
            "resource `a`: has both `extent` and `extent_scale`",
        ),
        (
            refusal(&image("a", r#", "samples": 3"#), one),
            "resource `a`: has 3 samples",
        ),
        (
            refusal(&image("a", r#", "usage": ["colr"]"#), one),
            "resource `a`: usage `colr` is not known",
        ),
        (
            refusal(&image("a", r#", "imported": true, "history": true"#), one),
            "resource `a`: is both `imported` and `history`",
        ),
        (
            refusal(&a.replace("\"image\"", "\"thing\""), one),
            "resource `a`: kind `thing` is neither `image` nor `buffer`",
        ),
        (
            refusal(r#"{"name": "a", "kind": "buffer"}"#, one),
            "resource `a`: is a buffer without `size_bytes`",
        ),
        (
            refusal(
                &image("a", r#", "history": true"#),
                &[raster("p", "a color", "a color")],
            ),
            "pass `p`: reads what the frame before left in `a` through the attachment that it writes",
        ),
        (
            refusal(&a.replace("\"a\"", r#""a\u2028""#), one),
            r"resource name `a\u{2028}` cannot be used",
        ),
    ];
    for (message, expected) in cases {
        assert!(message.starts_with(expected), "{message}\nwanted: {expected}");
    }
    let back = [
        draw.replacen('{', r#"{"submit": 1, "#, 1),
        raster("q", "", "a color").replacen('{', r#"{"submit": 2, "#, 1),
        raster("r", "", "a color").replacen('{', r#"{"submit": 1, "#, 1),
    ];
    assert_eq!(
        refusal(&a, &back),
        "pass `r`: goes back to submit 1: list passes in the order of submission"
    );
}

#[test]
fn hostile_texts_are_refused() {
    for text in [
        "",
        "[]",
        "{}",
        "null",
        "{\"resources\": [], \"passes\": {}}",
        "{\"resources\": [[[[",
        "\u{0}",
    ] {
        let message = import(text).unwrap_err().to_string();
        assert!(message.starts_with("frame JSON, line 1 column"), "{message}");
        assert!(Frame::read(text).is_err());
    }
    let deep = format!(r#"{{"resources": [], "passes": [], "x": {}"#, "[".repeat(1 << 20));
    assert!(
        import(&deep)
            .unwrap_err()
            .to_string()
            .contains("recursion limit exceeded")
    );
}
