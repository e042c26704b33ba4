//! Compiles `shaders/*.{vert,frag,comp}` to SPIR-V 1.3 for Vulkan 1.1, when the feature `shaders` asks for it.
//!
//! Writes `OUT_DIR/shaders.rs` with one `pub(crate) static GBUFFER_FRAG: &[u32]` per file; `*.glsl` files are there to be
//! included. The kernels in `shaders/tensor` are compiled once for every storage of their operands (`build/kernels.rs`).
//! Chapters of the guide get their pictures (`build/guide.rs`), with or without that feature. A mistake in a shader stops the build with its file and line.

#[path = "build/guide.rs"]
mod guide;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    guide::write();
    #[cfg(feature = "shaders")]
    shaders::compile_all();
}

#[cfg(feature = "shaders")]
#[path = "build/kernels.rs"]
mod kernels;

#[cfg(feature = "shaders")]
mod shaders {
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;
    use std::process::exit;

    use glslang::error::GlslangError;
    use glslang::include::{IncludeHandler, IncludeResult, IncludeType};
    use glslang::{
        Compiler, CompilerOptions, GlslProfile, ShaderInput, ShaderMessage, ShaderSource, ShaderStage,
        SourceLanguage, SpirvVersion, Target, VulkanVersion,
    };

    pub(crate) const FOLDER: &str = "shaders";

    pub(crate) fn compile_all() {
        // The folder itself, so that a new file is seen.
        println!("cargo::rerun-if-changed={FOLDER}");
        let mut names: Vec<String> = match fs::read_dir(FOLDER) {
            Ok(entries) => entries
                .flatten()
                .filter_map(|entry| entry.file_name().into_string().ok())
                .collect(),
            Err(error) => fail(&[format!("{FOLDER}/: {error}")]),
        };
        names.sort();

        let mut module = String::new();
        let mut faults = Vec::new();
        for name in names {
            println!("cargo::rerun-if-changed={FOLDER}/{name}");
            let Some(stage) = stage_of(&name) else { continue };
            match compile(&name, stage, &[]) {
                Ok(words) => write_static(&mut module, &name, &words),
                Err(lines) => note(&mut faults, lines),
            }
        }
        let kernels = crate::kernels::compile_all(&mut faults);
        if !faults.is_empty() {
            fail(&faults);
        }
        write("shaders.rs", module.as_bytes());
        write("kernels.rs", kernels.table.as_bytes());
        write("kernels.spv", &kernels.words);
    }

    /// Writes a file that the crate includes.
    fn write(name: &str, contents: &[u8]) {
        let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
        if let Err(error) = fs::write(Path::new(&out).join(name), contents) {
            fail(&[format!("{out}/{name}: {error}")]);
        }
    }

    /// Adds faults that are not known yet: a mistake in an included file comes back from every file that includes it.
    pub(crate) fn note(faults: &mut Vec<String>, lines: Vec<String>) {
        for line in lines {
            if !faults.contains(&line) {
                faults.push(line);
            }
        }
    }

    /// Stops the build; cargo shows each line as an error.
    fn fail(lines: &[String]) -> ! {
        for line in lines {
            println!("cargo::error={line}");
        }
        exit(1)
    }

    fn stage_of(name: &str) -> Option<ShaderStage> {
        match name.rsplit_once('.')?.1 {
            "vert" => Some(ShaderStage::Vertex),
            "frag" => Some(ShaderStage::Fragment),
            "comp" => Some(ShaderStage::Compute),
            _ => None,
        }
    }

    /// Compiles a file of the folder with some macros defined.
    pub(crate) fn compile(
        name: &str,
        stage: ShaderStage,
        defines: &[(&str, Option<&str>)],
    ) -> Result<Vec<u32>, Vec<String>> {
        let path = format!("{FOLDER}/{name}");
        let text = fs::read_to_string(&path).map_err(|error| vec![format!("{path}: {error}")])?;
        if text.contains('\0') {
            return Err(vec![format!("{path}: holds a NUL byte")]);
        }
        let source = ShaderSource::from(text);
        let options = CompilerOptions {
            source_language: SourceLanguage::GLSL,
            target: Target::Vulkan {
                version: VulkanVersion::Vulkan1_1,
                spirv_version: SpirvVersion::SPIRV1_3,
            },
            version_profile: Some((460, GlslProfile::None)),
            messages: ShaderMessage::SPV_RULES | ShaderMessage::VULKAN_RULES,
        };
        let mut includes = Includes;
        let compiler = Compiler::acquire().ok_or_else(|| vec!["glslang does not start".to_owned()])?;
        ShaderInput::new(&source, stage, &options, Some(defines), Some(&mut includes))
            .and_then(|input| compiler.create_shader(input))
            .and_then(|shader| shader.compile())
            .map_err(|error| fault_lines(&path, &error))
    }

    /// Includes are named relative to the folder, and found nowhere else.
    struct Includes;

    impl IncludeHandler for Includes {
        fn include(&mut self, _: IncludeType, name: &str, _: &str, _: usize) -> Option<IncludeResult> {
            let path = format!("{FOLDER}/{name}");
            let data = fs::read_to_string(&path)
                .ok()
                .filter(|text| !text.contains('\0'))?;
            Some(IncludeResult { name: path, data })
        }
    }

    /// The compiler's log as `file:line: what`; in it, the file itself is called 0 and includes by their path.
    fn fault_lines(path: &str, error: &GlslangError) -> Vec<String> {
        let log = match error {
            GlslangError::PreprocessError(log)
            | GlslangError::ParseError(log)
            | GlslangError::MapIoError(log)
            | GlslangError::LinkError(log) => &log.log,
            other => return vec![format!("{path}: {other}")],
        };
        log.lines()
            .filter_map(|line| line.trim_end().strip_prefix("ERROR: "))
            // The closing count of errors says nothing new.
            .filter(|line| !line.ends_with("No code generated.") && !line.contains("compilation terminated"))
            .map(|line| match line.strip_prefix("0:") {
                Some(rest) => format!("{path}:{rest}"),
                None if line.starts_with(FOLDER) => line.to_owned(),
                None => format!("{path}: {line}"),
            })
            .collect()
    }

    /// `gbuffer.frag` becomes `GBUFFER_FRAG`.
    fn write_static(module: &mut String, name: &str, words: &[u32]) {
        let constant = name.replace(['.', '-'], "_").to_uppercase();
        // Every example includes all of them, and uses its own.
        let written = writeln!(
            module,
            "/// `{FOLDER}/{name}` as SPIR-V 1.3.\n#[allow(dead_code)]\npub(crate) static {constant}: &[u32] = &{words:?};"
        );
        written.expect("writing to a string does not fail");
    }
}
