//! The shaders of dispatches and draws, generated from the uses of their descriptors.

use std::fmt::Write;

use tileheap_testkit::glsl::{Stage, compile};

use crate::recording::Use;

/// The words of a compute shader in which every invocation accesses its part of each descriptor, and all of them together access the whole.
pub(crate) fn compute(uses: &[Use]) -> Vec<u32> {
    let (read, written) = accesses(uses, "gl_GlobalInvocationID.x", "ivec2(gl_GlobalInvocationID.xy)");
    let source = format!(
        "layout(local_size_x = 16, local_size_y = 8) in;\n{}void main() {{\n    uvec4 sum = uvec4(1);\n{read}{written}}}\n",
        declarations(uses)
    );
    compile(Stage::Compute, &source, 3)
}

/// The words of a fragment shader that accesses the first element of each buffer, and the texel under it.
pub(crate) fn fragment(uses: &[Use]) -> Vec<u32> {
    let (read, written) = accesses(uses, "0", "ivec2(gl_FragCoord.xy)");
    let source = format!(
        "layout(location = 0) out vec4 color;\n{}void main() {{\n    uvec4 sum = uvec4(1);\n{read}{written}    color = vec4(sum);\n}}\n",
        declarations(uses)
    );
    compile(Stage::Fragment, &source, 3)
}

/// The words of a vertex shader for a triangle over the whole target, with an attribute or not.
pub(crate) fn vertex(has_attribute: bool) -> Vec<u32> {
    let (declared, added) = match has_attribute {
        true => ("layout(location = 0) in vec2 offset;\n", " + offset * 0.0001"),
        false => ("", ""),
    };
    let source = format!(
        "{declared}void main() {{\n    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1 & 1);\n    \
         gl_Position = vec4(corner * 4.0 - 1.0{added}, 0.5, 1.0);\n}}\n"
    );
    compile(Stage::Vertex, &source, 3)
}

fn declarations(uses: &[Use]) -> String {
    let mut text = String::new();
    for (binding, used) in uses.iter().enumerate() {
        let at = format!("set = 0, binding = {binding}");
        let name = format!("d{binding}");
        let line = match used {
            Use::Uniform => format!("layout({at}) uniform U{binding} {{ uvec4 {name}[16]; }};"),
            Use::Read => format!("layout({at}) readonly buffer B{binding} {{ uvec4 {name}[]; }};"),
            Use::Write => format!("layout({at}) writeonly buffer B{binding} {{ uvec4 {name}[]; }};"),
            Use::Modify => format!("layout({at}) buffer B{binding} {{ uvec4 {name}[]; }};"),
            Use::Sample => format!("layout({at}) uniform texture2D {name};"),
            Use::Store => format!("layout({at}, rgba8) writeonly uniform image2D {name};"),
            Use::Load => format!("layout({at}, rgba8) readonly uniform image2D {name};"),
            Use::Input => format!("layout(input_attachment_index = 0, {at}) uniform subpassInput {name};"),
        };
        writeln!(text, "{line}").expect("a string takes everything");
    }
    if uses.contains(&Use::Sample) {
        text.insert_str(0, "#extension GL_EXT_samplerless_texture_functions : require\n");
    }
    text
}

/// Statements that read into `sum`, and those that write it.
fn accesses(uses: &[Use], element: &str, texel: &str) -> (String, String) {
    let (mut read, mut written) = (String::new(), String::new());
    for (binding, used) in uses.iter().enumerate() {
        let name = format!("d{binding}");
        let value = match used {
            Use::Uniform | Use::Read | Use::Modify => Some(format!("{name}[{element}]")),
            Use::Sample => Some(format!("uvec4(texelFetch({name}, {texel}, 0) * 255.0)")),
            Use::Load => Some(format!("uvec4(imageLoad({name}, {texel}) * 255.0)")),
            Use::Input => Some(format!("uvec4(subpassLoad({name}) * 255.0)")),
            Use::Write | Use::Store => None,
        };
        if let Some(value) = value {
            writeln!(read, "    sum += {value};").expect("a string takes everything");
        }
        let write = match used {
            Use::Write | Use::Modify => Some(format!("{name}[{element}] = sum;")),
            Use::Store => Some(format!("imageStore({name}, {texel}, vec4(sum) / 255.0);")),
            _ => None,
        };
        if let Some(write) = write {
            writeln!(written, "    {write}").expect("a string takes everything");
        }
    }
    (read, written)
}
