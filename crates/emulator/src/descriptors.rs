//! Which tile resources descriptor sets hold, which sets and pipelines are bound, and so what a draw or dispatch reaches.
//!
//! Followed: sets written by updates, copies and templates, and pushed descriptors. Not followed, and so never reported:
//! descriptor buffers, shader objects, buffer device addresses.

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
use crate::sharded::{GOLDEN, spread};

/// A descriptor set, or the descriptors pushed to a command buffer.
#[derive(Default)]
pub(crate) struct Set {
    pub(crate) pool: vk::DescriptorPool,
    /// How many entries there are: most sets have none, and are passed over without the lock.
    count: AtomicUsize,
    entries: Mutex<Vec<Entry>>,
}

/// An update template.
pub(crate) struct Template {
    pub(crate) entries: Vec<vk::DescriptorUpdateTemplateEntry>,
    /// Where its descriptors are pushed to; of no meaning for sets.
    pub(crate) point: vk::PipelineBindPoint,
}

/// A descriptor of a tile resource.
#[derive(Clone)]
struct Entry {
    binding: u32,
    element: u32,
    kind: vk::DescriptorType,
    resource: Arc<Resource>,
}

/// The sets and the pipeline of each bind point, by handle: what they are is looked up where something reaches them.
#[derive(Default)]
pub(crate) struct BoundSets {
    points: [Point; 3],
    pushes: u64,
}

#[derive(Default)]
struct Point {
    pipeline: u64,
    /// Handles, and the complements of the numbers of pushes; 0 for what is not known.
    sets: [u64; SETS],
    /// The pipeline and the sets as one number.
    key: u64,
    /// Keys, and what else mattered, of draws or dispatches that were checked: the same again has nothing new to say.
    checked: [[u64; 2]; CHECKED],
    /// The command buffer's own sets, by what stands for them above.
    pushed: Vec<(u64, Set)>,
}

/// More sets than any driver binds at once (`maxBoundDescriptorSets` is 32 at most); what lies above is not followed.
const SETS: usize = 32;

/// Half of how many pipelines and sets can take turns and be checked once.
const CHECKED: usize = 8;

impl Point {
    #[inline]
    fn put(&mut self, index: usize, set: u64) {
        if let Some(slot) = self.sets.get_mut(index) {
            let salt = 2 * index as u64 + 1;
            self.key ^= spread(*slot ^ salt) ^ spread(set ^ salt);
            *slot = set;
        }
    }

    /// Whether nothing was said yet of the pipeline and the sets with `state`, which counts what else matters.
    #[inline]
    fn is_news(&mut self, state: u64) -> bool {
        // Each bit of both reaches the highest, by which pairs are told apart.
        let key = (self.key ^ state).wrapping_mul(GOLDEN);
        let pair = &mut self.checked[(key >> (u64::BITS - CHECKED.ilog2())) as usize];
        if pair.contains(&key) {
            return false;
        }
        *pair = [key, pair[0]];
        true
    }
}

/// The place of a bind point, if it is one whose descriptors are followed.
#[inline]
fn place_of(point: vk::PipelineBindPoint) -> Option<usize> {
    match point {
        vk::PipelineBindPoint::GRAPHICS => Some(0),
        vk::PipelineBindPoint::COMPUTE => Some(1),
        vk::PipelineBindPoint::RAY_TRACING_KHR => Some(2),
        _ => None,
    }
}

#[inline]
fn place_of_reach(reach: Reach) -> usize {
    match reach {
        Reach::Draw => 0,
        Reach::Dispatch => 1,
        _ => 2,
    }
}

impl BoundSets {
    /// Binds a pipeline.
    #[inline]
    pub(crate) fn bind_pipeline(&mut self, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
        if let Some(place) = place_of(point) {
            let point = &mut self.points[place];
            point.key ^= spread(point.pipeline) ^ spread(pipeline.as_raw());
            point.pipeline = pipeline.as_raw();
        }
    }

    /// Binds sets from an index on.
    #[inline]
    pub(crate) fn bind_sets(
        &mut self,
        point: vk::PipelineBindPoint,
        first: u32,
        sets: impl Iterator<Item = vk::DescriptorSet>,
    ) {
        if let Some(place) = place_of(point) {
            let point = &mut self.points[place];
            for (index, set) in (first as usize..).zip(sets) {
                point.put(index, set.as_raw());
            }
        }
    }

    /// Changes descriptors of a set of the command buffer's own; the others stay.
    pub(crate) fn push(&mut self, point: vk::PipelineBindPoint, index: u32, write: impl FnOnce(&Set)) {
        let Some(place) = place_of(point) else { return };
        self.pushes += 1;
        let (point, number) = (&mut self.points[place], !self.pushes);
        let before = point.sets.get(index as usize).copied().unwrap_or_default();
        let known = point.pushed.iter().position(|(number, _)| *number == before);
        let set = known.map_or_else(Set::default, |at| point.pushed.swap_remove(at).1);
        write(&set);
        point.put(index as usize, number);
        point.pushed.retain(|(number, _)| point.sets.contains(number));
        point.pushed.push((number, set));
    }

    /// Whether a draw or dispatch with `state`, which counts what else matters, is another than those before.
    #[inline]
    pub(crate) fn is_news(&mut self, reach: Reach, state: u64) -> bool {
        self.points[place_of_reach(reach)].is_news(state)
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
        template: &Template,
        data: *const std::ffi::c_void,
    ) {
        for entry in &template.entries {
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

/// What a draw or dispatch reaches: the rules, and what it reads and may write. Once in a recording, since a set does not
/// change while a command buffer uses it.
pub(crate) fn check(device: &Device, recording: &mut Recording, reach: Reach, command: &str) -> Vec<Finding> {
    let point = &recording.sets.points[place_of_reach(reach)];
    let mut rules = Rules {
        bound: recording.bound,
        contents: &mut recording.contents,
        said: &mut recording.said,
        command,
        findings: Vec::new(),
    };
    let pipeline = device.resources.pipelines.get(point.pipeline);
    for reached in pipeline.iter().flat_map(|all| all.iter()) {
        let Some(handle) = point.sets.get(reached.set as usize) else {
            continue;
        };
        if let Some((_, set)) = point.pushed.iter().find(|(number, _)| number == handle) {
            rules.access_set(reached, set);
        } else if let Some(set) = device.resources.sets.get(*handle) {
            rules.access_set(reached, &set);
        }
    }
    rules.findings
}

/// What an access is judged by, and what it changes.
struct Rules<'a> {
    bound: Option<Bound>,
    contents: &'a mut Contents,
    said: &'a mut Said,
    command: &'a str,
    findings: Vec<Finding>,
}

impl Rules<'_> {
    fn access_set(&mut self, reached: &Reached, set: &Set) {
        if set.count.load(Ordering::Relaxed) > 0 {
            for entry in set.lock().iter().filter(|entry| entry.binding == reached.binding) {
                self.access(reached, entry);
            }
        }
    }

    fn access(&mut self, reached: &Reached, entry: &Entry) {
        let Some(place) = entry.resource.place.get() else {
            return;
        };
        let wrong = Recorder::check_object(self.bound, &entry.resource, self.command, MessageId::WrongObject);
        let is_wrong = wrong.is_some();
        if let Some(finding) = wrong {
            self.find(finding);
        }
        if !reached.only_read && !is_only_read(entry.kind) {
            self.contents.write(place);
        } else if !is_wrong
            && !entry.resource.addressable
            && let Some(finding) = self.contents.read(&entry.resource, place)
        {
            self.find(finding);
        }
    }

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
