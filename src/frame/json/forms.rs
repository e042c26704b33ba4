//! Accepted forms of fields, for error messages.

/// Per field, examples of accepted values.
const FORMS: &[(&str, &[&str])] = &[
    ("base_extent", &["[1280, 720]"]),
    ("capabilities", &[r#"["VK_QUEUE_GRAPHICS_BIT"]"#]),
    (
        "image",
        &[r#"{ "format": "VK_FORMAT_R8G8B8A8_UNORM", "extent": [1280, 720] }"#],
    ),
    ("extent", &["[1280, 720]", "[64, 64, 64]"]),
    ("scale", &["[0.5, 0.5]"]),
    ("buffer", &[r#"{ "size": 4096 }"#]),
    (
        "persistence",
        &[
            r#""transient""#,
            r#""history""#,
            r#"{ "external": { "entry": {}, "exit": { "layout": "VK_IMAGE_LAYOUT_PRESENT_SRC_KHR" } } }"#,
        ],
    ),
    (
        "external",
        &[r#"{ "entry": {}, "exit": { "layout": "VK_IMAGE_LAYOUT_PRESENT_SRC_KHR" } }"#],
    ),
    ("tile_memory", &[r#""none""#, r#""pinned""#, r#""excluded""#]),
    ("level_of", &[r#"{ "image": "bloom", "level": 1 }"#]),
    (
        "waits",
        &[r#"[{ "semaphore": "acquired", "stages": ["VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT"] }]"#],
    ),
    (
        "signals",
        &[r#"[{ "semaphore": "rendered", "stages": ["VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT"] }]"#],
    ),
    ("contents", &[r#""inline""#, r#""secondary""#]),
    ("render_area", &["[0, 0, 1280, 720]"]),
    ("optional", &[r#""kept""#, r#""lost""#]),
    (
        "part",
        &[r#"{ "aspects": ["VK_IMAGE_ASPECT_COLOR_BIT"], "levels": [0, 1], "layers": [0, 1] }"#],
    ),
    ("levels", &["[0, 1]"]),
    ("layers", &["[0, 1]"]),
    (
        "view",
        &[r#"{ "view_type": "VK_IMAGE_VIEW_TYPE_2D", "format": "VK_FORMAT_R8G8B8A8_UNORM" }"#],
    ),
    ("version", &[r#""current""#, r#""previous""#]),
    (
        "load_op",
        &[
            r#""load""#,
            r#""dont_care""#,
            r#"{ "clear": { "float": [0, 0, 0, 1] } }"#,
        ],
    ),
    (
        "clear",
        &[
            r#"{ "float": [0, 0, 0, 1] }"#,
            r#"{ "int": [0, 0, 0, 1] }"#,
            r#"{ "uint": [0, 0, 0, 1] }"#,
            r#"{ "depth_stencil": [1, 0] }"#,
        ],
    ),
    ("float", &["[0, 0, 0, 1]"]),
    ("depth_stencil", &["[1, 0]"]),
    ("stages", &[r#"["VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT"]"#]),
    ("share", &[r#"{ "part": 1, "of": 4 }"#]),
    ("reach", &["2", r#""anywhere""#]),
];

/// Returns `problem`, followed by the accepted forms of the field at `path`; `None` if the problem names them itself, or the forms are not listed.
pub(super) fn with_forms(path: &str, problem: &str) -> Option<String> {
    let named = ["unknown ", "missing ", "duplicate ", "has ", "`"];
    if named.iter().any(|start| problem.starts_with(start)) {
        return None;
    }
    let field = path.rsplit('.').next()?.split('[').next()?;
    // The document's own `version` is a number, and the `external` of a semaphore a Boolean value.
    let is_another = path == "version" || path.starts_with("semaphores[");
    let (_, forms) = FORMS.iter().find(|(name, _)| *name == field && !is_another)?;
    Some(format!("{problem}; accepted: `{}`", forms.join("`, `")))
}

#[cfg(test)]
mod tests {
    use super::FORMS;
    use crate::Error;
    use crate::frame::{Frame, FrameError};

    /// A document in which each field's name in upper case stands for its value.
    const DOCUMENT: &str = r#"{
        "format": "tileheap-frame", "version": 2, "base_extent": BASE_EXTENT,
        "queues": [{ "name": "q", "capabilities": CAPABILITIES }],
        "resources": [
            { "name": "i", "image": IMAGE, "persistence": PERSISTENCE, "tile_memory": TILE_MEMORY, "level_of": LEVEL_OF },
            { "name": "e", "image": { "format": "VK_FORMAT_R8_UNORM", "extent": EXTENT }, "persistence": { "external": EXTERNAL } },
            { "name": "s", "image": { "format": "VK_FORMAT_R8_UNORM", "scale": SCALE } },
            { "name": "b", "buffer": BUFFER }
        ],
        "submits": [{ "queue": "q", "batches": [{ "waits": WAITS, "signals": SIGNALS, "command_buffers": [{ "name": "c", "passes": [
            { "name": "p", "kind": "render", "contents": CONTENTS, "render_area": RENDER_AREA, "optional": OPTIONAL, "accesses": [
                { "resource": "i", "kind": "color_attachment", "part": PART, "view": VIEW, "version": VERSION, "load_op": LOAD_OP,
                  "stages": STAGES, "share": SHARE, "reach": REACH },
                { "resource": "i", "kind": "color_attachment", "load_op": { "clear": CLEAR }, "part": { "levels": LEVELS, "layers": LAYERS } },
                { "resource": "i", "kind": "color_attachment", "load_op": { "clear": { "float": FLOAT } } },
                { "resource": "i", "kind": "color_attachment", "load_op": { "clear": { "depth_stencil": DEPTH_STENCIL } } }
            ] }
        ] }] }] }]
    }"#;

    /// Reads the document with each form in place: errors about the frame are allowed, errors about the form are not.
    #[test]
    fn accepted_forms_are_accepted() {
        for (field, forms) in FORMS {
            for form in *forms {
                let mut text = DOCUMENT.to_owned();
                for (other, first) in FORMS.iter().map(|(name, forms)| (name, forms[0])) {
                    let form = if other == field { form } else { first };
                    let mark = format!(": {}", other.to_uppercase());
                    assert!(text.contains(&mark), "{mark} is not in the document");
                    for end in [",", " ", "\n"] {
                        text = text.replace(&format!("{mark}{end}"), &format!(": {form}{end}"));
                    }
                }
                let read = Frame::from_json(&text);
                let is_json_error = matches!(read, Err(Error::Frame(FrameError::Json(_))));
                assert!(!is_json_error, "{field}: {form}: {read:?}");
            }
        }
    }

    #[test]
    fn errors_name_the_path_and_the_accepted_forms() {
        for (field, wrong, expected) in [
            (
                "load_op",
                "\"clear\"",
                "accesses[0].load_op`: a value is missing after this name; accepted: `\"load\"`, `\"dont_care\"`, `{ \"clear\": { \"float\": [0, 0, 0, 1] } }`",
            ),
            (
                "load_op",
                "{ \"clear\": 3 }",
                "accesses[0].load_op.clear`: not one of the accepted forms; accepted: `{ \"float\": [0, 0, 0, 1] }`",
            ),
            (
                "load_op",
                "\"cleer\"",
                "load_op`: unknown value `cleer`: did you mean `clear`? The accepted values are `load`, `clear`, `dont_care`",
            ),
            (
                "base_extent",
                "[1280, 720, 1]",
                "at `base_extent[2]`: the list has too many elements; accepted: `[1280, 720]`",
            ),
            (
                "base_extent",
                "1280",
                "at `base_extent`: 1280, where a list of length 2 is expected; accepted: `[1280, 720]`",
            ),
            (
                "render_area",
                "{ \"width\": 3 }",
                "passes[0].render_area`: an object, where a list of length 4 is expected; accepted: `[0, 0, 1280, 720]`",
            ),
            (
                "reach",
                "\"far\"",
                "accesses[0].reach`: expected a number of texels, or \"anywhere\"; accepted: `2`, `\"anywhere\"`",
            ),
            (
                "image",
                "{ \"format\": \"VK_FORMAT_R8_UNORM\", \"mips\": 2 }",
                "resources[0].image.mips`: unknown field `mips`: the accepted fields are `format`, `extent`, ",
            ),
        ] {
            let mut text = DOCUMENT.to_owned();
            for (other, form) in FORMS.iter().map(|(name, forms)| (name, forms[0])) {
                let form = if *other == field { wrong } else { form };
                for end in [",", " ", "\n"] {
                    let mark = format!(": {}{end}", other.to_uppercase());
                    text = text.replace(&mark, &format!(": {form}{end}"));
                }
            }
            let message = Frame::from_json(&text).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}\nwanted: {expected}");
        }
    }
}
