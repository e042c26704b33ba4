//! Compiles single shaders with an installed compiler or the bundled one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::error::{Error, Result};
use crate::source::{Defines, Source, Stage};

/// A shader compiler: a program on this machine, or the bundled one.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: Option<Program>,
}

#[derive(Clone, Debug)]
struct Program {
    path: PathBuf,
    /// True if the program takes the options of `glslc`, not those of `glslangValidator`.
    is_glslc: bool,
}

impl Compiler {
    /// Finds the compiler named by `GLSLANG`, otherwise the first of `glslangValidator`, `glslang` and `glslc` on the `PATH`, otherwise the bundled
    /// one.
    ///
    /// # Errors
    /// If no compiler is found.
    pub fn find() -> Result<Compiler> {
        let named = env::var_os("GLSLANG").map(PathBuf::from);
        let found = named.or_else(|| {
            let names = ["glslangValidator", "glslang", "glslc"];
            names.iter().find_map(|name| on_path(name))
        });
        let program = found.map(|path| Program {
            is_glslc: path.file_stem().is_some_and(|stem| stem == "glslc"),
            path,
        });
        if program.is_none() && !cfg!(feature = "bundled") {
            return Err(Error::NoCompiler);
        }
        Ok(Compiler { program })
    }

    /// Compiles a shader to SPIR-V 1.`minor` (this project's shaders use 1.3, for Vulkan 1.1).
    ///
    /// # Errors
    /// The compiler's messages, each with file and line.
    pub fn compile(
        &self,
        source: Source<'_>,
        stage: Stage,
        defines: &Defines<'_>,
        minor: u32,
    ) -> Result<Vec<u32>> {
        match &self.program {
            Some(program) => program.compile(source, stage, defines, minor),
            #[cfg(feature = "bundled")]
            None => crate::bundled::compile(source, stage, defines, minor),
            #[cfg(not(feature = "bundled"))]
            None => unreachable!("`find` returns an error if it finds no program"),
        }
    }

    /// Compiles a shader to SPIR-V 1.`minor`, and reads its declarations.
    ///
    /// # Errors
    /// Same as [`Compiler::compile`]; and above SPIR-V 1.3, which SPIRV-Reflect does not support.
    #[cfg(feature = "reflect")]
    pub fn compile_with_interface(
        &self,
        source: Source<'_>,
        stage: Stage,
        defines: &Defines<'_>,
        minor: u32,
    ) -> Result<(Vec<u32>, crate::reflect::Interface)> {
        if minor > 3 {
            return Err(Error::Reflect(format!(
                "SPIR-V 1.{minor} is not supported: the newest supported version is 1.3"
            )));
        }
        let words = self.compile(source, stage, defines, minor)?;
        let interface = crate::reflect::reflect(&words).map_err(|error| match source {
            Source::File(path) => Error::Reflect(format!("{}: {error}", path.display())),
            Source::Text(_) => Error::Reflect(error),
        })?;
        Ok((words, interface))
    }
}

impl Program {
    fn compile(
        &self,
        source: Source<'_>,
        stage: Stage,
        defines: &Defines<'_>,
        minor: u32,
    ) -> Result<Vec<u32>> {
        let scratch = tempfile::tempdir().map_err(|error| Error::io(&env::temp_dir(), &error))?;
        let file = |extension: &str| scratch.path().join(format!("shader.{extension}"));
        let written;
        let (input, label) = match source {
            Source::File(path) => (path, path.display().to_string()),
            Source::Text(text) => {
                written = file(stage.extension());
                fs::write(&written, text).map_err(|error| Error::io(&written, &error))?;
                (written.as_path(), "shader".to_owned())
            }
        };
        let output = file("spv");
        let mut command = Command::new(&self.path);
        self.options(&mut command, stage, minor);
        for (name, value) in defines {
            command.arg(format!("-D{name}={value}"));
        }
        if let Some(folder) = input.parent() {
            let mut include = OsString::from("-I");
            include.push(folder);
            command.arg(include);
        }
        command.arg("-o").arg(&output).arg(input);
        let ran = command.output().map_err(|error| Error::io(&self.path, &error))?;
        if !ran.status.success() {
            let log = [ran.stdout, ran.stderr].concat();
            return Err(Error::Compile {
                lines: messages(&String::from_utf8_lossy(&log), input, &label),
            });
        }
        let bytes = fs::read(&output).map_err(|error| Error::io(&output, &error))?;
        let words = bytes.chunks_exact(4);
        Ok(words
            .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
            .collect())
    }

    fn options(&self, command: &mut Command, stage: Stage, minor: u32) {
        let vulkan = match minor {
            0..=2 => "vulkan1.0",
            3..=4 => "vulkan1.1",
            5 => "vulkan1.2",
            _ => "vulkan1.3",
        };
        let extension = stage.extension();
        if self.is_glslc {
            command.args([
                format!("-fshader-stage={extension}"),
                format!("--target-env={vulkan}"),
                format!("--target-spv=spv1.{minor}"),
            ]);
        } else {
            command.args(["-V", "-S", extension, "--target-env", vulkan, "--target-env"]);
            command.arg(format!("spirv1.{minor}"));
        }
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file())
}

/// Returns the errors in a compiler's log, one per line, with the input path replaced by `label`; the whole log if it has none. glslang writes `ERROR:
/// file:line: message`, glslc `file:line: error: message`.
fn messages(log: &str, input: &Path, label: &str) -> Vec<String> {
    let input = input.display().to_string();
    let errors = log.lines().filter_map(|line| {
        let line = line.trim_end();
        line.strip_prefix("ERROR: ")
            .or_else(|| line.contains(": error: ").then_some(line))
    });
    let mut lines: Vec<String> = errors
        // The final count of errors adds no information.
        .filter(|line| !line.ends_with("No code generated.") && !line.contains("compilation terminated"))
        .map(|line| line.replace(&input, label))
        .collect();
    if lines.is_empty() {
        lines.push(format!("{label}: {}", log.trim()));
    }
    lines
}
