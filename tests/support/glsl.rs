//! GLSL to SPIR-V, for tests.
#![allow(dead_code, unreachable_pub)] // No program uses all of it.

use glslang::{
    Compiler, CompilerOptions, GlslProfile, ShaderInput, ShaderMessage, ShaderSource, ShaderStage,
    SourceLanguage, SpirvVersion, Target, VulkanVersion,
};

/// Every version of SPIR-V, by its minor number.
pub const VERSIONS: [SpirvVersion; 7] = [
    SpirvVersion::SPIRV1_0,
    SpirvVersion::SPIRV1_1,
    SpirvVersion::SPIRV1_2,
    SpirvVersion::SPIRV1_3,
    SpirvVersion::SPIRV1_4,
    SpirvVersion::SPIRV1_5,
    SpirvVersion::SPIRV1_6,
];

/// The words of a shader in SPIR-V 1.`minor`.
///
/// # Panics
/// With the compiler's log, if it does not compile.
pub fn compile(stage: ShaderStage, source: &str, minor: usize) -> Vec<u32> {
    let options = CompilerOptions {
        source_language: SourceLanguage::GLSL,
        target: Target::Vulkan {
            version: match minor {
                0..=2 => VulkanVersion::Vulkan1_0,
                3..=4 => VulkanVersion::Vulkan1_1,
                5 => VulkanVersion::Vulkan1_2,
                _ => VulkanVersion::Vulkan1_3,
            },
            spirv_version: VERSIONS[minor],
        },
        version_profile: Some((460, GlslProfile::None)),
        messages: ShaderMessage::SPV_RULES | ShaderMessage::VULKAN_RULES,
    };
    let source = ShaderSource::from(format!("#version 460\n{source}"));
    let no_defines: Option<&[(&str, Option<&str>)]> = None;
    let compiler = Compiler::acquire().expect("glslang starts");
    let words = ShaderInput::new(&source, stage, &options, no_defines, None)
        .and_then(|input| compiler.create_shader(input))
        .and_then(|shader| shader.compile());
    words.unwrap_or_else(|error| panic!("{error:?}"))
}

/// The words of a file of `shaders/`, in SPIR-V 1.`minor`, and its stage; `None` for one that is there to be included.
///
/// # Panics
/// With the compiler's log, if it does not compile.
pub fn compile_file(name: &str, minor: usize) -> Option<(Vec<u32>, ShaderStage)> {
    let stage = match name.rsplit_once('.')?.1 {
        "vert" => ShaderStage::Vertex,
        "frag" => ShaderStage::Fragment,
        "comp" => ShaderStage::Compute,
        _ => return None,
    };
    Some((compile(stage, &flattened(name), minor), stage))
}

/// A file's text with its includes in place and its version left out. Guards keep what is included twice from
/// counting twice.
fn flattened(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("shaders")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let line = |line: &str| match line.strip_prefix("#include \"") {
        Some(included) => flattened(included.trim_end().trim_end_matches('"')),
        None if line.starts_with("#version") => String::new(),
        None => line.to_owned() + "\n",
    };
    text.lines().map(line).collect()
}
