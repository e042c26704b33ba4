//! Compiles a folder of shaders into a Rust module, for build scripts.

use std::fs;
use std::path::Path;

use crate::compiler::Compiler;
use crate::error::Error;
use crate::output::{fail, write_output};
use crate::reflect::Interface;
use crate::source::{Source, Stage};

/// Compiles every `*.vert`, `*.frag` and `*.comp` of `folder` to SPIR-V 1.3 and writes `OUT_DIR/shaders.rs` with one `pub static GBUFFER_FRAG: Shader` per
/// file, the types `Shader` and `Binding`, and functions that return the set layout bindings, descriptor pool sizes and push constant range of shaders. An
/// error in a shader stops the build with its file and line.
///
/// # Panics
/// Outside a build script.
pub fn build_folder(folder: &Path) {
    // Watches the folder itself too, so that new files are noticed.
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-env-changed=GLSLANG");
    let compiler = Compiler::find().unwrap_or_else(|error| fail(&[error]));
    let entries = fs::read_dir(folder).unwrap_or_else(|error| fail(&[Error::io(folder, &error)]));
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut module = format!("use ash::vk;\n\n{}", include_str!("module.rs"));
    let mut errors = Vec::new();
    for path in paths {
        println!("cargo::rerun-if-changed={}", path.display());
        let Some(stage) = Stage::of_file(&path) else {
            continue;
        };
        match compiler.compile_with_interface(Source::File(&path), stage, &[], 3) {
            Ok((words, interface)) => write_shader(&mut module, &path, stage, &words, &interface),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        fail(&errors);
    }
    write_output("shaders.rs", module.as_bytes());
}

/// Writes the static of a shader: `gbuffer.frag` becomes `GBUFFER_FRAG`.
fn write_shader(module: &mut String, path: &Path, stage: Stage, words: &[u32], interface: &Interface) {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let name = file.replace(['.', '-'], "_").to_uppercase();
    let stage = match stage {
        Stage::Vertex => "VERTEX",
        Stage::Fragment => "FRAGMENT",
        Stage::Compute => "COMPUTE",
    };
    let mut bindings = String::new();
    for binding in &interface.bindings {
        let (set, index, kind, count) = (
            binding.set,
            binding.binding,
            binding.descriptor_type,
            binding.count,
        );
        bindings += &format!(
            "\n        Binding {{ set: {set}, binding: {index}, \
             descriptor_type: vk::DescriptorType::from_raw({kind}), count: {count} }}, // {}",
            binding.name
        );
    }
    let (mut inputs, mut offset) = (String::new(), 0);
    for input in &interface.vertex_inputs {
        inputs += &format!(
            "\n        vk::VertexInputAttributeDescription {{ location: {}, binding: 0, \
             format: vk::Format::from_raw({}), offset: {offset} }},",
            input.location, input.format
        );
        offset += input.size;
    }
    let (push_constants, local_size) = (interface.push_constant_bytes, interface.local_size);
    let lines = words.chunks(10).map(|line| {
        let words: Vec<String> = line.iter().map(|word| format!("{word:#x}")).collect();
        format!("\n        {},", words.join(", "))
    });
    let words: String = lines.collect();
    *module += &format!(
        "
/// `{file}`.
pub static {name}: Shader = Shader {{
    words: &[{words}
    ],
    stage: vk::ShaderStageFlags::{stage},
    bindings: &[{bindings}
    ],
    push_constant_bytes: {push_constants},
    local_size: {local_size:?},
    vertex_inputs: &[{inputs}
    ],
    vertex_bytes: {offset},
}};
"
    );
}
