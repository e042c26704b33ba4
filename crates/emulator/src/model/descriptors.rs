//! Which tile resources descriptor sets hold, and which descriptors pipelines access.
//!
//! Tracked: sets written by updates, copies and templates, and pushed descriptors. Not tracked, and so never reported:
//! descriptor buffers, shader objects, buffer device addresses.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::descriptors::{RAYS, Source, Template, Written};
use tileheap_layer::set_layouts::{SetLayout, SetLayouts, consecutive};
use tileheap_layer::sharded::Sharded;
use tileheap_layer::{array, chained, text};
use tileheap_sync::program::Part;

use super::resources::{Resource, Resources};
use super::shaders::{self, DescriptorAccess, EntryPoint};

/// The shader modules, pipelines, descriptor sets and update templates of a device, by handle.
#[derive(Default)]
pub(crate) struct Descriptors {
    /// The descriptors that shader modules and pipelines access.
    pub(crate) modules: Sharded<Arc<Vec<EntryPoint>>>,
    pub(crate) pipelines: Sharded<Arc<Vec<DescriptorAccess>>>,
    pub(crate) sets: Sharded<Arc<Set>>,
    pub(crate) templates: Sharded<Arc<Template>>,
    pub(crate) layouts: SetLayouts,
}

/// A descriptor set, or the descriptors pushed to a command buffer.
#[derive(Default)]
pub(crate) struct Set {
    pub(crate) pool: vk::DescriptorPool,
    pub(crate) layout: Option<Arc<SetLayout>>,
    /// The number of entries: most sets have none, and are skipped without the lock.
    count: AtomicUsize,
    entries: Mutex<Vec<Entry>>,
}

/// A descriptor of a tile resource.
#[derive(Clone)]
pub(crate) struct Entry {
    binding: u32,
    element: u32,
    pub(crate) kind: vk::DescriptorType,
    pub(crate) resource: Arc<Resource>,
    /// The part that it is of; `None` if it is not known.
    pub(crate) part: Option<Part>,
}

/// A resource, and the part of it that a descriptor is of.
type Described = (Arc<Resource>, Option<Part>);

impl Set {
    /// An empty set of a pool.
    pub(crate) fn new(pool: vk::DescriptorPool, layout: Option<Arc<SetLayout>>) -> Set {
        Set {
            pool,
            layout,
            ..Set::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes one descriptor: a tile resource, or something else.
    fn put(&self, binding: u32, element: u32, kind: vk::DescriptorType, resource: Option<Described>) {
        if resource.is_none() && self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut entries = self.lock();
        entries.retain(|entry| (entry.binding, entry.element) != (binding, element));
        entries.extend(resource.map(|(resource, part)| Entry {
            binding,
            element,
            kind,
            resource,
            part,
        }));
        self.count.store(entries.len(), Ordering::Relaxed);
    }

    /// Writes a descriptor.
    pub(crate) fn write(&self, resources: &Resources, (binding, element, kind, source): Written<'_>) {
        let resource = source.and_then(|source| described(resources, kind, source));
        self.put(binding, element, kind, resource);
    }

    /// Calls `access` for each tile resource at a binding.
    pub(crate) fn for_each_at(&self, binding: u32, access: impl FnMut(&Entry)) {
        if self.count.load(Ordering::Relaxed) > 0 {
            self.lock()
                .iter()
                .filter(|entry| entry.binding == binding)
                .for_each(access);
        }
    }

    /// Copies descriptors from another set, or within this one.
    pub(crate) fn copy(&self, from: &Set, copy: &vk::CopyDescriptorSet<'_>) {
        if self.count.load(Ordering::Relaxed) == 0 && from.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let count = copy.descriptor_count;
        let places = |set: &Set, binding, element| -> Vec<(u32, u32)> {
            consecutive(set.layout.as_deref(), binding, element, count).collect()
        };
        let sources = places(from, copy.src_binding, copy.src_array_element);
        let entries = from.lock().clone();
        let targets = places(self, copy.dst_binding, copy.dst_array_element);
        for ((binding, element), place) in targets.into_iter().zip(sources) {
            let source = entries
                .iter()
                .find(|entry| (entry.binding, entry.element) == place);
            let kind = source.map_or(vk::DescriptorType::SAMPLER, |entry| entry.kind);
            let resource = source.map(|entry| (entry.resource.clone(), entry.part));
            self.put(binding, element, kind, resource);
        }
    }
}

/// The tile resource that a descriptor is written from, if it is one.
fn described(resources: &Resources, kind: vk::DescriptorType, source: Source<'_>) -> Option<Described> {
    use vk::DescriptorType as T;
    Some(match source {
        Source::Image(info) => {
            let view = resources.image_views.get(info.image_view.as_raw())?;
            (view.resource.clone(), Some(view.part))
        }
        Source::Buffer(info) => {
            let is_dynamic = matches!(kind, T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC);
            let buffer = resources.buffers.get(info.buffer.as_raw())?;
            let part = (!is_dynamic).then(|| buffer.bytes(info.offset, info.range));
            (buffer, part)
        }
        Source::Texels(view) => {
            let view = resources.buffer_views.get(view.as_raw())?;
            (view.resource.clone(), Some(view.part))
        }
    })
}

/// Whether shaders can only read descriptors of a type.
pub(crate) fn is_read_only(kind: vk::DescriptorType) -> bool {
    use vk::DescriptorType as T;
    !matches!(
        kind,
        T::STORAGE_IMAGE | T::STORAGE_BUFFER | T::STORAGE_BUFFER_DYNAMIC | T::STORAGE_TEXEL_BUFFER
    )
}

/// The pipeline stage of a shader stage; none of those whose accesses are not followed.
fn pipeline_stages(stage: vk::ShaderStageFlags) -> vk::PipelineStageFlags2 {
    use vk::{PipelineStageFlags2 as P, ShaderStageFlags as S};
    let stages = [
        (S::VERTEX, P::VERTEX_SHADER),
        (S::TESSELLATION_CONTROL, P::TESSELLATION_CONTROL_SHADER),
        (S::TESSELLATION_EVALUATION, P::TESSELLATION_EVALUATION_SHADER),
        (S::GEOMETRY, P::GEOMETRY_SHADER),
        (S::FRAGMENT, P::FRAGMENT_SHADER),
        (S::COMPUTE, P::COMPUTE_SHADER),
        (S::TASK_EXT, P::TASK_SHADER_EXT),
        (S::MESH_EXT, P::MESH_SHADER_EXT),
        (RAYS, P::RAY_TRACING_SHADER_KHR),
    ];
    let known = stages.into_iter().find(|(known, _)| known.contains(stage));
    known.map_or(P::NONE, |(_, stages)| stages)
}

impl Descriptors {
    /// The descriptors that a shader stage accesses, by its entry point in a module or in inline code.
    fn of_stage(&self, stage: &vk::PipelineShaderStageCreateInfo<'_>) -> Vec<DescriptorAccess> {
        let name = text!(stage.p_name);
        if let Some(known) = self.modules.get(stage.module.as_raw()) {
            return shaders::of_stage(&known, stage.stage, &name);
        }
        let inline = chained!(stage.p_next => vk::ShaderModuleCreateInfo<'_>);
        inline.map_or_else(Vec::new, |info| {
            let all = shaders::entry_points(array!(info.p_code, (info.code_size / 4) as u32));
            shaders::of_stage(&all, stage.stage, &name)
        })
    }

    /// Remembers the descriptors that a new pipeline's stages, and the libraries it is linked from, access.
    pub(crate) fn remember_pipeline(
        &self,
        pipeline: vk::Pipeline,
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
        p_next: *const c_void,
    ) {
        if pipeline == vk::Pipeline::null() {
            return;
        }
        let mut all: Vec<DescriptorAccess> = Vec::new();
        for stage in stages {
            let accesses = self.of_stage(stage);
            let stages = pipeline_stages(stage.stage);
            for mut access in accesses {
                access.unknown &= stages;
                access.reads &= stages;
                access.writes &= stages;
                let key = |one: &DescriptorAccess| (one.set, one.binding, one.is_tile_attachment);
                let same = all.iter_mut().find(|known| key(known) == key(&access));
                match same {
                    Some(known) => {
                        known.only_read &= access.only_read;
                        known.unknown |= access.unknown;
                        known.reads |= access.reads;
                        known.writes |= access.writes;
                    }
                    None => all.push(access),
                }
            }
        }
        if let Some(libraries) = chained!(p_next => vk::PipelineLibraryCreateInfoKHR<'_>) {
            for library in array!(libraries.p_libraries, libraries.library_count) {
                let known = self.pipelines.get(library.as_raw());
                all.extend(known.iter().flat_map(|known| known.iter().copied()));
            }
        }
        self.pipelines.insert(pipeline.as_raw(), Arc::new(all));
    }
}
