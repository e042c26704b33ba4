//! Which tile resources descriptor sets hold, which sets and pipelines are bound, and so what a draw or dispatch reaches.
//!
//! Followed: sets written by updates, copies, templates and push descriptors. Not followed, and so never reported: descriptor
//! buffers, shader objects, buffer device addresses.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;

use crate::chain::elements;
use crate::contents::Contents;
use crate::device::Device;
use crate::hooks::actions::Reach;
use crate::messages::{Finding, MessageId};
use crate::recording::{Bound, Recorder, Recording, Said};
use crate::resources::Resource;
use crate::shaders::Reached;

/// A descriptor set, or the descriptors pushed to a command buffer.
#[derive(Default)]
pub(crate) struct Set {
    pub(crate) pool: vk::DescriptorPool,
    /// How many entries there are: most sets have none, and are passed over without the lock.
    count: AtomicUsize,
    entries: Mutex<Vec<Entry>>,
}

/// A descriptor of a tile resource.
#[derive(Clone)]
struct Entry {
    binding: u32,
    element: u32,
    kind: vk::DescriptorType,
    resource: Arc<Resource>,
}

/// The sets and the pipeline of each bind point.
#[derive(Default)]
pub(crate) struct BoundSets {
    points: [Point; 3],
}

#[derive(Default)]
struct Point {
    sets: Vec<Option<Arc<Set>>>,
    pipeline: Option<Arc<Vec<Reached>>>,
}

impl BoundSets {
    fn point(&mut self, point: vk::PipelineBindPoint) -> Option<&mut Point> {
        match point {
            vk::PipelineBindPoint::GRAPHICS => Some(&mut self.points[0]),
            vk::PipelineBindPoint::COMPUTE => Some(&mut self.points[1]),
            vk::PipelineBindPoint::RAY_TRACING_KHR => Some(&mut self.points[2]),
            _ => None,
        }
    }

    /// Binds a pipeline, or one of which nothing is known.
    pub(crate) fn bind_pipeline(&mut self, point: vk::PipelineBindPoint, reached: Option<Arc<Vec<Reached>>>) {
        if let Some(point) = self.point(point) {
            point.pipeline = reached;
        }
    }

    /// Something unknown is bound in the place of a set, at whichever bind point.
    pub(crate) fn forget_set(&mut self, index: usize) {
        for point in &mut self.points {
            if let Some(set) = point.sets.get_mut(index) {
                *set = None;
            }
        }
    }

    /// Binds a set.
    pub(crate) fn bind_set(&mut self, point: vk::PipelineBindPoint, index: usize, set: Option<Arc<Set>>) {
        if let Some(point) = self.point(point) {
            if point.sets.len() <= index {
                point.sets.resize_with(index + 1, || None);
            }
            point.sets[index] = set;
        }
    }
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
    pub(crate) unsafe fn write(&self, device: &Device, write: &vk::WriteDescriptorSet<'_>) {
        for index in 0..write.descriptor_count {
            let source = match source_of(write.descriptor_type) {
                // SAFETY: The caller's promise: so many of the kind that the type says; so below.
                Source::Image => unsafe { image_of(device, write.p_image_info.wrapping_add(index as usize)) },
                // SAFETY: As above.
                Source::Buffer => unsafe {
                    buffer_of(device, write.p_buffer_info.wrapping_add(index as usize))
                },
                // SAFETY: As above.
                Source::Texels => unsafe {
                    texels_of(device, write.p_texel_buffer_view.wrapping_add(index as usize))
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
        device: &Device,
        template: &[vk::DescriptorUpdateTemplateEntry],
        data: *const std::ffi::c_void,
    ) {
        for entry in template {
            for index in 0..entry.descriptor_count {
                let at = data.wrapping_byte_add(entry.offset + index as usize * entry.stride);
                let source = match source_of(entry.descriptor_type) {
                    // SAFETY: The caller's promise: what the type says; so below.
                    Source::Image => unsafe { image_of(device, at.cast()) },
                    // SAFETY: As above.
                    Source::Buffer => unsafe { buffer_of(device, at.cast()) },
                    // SAFETY: As above.
                    Source::Texels => unsafe { texels_of(device, at.cast()) },
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
unsafe fn image_of(device: &Device, info: *const vk::DescriptorImageInfo) -> Option<Arc<Resource>> {
    // SAFETY: The caller's promise.
    let view = unsafe { info.as_ref() }?.image_view;
    device.resources.image_views.get(view.as_raw())
}

/// # Safety
/// As [`image_of`].
unsafe fn buffer_of(device: &Device, info: *const vk::DescriptorBufferInfo) -> Option<Arc<Resource>> {
    // SAFETY: The caller's promise.
    let buffer = unsafe { info.as_ref() }?.buffer;
    device.resources.buffers.get(buffer.as_raw())
}

/// # Safety
/// As [`image_of`].
unsafe fn texels_of(device: &Device, view: *const vk::BufferView) -> Option<Arc<Resource>> {
    // SAFETY: The caller's promise.
    let view = unsafe { view.as_ref() }?;
    device.resources.buffer_views.get(view.as_raw())
}

fn is_only_read(kind: vk::DescriptorType) -> bool {
    use vk::DescriptorType as T;
    !matches!(
        kind,
        T::STORAGE_IMAGE | T::STORAGE_BUFFER | T::STORAGE_BUFFER_DYNAMIC | T::STORAGE_TEXEL_BUFFER
    )
}

/// What a draw or dispatch reaches: the rules, and what it reads and may write.
pub(crate) fn check(recording: &mut Recording, reach: Reach, command: &str, findings: &mut Vec<Finding>) {
    let point = match reach {
        Reach::Draw => 0,
        Reach::Dispatch => 1,
        _ => 2,
    };
    let Recording {
        bound,
        contents,
        sets,
        said,
        ..
    } = recording;
    let this = &sets.points[point];
    let Some(pipeline) = &this.pipeline else { return };
    let mut rules = Rules {
        bound: *bound,
        contents,
        said,
        command,
        findings,
    };
    for reached in pipeline.iter() {
        let set = this.sets.get(reached.set as usize).and_then(Option::as_ref);
        let Some(set) = set.filter(|set| set.count.load(Ordering::Relaxed) > 0) else {
            continue;
        };
        for entry in set.lock().iter().filter(|entry| entry.binding == reached.binding) {
            rules.access(reached, entry);
        }
    }
}

/// What an access is judged by, and what it changes.
struct Rules<'a> {
    bound: Option<Bound>,
    contents: &'a mut Contents,
    said: &'a mut Said,
    command: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl Rules<'_> {
    #[inline]
    fn access(&mut self, reached: &Reached, entry: &Entry) {
        let Some(place) = entry.resource.place.get() else {
            return;
        };
        if let Some(finding) =
            Recorder::check_object(self.bound, &entry.resource, self.command, MessageId::WrongObject)
        {
            self.find(finding);
        }
        if !reached.only_read && !is_only_read(entry.kind) {
            self.contents.write(place);
        } else if !entry.resource.addressable
            && let Some(finding) = self.contents.read(&entry.resource, place)
        {
            self.find(finding);
        }
    }

    #[cold]
    fn find(&mut self, finding: Finding) {
        if self.said.is_news(&finding) {
            self.findings.push(finding);
        }
    }
}

/// What a shader stage reaches, by its module or by the words that it brings itself.
///
/// # Safety
/// `stage` is valid.
pub(crate) unsafe fn stage_reaches(
    device: &Device,
    stage: &vk::PipelineShaderStageCreateInfo<'_>,
) -> Vec<Reached> {
    if let Some(known) = device.resources.modules.get(stage.module.as_raw()) {
        return known.to_vec();
    }
    // SAFETY: The caller's promise.
    let inline = unsafe { crate::chain::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) };
    inline.map_or_else(Vec::new, |info| {
        // SAFETY: As above; the size is a multiple of 4.
        crate::shaders::reached(unsafe { elements(info.p_code, (info.code_size / 4) as u32) })
    })
}
