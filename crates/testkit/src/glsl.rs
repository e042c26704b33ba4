//! Compiles GLSL to SPIR-V for tests.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

pub use tileheap_shaders::Stage;
use tileheap_shaders::{Compiler, Source};

/// The minor versions of SPIR-V 1: 1.0 to 1.6.
pub const VERSIONS: std::ops::Range<usize> = 0..7;

/// Compiles a shader to SPIR-V 1.`minor`; source without `#version` is GLSL 4.60.
///
/// # Panics
/// With the compiler's log, if it does not compile.
pub fn compile(stage: Stage, source: &str, minor: usize) -> Vec<u32> {
    type Known = HashMap<(Stage, String, usize), Vec<u32>>;
    static COMPILER: OnceLock<Compiler> = OnceLock::new();
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    let versioned = source.trim_start().starts_with("#version");
    let text = if versioned {
        source.to_owned()
    } else {
        format!("#version 460\n{source}")
    };
    let key = (stage, text, minor);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(words) = known().get_or_insert_default().get(&key) {
        return words.clone();
    }
    let compiler = COMPILER.get_or_init(|| Compiler::find().unwrap_or_else(|error| panic!("{error}")));
    let words = compiler.compile(Source::Text(&key.1), stage, &[], minor as u32);
    let words = words.unwrap_or_else(|error| panic!("{error}\n{}", key.1));
    known().get_or_insert_default().insert(key, words.clone());
    words
}
