//! Pipelines, and what their shaders do with memory.

use std::sync::{Arc, OnceLock};

use ash::vk;
use tileheap::frame::shaders::{EntryPoint, ShaderModule};

/// A shader of a pipeline, as it was given.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) words: Arc<[u32]>,
    pub(crate) name: String,
    pub(crate) stage: vk::ShaderStageFlags,
}

/// A pipeline.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) stages: Vec<Stage>,
    /// Of some stages the code was not seen.
    pub(crate) incomplete: bool,
    /// Pipelines that it is linked from.
    pub(crate) libraries: Vec<Arc<Pipeline>>,
    /// Binding, stride, and whether it advances by instances.
    pub(crate) vertex: Vec<(u32, u32, bool)>,
    entries: OnceLock<Result<Vec<EntryPoint>, String>>,
}

impl Pipeline {
    /// What its shaders do, read when it is first asked for.
    pub(crate) fn entries(&self) -> Result<Vec<&EntryPoint>, String> {
        let own = self.entries.get_or_init(|| {
            if self.incomplete {
                return Err("a shader that the layer has not seen".to_owned());
            }
            let read = |stage: &Stage| {
                let module = ShaderModule::parse(&stage.words)?;
                module.entry_point(&stage.name, stage.stage)
            };
            let all: Result<Vec<_>, _> = self.stages.iter().map(read).collect();
            all.map_err(|error| error.to_string())
        });
        let mut all: Vec<&EntryPoint> = own.as_ref().map_err(Clone::clone)?.iter().collect();
        for library in &self.libraries {
            all.extend(library.entries()?);
        }
        Ok(all)
    }

    /// The vertex bindings, its own or a library's.
    pub(crate) fn vertex(&self) -> impl Iterator<Item = (u32, u32, bool)> {
        let libraries = self.libraries.iter().flat_map(|library| library.vertex.iter());
        self.vertex.iter().chain(libraries).copied()
    }
}
