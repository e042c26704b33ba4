//! Which tile resources descriptor sets hold, and which descriptors pipelines access.
//!
//! Tracked: sets written by updates, copies and templates, and pushed descriptors. Not tracked, and so never reported:
//! descriptor buffers, shader objects, buffer device addresses.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::arrays::elements;
use tileheap_layer::chain::find;
use tileheap_layer::sharded::Sharded;

use super::resources::{Resource, Resources};
use super::shaders::{self, DescriptorAccess};

/// The shader modules, pipelines, descriptor sets and update templates of a device, by handle.
#[derive(Default)]
pub(crate) struct Descriptors {
    /// The descriptors that shader modules and pipelines access.
    pub(crate) modules: Sharded<Arc<Vec<DescriptorAccess>>>,
    pub(crate) pipelines: Sharded<Arc<Vec<DescriptorAccess>>>,
    pub(crate) sets: Sharded<Arc<Set>>,
    pub(crate) templates: Sharded<Arc<Template>>,
}

/// A descriptor set, or the descriptors pushed to a command buffer.
#[derive(Default)]
pub(crate) struct Set {
    pub(crate) pool: vk::DescriptorPool,
    /// The number of entries: most sets have none, and are skipped without the lock.
    count: AtomicUsize,
    entries: Mutex<Vec<Entry>>,
}

/// An update template.
pub(crate) struct Template {
    pub(crate) entries: Vec<vk::DescriptorUpdateTemplateEntry>,
    /// The bind point of pushed descriptors; unused for sets.
    pub(crate) point: vk::PipelineBindPoint,
}

/// A descriptor of a tile resource.
#[derive(Clone)]
pub(crate) struct Entry {
    binding: u32,
    element: u32,
    pub(crate) kind: vk::DescriptorType,
    pub(crate) resource: Arc<Resource>,
}

impl Set {
    /// An empty set of a pool.
    pub(crate) fn new(pool: vk::DescriptorPool) -> Set {
        Set {
            pool,
            ..Set::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes one descriptor: a tile resource, or something else.
    fn put(&self, binding: u32, element: u32, kind: vk::DescriptorType, resource: Option<Arc<Resource>>) {
        if resource.is_none() && self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut entries = self.lock();
        entries.retain(|entry| (entry.binding, entry.element) != (binding, element));
        entries.extend(resource.map(|resource| Entry {
            binding,
            element,
            kind,
            resource,
        }));
        self.count.store(entries.len(), Ordering::Relaxed);
    }

    /// Writes what `vkUpdateDescriptorSets` does.
    ///
    /// # Safety
    /// `write` is valid.
    pub(crate) unsafe fn write(&self, resources: &Resources, write: &vk::WriteDescriptorSet<'_>) {
        for index in 0..write.descriptor_count {
            let source = match source_of(write.descriptor_type) {
                // SAFETY: The caller's promise: so many of the kind that the type says; so below.
                Source::Image => unsafe {
                    image_of(resources, write.p_image_info.wrapping_add(index as usize))
                },
                // SAFETY: As above.
                Source::Buffer => unsafe {
                    buffer_of(resources, write.p_buffer_info.wrapping_add(index as usize))
                },
                // SAFETY: As above.
                Source::Texels => unsafe {
                    texels_of(resources, write.p_texel_buffer_view.wrapping_add(index as usize))
                },
                Source::Other => return,
            };
            self.put(
                write.dst_binding,
                write.dst_array_element + index,
                write.descriptor_type,
                source,
            );
        }
    }

    /// Writes what an update template does.
    ///
    /// # Safety
    /// `data` is what the template was made for.
    pub(crate) unsafe fn write_by_template(
        &self,
        resources: &Resources,
        template: &Template,
        data: *const c_void,
    ) {
        for entry in &template.entries {
            for index in 0..entry.descriptor_count {
                let at = data.wrapping_byte_add(entry.offset + index as usize * entry.stride);
                let source = match source_of(entry.descriptor_type) {
                    // SAFETY: The caller's promise: what the type says; so below.
                    Source::Image => unsafe { image_of(resources, at.cast()) },
                    // SAFETY: As above.
                    Source::Buffer => unsafe { buffer_of(resources, at.cast()) },
                    // SAFETY: As above.
                    Source::Texels => unsafe { texels_of(resources, at.cast()) },
                    Source::Other => break,
                };
                self.put(
                    entry.dst_binding,
                    entry.dst_array_element + index,
                    entry.descriptor_type,
                    source,
                );
            }
        }
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
        let (first, count) = (copy.src_array_element, copy.descriptor_count);
        let moved: Vec<_> = from
            .lock()
            .iter()
            .filter(|entry| {
                entry.binding == copy.src_binding && (first..first + count).contains(&entry.element)
            })
            .cloned()
            .collect();
        for index in 0..count {
            let source = moved.iter().find(|entry| entry.element == first + index);
            let kind = source.map_or(vk::DescriptorType::SAMPLER, |entry| entry.kind);
            let resource = source.map(|entry| entry.resource.clone());
            self.put(copy.dst_binding, copy.dst_array_element + index, kind, resource);
        }
    }
}

enum Source {
    Image,
    Buffer,
    Texels,
    Other,
}

fn source_of(kind: vk::DescriptorType) -> Source {
    use vk::DescriptorType as T;
    match kind {
        T::COMBINED_IMAGE_SAMPLER | T::SAMPLED_IMAGE | T::STORAGE_IMAGE | T::INPUT_ATTACHMENT => {
            Source::Image
        }
        T::UNIFORM_BUFFER | T::STORAGE_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC => {
            Source::Buffer
        }
        T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => Source::Texels,
        _ => Source::Other,
    }
}

/// # Safety
/// `info` is null or valid; so below.
unsafe fn image_of(resources: &Resources, info: *const vk::DescriptorImageInfo) -> Option<Arc<Resource>> {
    // SAFETY: The caller's promise.
    let view = unsafe { info.as_ref() }?.image_view;
    resources.image_views.get(view.as_raw())
}

/// # Safety
/// As [`image_of`].
unsafe fn buffer_of(resources: &Resources, info: *const vk::DescriptorBufferInfo) -> Option<Arc<Resource>> {
    // SAFETY: The caller's promise.
    let buffer = unsafe { info.as_ref() }?.buffer;
    resources.buffers.get(buffer.as_raw())
}

/// # Safety
/// As [`image_of`].
unsafe fn texels_of(resources: &Resources, view: *const vk::BufferView) -> Option<Arc<Resource>> {
    // SAFETY: The caller's promise.
    let view = unsafe { view.as_ref() }?;
    resources.buffer_views.get(view.as_raw())
}

/// Whether shaders can only read descriptors of a type.
pub(crate) fn is_read_only(kind: vk::DescriptorType) -> bool {
    use vk::DescriptorType as T;
    !matches!(
        kind,
        T::STORAGE_IMAGE | T::STORAGE_BUFFER | T::STORAGE_BUFFER_DYNAMIC | T::STORAGE_TEXEL_BUFFER
    )
}

impl Descriptors {
    /// The descriptors that a shader stage accesses, by its module or its inline code.
    ///
    /// # Safety
    /// `stage` is valid.
    unsafe fn of_stage(&self, stage: &vk::PipelineShaderStageCreateInfo<'_>) -> Vec<DescriptorAccess> {
        if let Some(known) = self.modules.get(stage.module.as_raw()) {
            return known.to_vec();
        }
        // SAFETY: The caller's promise.
        let inline = unsafe { find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) };
        inline.map_or_else(Vec::new, |info| {
            // SAFETY: As above; the size is a multiple of 4.
            shaders::accesses(unsafe { elements(info.p_code, (info.code_size / 4) as u32) })
        })
    }

    /// Remembers the descriptors that a new pipeline's stages, and the libraries it is linked from, access.
    ///
    /// # Safety
    /// `stages` and the chain are valid.
    pub(crate) unsafe fn remember_pipeline(
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
            // SAFETY: The caller's promise.
            let stage = unsafe { self.of_stage(stage) };
            for access in stage {
                let same = all
                    .iter_mut()
                    .find(|known| (known.set, known.binding) == (access.set, access.binding));
                match same {
                    Some(known) => known.only_read &= access.only_read,
                    None => all.push(access),
                }
            }
        }
        // SAFETY: The caller's promise.
        if let Some(libraries) = unsafe { find::<vk::PipelineLibraryCreateInfoKHR<'_>>(p_next) } {
            // SAFETY: The caller's promise.
            for library in unsafe { elements(libraries.p_libraries, libraries.library_count) } {
                let known = self.pipelines.get(library.as_raw());
                all.extend(known.iter().flat_map(|known| known.iter().copied()));
            }
        }
        self.pipelines.insert(pipeline.as_raw(), Arc::new(all));
    }
}
