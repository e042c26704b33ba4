//! The resources that descriptor sets refer to, and the descriptors that pipelines access.
//!
//! Tracked: sets written by updates, copies and templates, and pushed descriptors. Not tracked, and so never reported:
//! descriptor buffers, shader objects, buffer device addresses.

use std::collections::{BTreeMap, HashSet};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_device::format::texel_block;
use tileheap_layer::descriptors::{Source, UpdateTemplate, WrittenDescriptor};
use tileheap_layer::pipelines::shader_stages;
use tileheap_layer::set_layouts::{SetLayout, SetLayouts, consecutive};
use tileheap_layer::sharded::Sharded;
use tileheap_layer::{array, chained, text};
use tileheap_spirv::GuardValue;
use tileheap_sync::program::ResourcePart;

use super::resources::{Resource, Resources};
use super::shaders::{Code, PipelineShaders, ShaderAccesses, ShaderCodes};
use super::vertex_input::VertexInput;

/// The shader modules, pipelines, descriptor sets and update templates of a device, by handle.
#[derive(Default)]
pub(crate) struct Descriptors {
    pub(crate) modules: Sharded<Arc<Code>>,
    pub(crate) codes: ShaderCodes,
    pub(crate) pipelines: Sharded<Arc<PipelineShaders>>,
    /// The vertex buffers that graphics pipelines read.
    pub(crate) vertex_inputs: Sharded<Arc<VertexInput>>,
    pub(crate) sets: Sharded<Arc<Set>>,
    pub(crate) templates: Sharded<Arc<UpdateTemplate>>,
    pub(crate) layouts: SetLayouts,
    /// True once a set layout has an input attachment.
    pub(crate) has_inputs: AtomicBool,
    /// True if a pipeline has guards that compare push constants.
    compares_push_constants: AtomicBool,
}

/// A descriptor set, or the push descriptors of a command buffer.
#[derive(Default)]
pub(crate) struct Set {
    pub(crate) pool: vk::DescriptorPool,
    pub(crate) layout: Option<Arc<SetLayout>>,
    /// The number of entries: most sets have none, and are skipped without taking the lock.
    count: AtomicUsize,
    /// The descriptors, by binding and element.
    entries: Mutex<Entries>,
}

/// The descriptors of a set, by binding and element.
type Entries = BTreeMap<(u32, u32), Entry>;

/// Maximum number of descriptors of a binding that are checked; a shader may use any element of a larger array.
const MAX_ELEMENTS: usize = 16;

/// Flags of bindings whose descriptors might change before a recorded command uses them, or might not be used at all.
pub(super) const UNCERTAIN: vk::DescriptorBindingFlags = vk::DescriptorBindingFlags::from_raw(
    vk::DescriptorBindingFlags::UPDATE_AFTER_BIND.as_raw()
        | vk::DescriptorBindingFlags::UPDATE_UNUSED_WHILE_PENDING.as_raw()
        | vk::DescriptorBindingFlags::PARTIALLY_BOUND.as_raw(),
);

/// A descriptor of a resource that the layer knows.
#[derive(Clone)]
pub(crate) struct Entry {
    binding: u32,
    pub(crate) element: u32,
    pub(crate) kind: vk::DescriptorType,
    pub(crate) resource: Arc<Resource>,
    /// The part of the resource, without the offset of a dynamic descriptor; `None` if it is unknown.
    pub(crate) part: Option<ResourcePart>,
}

impl Entry {
    /// Returns true if the part depends on an offset that is bound with the set.
    pub(crate) fn is_dynamic(&self) -> bool {
        is_dynamic(self.kind)
    }

    /// The value that a guard compares: the width, height or depth of the descriptor's image, or the length of the array in its buffer.
    pub(crate) fn guard_value(&self, value: GuardValue) -> Option<u32> {
        match (value, self.part?) {
            (GuardValue::ArrayLength { .. }, ResourcePart::Bytes(first, end)) => {
                value.length_in(end.saturating_sub(first))
            }
            (GuardValue::ImageSize { axis, .. }, ResourcePart::Texels(texels)) => {
                let resource = &self.resource;
                // A view of blocks as texels has different sides.
                let block = texel_block(resource.format)?;
                if (block.width, block.height) != (1, 1) {
                    return None;
                }
                let level = texels.levels.first;
                let side = |side: u32| (side >> level.min(31)).max(1);
                match axis {
                    0 => Some(side(resource.extent.width)),
                    1 => Some(side(resource.extent.height)),
                    // A view may contain only some slices.
                    2 if level == 0 => {
                        let slices = texels.layers.end.saturating_sub(texels.layers.first);
                        Some(slices.min(resource.extent.depth))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the descriptor at its dynamic offset: `offsets` are those bound with a set of this layout, in the order of [`SetLayout::dynamic`].
    pub(crate) fn with_offsets(&self, layout: Option<&SetLayout>, offsets: &[u32]) -> Entry {
        let place = (self.binding, self.element);
        let index = layout.and_then(|layout| layout.dynamic().position(|one| one == place));
        let offset = index.and_then(|index| offsets.get(index));
        let part = offset.and_then(|offset| match self.part? {
            ResourcePart::Bytes(first, end) => {
                let at = |byte: u64| byte.saturating_add((*offset).into()).min(self.resource.size);
                Some(ResourcePart::Bytes(at(first), at(end)))
            }
            ResourcePart::Texels(_) => None,
        });
        Entry { part, ..self.clone() }
    }
}

/// A resource, and the part of it that a descriptor refers to.
type DescribedPart = (Arc<Resource>, Option<ResourcePart>);

impl Set {
    /// Creates an empty set of a pool.
    pub(crate) fn new(pool: vk::DescriptorPool, layout: Option<Arc<SetLayout>>) -> Set {
        Set {
            pool,
            layout,
            ..Set::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a descriptor, or removes it if `resource` is `None`: the layer does not know the resource that the new descriptor refers to.
    fn put(&self, binding: u32, element: u32, kind: vk::DescriptorType, resource: Option<DescribedPart>) {
        if resource.is_none() && self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut entries = self.lock();
        match resource {
            Some((resource, part)) => {
                let entry = Entry {
                    binding,
                    element,
                    kind,
                    resource,
                    part,
                };
                entries.insert((binding, element), entry);
            }
            None => _ = entries.remove(&(binding, element)),
        }
        self.count.store(entries.len(), Ordering::Relaxed);
    }

    /// Writes a descriptor.
    pub(crate) fn write(
        &self,
        resources: &Resources,
        (binding, element, kind, source): WrittenDescriptor<'_>,
    ) {
        let resource = source.and_then(|source| described(resources, kind, source));
        self.put(binding, element, kind, resource);
    }

    /// Calls `access` for at most [`MAX_ELEMENTS`] descriptors of a binding. Returns `false` if the binding has more.
    pub(crate) fn for_each_at(&self, binding: u32, access: impl FnMut(&Entry)) -> bool {
        if self.count.load(Ordering::Relaxed) == 0 {
            return true;
        }
        let entries = self.lock();
        let mut all = entries
            .range((binding, 0)..=(binding, u32::MAX))
            .map(|(_, entry)| entry);
        all.by_ref().take(MAX_ELEMENTS).for_each(access);
        all.next().is_none()
    }

    /// The only descriptor of a binding, if it is certainly used in its current state: it has no dynamic offset, and cannot change.
    pub(crate) fn only_at(&self, binding: u32) -> Option<Entry> {
        let layout = self.layout.as_ref()?.binding(binding)?;
        if layout.flags.intersects(UNCERTAIN) {
            return None;
        }
        let entries = self.lock();
        let mut all = entries.range((binding, 0)..=(binding, u32::MAX));
        let (_, entry) = all.next().filter(|_| all.next().is_none())?;
        (entry.element == 0 && !entry.is_dynamic()).then(|| entry.clone())
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
        let all = from.lock();
        let entries: Vec<Option<Entry>> = sources.iter().map(|place| all.get(place).cloned()).collect();
        drop(all);
        let targets = places(self, copy.dst_binding, copy.dst_array_element);
        for ((binding, element), source) in targets.into_iter().zip(entries) {
            let kind = source
                .as_ref()
                .map_or(vk::DescriptorType::SAMPLER, |entry| entry.kind);
            self.put(
                binding,
                element,
                kind,
                source.map(|entry| (entry.resource, entry.part)),
            );
        }
    }
}

/// The resource that a written descriptor refers to, and the part of it; `None` if the layer does not know the
/// resource.
fn described(resources: &Resources, kind: vk::DescriptorType, source: Source<'_>) -> Option<DescribedPart> {
    Some(match source {
        Source::Image(info) => {
            let view = resources.image_views.get(info.image_view.as_raw())?;
            (view.resource.clone(), Some(view.part))
        }
        Source::Buffer(info) => {
            let buffer = resources.buffers.get(info.buffer.as_raw())?;
            if is_dynamic(kind) && buffer.is_logged() {
                resources.write_dynamic();
            }
            let part = buffer.bytes(info.offset, info.range);
            (buffer, Some(part))
        }
        Source::Texels(view) => {
            let view = resources.buffer_views.get(view.as_raw())?;
            (view.resource.clone(), Some(view.part))
        }
    })
}

/// Returns true if descriptors of a type take a dynamic offset when their set is bound.
fn is_dynamic(kind: vk::DescriptorType) -> bool {
    use vk::DescriptorType as T;
    matches!(kind, T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC)
}

impl Descriptors {
    /// The descriptors that a shader stage accesses, by its entry point in a module or in inline code; `None` if the code is unknown or cannot be
    /// parsed.
    fn of_stage(&self, stage: &vk::PipelineShaderStageCreateInfo<'_>) -> Option<ShaderAccesses> {
        let name = text!(stage.p_name);
        if let Some(known) = self.modules.get(stage.module.as_raw()) {
            return known.accesses(stage.stage, &name);
        }
        let inline = chained!(stage.p_next => vk::ShaderModuleCreateInfo<'_>)?;
        let words = array!(inline.p_code, (inline.code_size / 4) as u32);
        self.codes.get(words).accesses(stage.stage, &name)
    }

    /// Registers the descriptors that the stages of a new pipeline access, including those of the libraries that it is
    /// linked from.
    pub(crate) fn remember_pipeline(
        &self,
        pipeline: vk::Pipeline,
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
        flags: vk::PipelineCreateFlags,
        p_next: *const c_void,
    ) {
        if pipeline == vk::Pipeline::null() {
            return;
        }
        let mut shaders = PipelineShaders::default();
        for stage in stages {
            shaders.add(self.of_stage(stage));
        }
        let flags2 = chained!(p_next => vk::PipelineCreateFlags2CreateInfoKHR<'_>);
        if flags.contains(vk::PipelineCreateFlags::DISPATCH_BASE)
            || flags2.is_some_and(|info| info.flags.contains(vk::PipelineCreateFlags2KHR::DISPATCH_BASE))
        {
            shaders.dispatch_from_anywhere();
        }
        if let Some(libraries) = chained!(p_next => vk::PipelineLibraryCreateInfoKHR<'_>) {
            for library in array!(libraries.p_libraries, libraries.library_count) {
                shaders.link(self.pipelines.get(library.as_raw()).as_deref());
            }
        }
        if shaders.push_constants().next().is_some() {
            self.compares_push_constants.store(true, Ordering::Relaxed);
        }
        self.pipelines.insert(pipeline.as_raw(), Arc::new(shaders));
    }

    /// Returns `true` if guards of some pipeline compare push constants; otherwise push constants need not be recorded.
    #[inline]
    pub(crate) fn compares_push_constants(&self) -> bool {
        self.compares_push_constants.load(Ordering::Relaxed)
    }

    /// Registers the vertex buffers that a new graphics pipeline reads, according to its own vertex input state or to
    /// that of a library.
    pub(crate) fn remember_vertex_input(
        &self,
        pipeline: vk::Pipeline,
        info: &vk::GraphicsPipelineCreateInfo<'_>,
    ) {
        if pipeline == vk::Pipeline::null() {
            return;
        }
        let shader = shader_stages(info)
            .iter()
            .find(|stage| stage.stage == vk::ShaderStageFlags::VERTEX);
        let code = shader.and_then(|stage| self.modules.get(stage.module.as_raw()));
        let none = HashSet::new();
        let read = code.as_ref().map_or(&none, |code| code.loaded_locations());
        let input = VertexInput::of_pipeline(info, read);
        let input = input.map(Arc::new).or_else(|| {
            let libraries = chained!(info.p_next => vk::PipelineLibraryCreateInfoKHR<'_>)?;
            let libraries = array!(libraries.p_libraries, libraries.library_count);
            libraries
                .iter()
                .find_map(|library| self.vertex_inputs.get(library.as_raw()))
        });
        if let Some(input) = input {
            self.vertex_inputs.insert(pipeline.as_raw(), input);
        }
    }
}
