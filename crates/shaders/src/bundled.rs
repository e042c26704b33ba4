//! glslang built from source.

use std::fs;
use std::path::{Path, PathBuf};

use glslang::include::{IncludeHandler, IncludeResult, IncludeType};
use glslang::{
    CompilerOptions, GlslProfile, ShaderInput, ShaderMessage, ShaderSource, ShaderStage, SourceLanguage,
    SpirvVersion, Target, VulkanVersion,
};

use crate::error::{Error, Result};
use crate::source::{Defines, Source, Stage};

pub(crate) fn compile(
    source: Source<'_>,
    stage: Stage,
    defines: &Defines<'_>,
    minor: u32,
) -> Result<Vec<u32>> {
    let (label, folder, text) = match source {
        Source::Text(text) => ("shader".to_owned(), PathBuf::new(), text.to_owned()),
        Source::File(path) => {
            let label = path.display().to_string();
            let text = fs::read_to_string(path).map_err(|error| Error::io(path, &error))?;
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            (label, folder, text)
        }
    };
    let failed = |what: String| Error::Compile {
        lines: vec![format!("{label}: {what}")],
    };
    if text.contains('\0') {
        return Err(failed("NUL byte".to_owned()));
    }
    let (vulkan, spirv) = match minor {
        0 => (VulkanVersion::Vulkan1_0, SpirvVersion::SPIRV1_0),
        1 => (VulkanVersion::Vulkan1_0, SpirvVersion::SPIRV1_1),
        2 => (VulkanVersion::Vulkan1_0, SpirvVersion::SPIRV1_2),
        3 => (VulkanVersion::Vulkan1_1, SpirvVersion::SPIRV1_3),
        4 => (VulkanVersion::Vulkan1_1, SpirvVersion::SPIRV1_4),
        5 => (VulkanVersion::Vulkan1_2, SpirvVersion::SPIRV1_5),
        _ => (VulkanVersion::Vulkan1_3, SpirvVersion::SPIRV1_6),
    };
    let options = CompilerOptions {
        source_language: SourceLanguage::GLSL,
        target: Target::Vulkan {
            version: vulkan,
            spirv_version: spirv,
        },
        version_profile: Some((460, GlslProfile::None)),
        messages: ShaderMessage::SPV_RULES | ShaderMessage::VULKAN_RULES,
    };
    let stage = match stage {
        Stage::Vertex => ShaderStage::Vertex,
        Stage::Fragment => ShaderStage::Fragment,
        Stage::Compute => ShaderStage::Compute,
    };
    let defines: Vec<(&str, Option<&str>)> = defines
        .iter()
        .map(|(name, value)| (*name, Some(*value)))
        .collect();
    let compiler =
        glslang::Compiler::acquire().ok_or_else(|| failed("glslang could not be initialized".to_owned()))?;
    let source = ShaderSource::from(text);
    let mut includes = Includes(folder);
    ShaderInput::new(&source, stage, &options, Some(&defines), Some(&mut includes))
        .and_then(|input| compiler.create_shader(input))
        .and_then(|shader| shader.compile())
        .map_err(|error| failed(error.to_string()))
}

/// Resolves all includes relative to this folder, which contains the shader.
struct Includes(PathBuf);

impl IncludeHandler for Includes {
    fn include(&mut self, _: IncludeType, name: &str, _: &str, _: usize) -> Option<IncludeResult> {
        let path = self.0.join(name);
        let data = fs::read_to_string(&path)
            .ok()
            .filter(|text| !text.contains('\0'))?;
        Some(IncludeResult {
            name: path.display().to_string(),
            data,
        })
    }
}
