//! Pipelines, and the memory accesses of their shaders.

use std::sync::{Arc, OnceLock};

use ash::vk;
use tileheap_spirv::{EntryPoint, ShaderModule};

/// A shader of a pipeline, as the program specified it.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) words: Arc<[u32]>,
    pub(crate) name: String,
    pub(crate) stage: vk::ShaderStageFlags,
}

/// A pipeline, or a set of shader objects: shaders and vertex bindings.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) stages: Vec<Stage>,
    /// True if the code of some stages was not seen.
    pub(crate) incomplete: bool,
    /// The pipeline libraries that the pipeline is linked from.
    pub(crate) libraries: Vec<Arc<Pipeline>>,
    /// True for shader objects, each bound to its stage.
    pub(crate) is_shader_objects: bool,
    /// The vertex bindings: binding, stride, and whether it advances per instance.
    pub(crate) vertex: Vec<(u32, u32, bool)>,
    /// True if commands set the vertex bindings.
    pub(crate) has_dynamic_input: bool,
    entries: OnceLock<Result<Vec<EntryPoint>, String>>,
}

impl Pipeline {
    /// Returns the entry points of the pipeline's shaders, which are parsed on first use.
    pub(crate) fn entries(&self) -> Result<Vec<&EntryPoint>, String> {
        let own = self.entries.get_or_init(|| {
            if self.incomplete {
                return Err("the layer has not seen the code of a shader".to_owned());
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

    /// Returns the bound shader objects, with that of `stage` replaced, or removed if `shader` is `None`. If `bound` is a pipeline, none of its stages are
    /// kept.
    pub(crate) fn with(
        bound: Option<&Pipeline>,
        stage: vk::ShaderStageFlags,
        shader: Option<Arc<Pipeline>>,
    ) -> Pipeline {
        let others = bound
            .iter()
            .filter(|bound| bound.is_shader_objects)
            .flat_map(|bound| &bound.libraries);
        let others = others.filter(|other| other.stages.iter().all(|one| one.stage != stage));
        Pipeline {
            libraries: others.cloned().chain(shader).collect(),
            is_shader_objects: true,
            ..Pipeline::default()
        }
    }

    /// Returns true if commands set the vertex bindings, because of dynamic state or shader objects.
    pub(crate) fn takes_vertex_input(&self) -> bool {
        self.is_shader_objects
            || self.has_dynamic_input
            || self.libraries.iter().any(|library| library.takes_vertex_input())
    }

    /// Returns the vertex bindings of the pipeline and, recursively, of the pipeline libraries that it links.
    pub(crate) fn vertex(&self) -> Vec<(u32, u32, bool)> {
        let mut all = self.vertex.clone();
        for library in &self.libraries {
            all.extend(library.vertex());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shader_object_replaces_that_of_its_stage_and_any_pipeline() {
        const VERTEX: vk::ShaderStageFlags = vk::ShaderStageFlags::VERTEX;
        const FRAGMENT: vk::ShaderStageFlags = vk::ShaderStageFlags::FRAGMENT;
        let of = |name: &str, stage| {
            let (name, words) = (name.to_owned(), Arc::default());
            let stages = vec![Stage { words, name, stage }];
            Arc::new(Pipeline {
                stages,
                ..Pipeline::default()
            })
        };
        let linked = Pipeline {
            libraries: vec![of("linked", FRAGMENT)],
            ..Pipeline::default()
        };
        let one = Pipeline::with(Some(&linked), VERTEX, Some(of("a", VERTEX)));
        let two = Pipeline::with(Some(&one), FRAGMENT, Some(of("b", FRAGMENT)));
        let three = Pipeline::with(Some(&two), VERTEX, Some(of("c", VERTEX)));
        let none = Pipeline::with(Some(&three), FRAGMENT, None);
        let names = |of: &Pipeline| -> Vec<String> {
            of.libraries
                .iter()
                .map(|one| one.stages[0].name.clone())
                .collect()
        };
        assert_eq!(
            [one, two, three, none].map(|of| names(&of).concat()),
            ["a", "ab", "bc", "c"]
        );
    }

    #[test]
    fn vertex_bindings_of_nested_libraries_are_found() {
        let with = |binding: u32, libraries| {
            Arc::new(Pipeline {
                vertex: vec![(binding, 16, false)],
                libraries,
                ..Pipeline::default()
            })
        };
        let linked = with(0, vec![with(1, vec![with(2, Vec::new())]), with(3, Vec::new())]);
        let bindings: Vec<u32> = linked.vertex().iter().map(|(binding, ..)| *binding).collect();
        assert_eq!(bindings, [0, 1, 2, 3]);
    }
}
