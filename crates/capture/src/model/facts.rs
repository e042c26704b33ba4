//! Builds the `capture` object of a captured frame's document: facts about the frame that its description does not contain.

use std::collections::{BTreeMap, HashMap};

use ash::vk;
use tileheap::frame::Frame;
use tileheap::units::Bytes;

use super::build::{DescribedFrame, Entry, Origin, resources_of};
use super::contents::{ComparedFrame, WhyWasted};
use super::flatten::Pass;
use super::infer::Inference;
use super::objects::{Image, Resource};
use super::recorded::recording;
use super::submits::Submits;
use super::timeline::{AttachmentLoadsAndStores, ComparedFrames, moved_bytes};
use crate::document::{
    AccessedBytes, AttachmentOperation, Capture, PassFacts, ResourceFacts, UnresolvedAccesses,
    UnresolvedKind, VERSION, WastedOperation,
};

/// The usages as an attachment. Only render passes can read the contents of an image that has no other usage.
const ATTACHMENTS: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::INPUT_ATTACHMENT.as_raw(),
);

impl DescribedFrame<'_> {
    pub(super) fn capture(&self, frames: ComparedFrames<'_>, origin: &Origin, built: &Frame) -> Capture {
        let frame = frames.captured;
        let version = origin.api_version;
        let bytes = |access: &tileheap::frame::tables::Access| {
            let size = Bytes(self.entries[access.resource.index()].resource.size());
            built.traffic_of(access, size).0
        };
        let numbers = [
            vk::api_version_major,
            vk::api_version_minor,
            vk::api_version_patch,
        ]
        .map(|of| of(version).to_string());
        Capture {
            version: VERSION,
            program: origin.program.clone(),
            device: origin.device.clone(),
            api_version: numbers.join("."),
            frame: frame.number,
            border: origin.boundary,
            choice: origin.choice.clone(),
            compared: frames.next.is_some(),
            wasted: self.wasted(frames, origin),
            passes: self.pass_facts(frame, origin.timestamp_period),
            resources: self
                .entries
                .iter()
                .zip(&self.found)
                .map(|(entry, found)| self.resource_facts(frames, origin, entry, found))
                .collect(),
            followed_bytes: built.accesses().iter().map(bytes).sum(),
            unresolved: self.unresolved(frame, origin),
            recording: recording(frame, origin.granularity, origin.has_maintenance9),
        }
    }

    fn unresolved(&self, frame: &Submits, origin: &Origin) -> Vec<UnresolvedAccesses> {
        let mut all: BTreeMap<UnresolvedKind, (UnresolvedAccesses, HashMap<usize, u64>)> = BTreeMap::new();
        for (flat, first) in frame.flats().zip(&self.first_pass) {
            for (pass, missed) in &flat.unresolved {
                let (one, resources) = all.entry(missed.kind).or_default();
                (one.kind, one.count) = (missed.kind, one.count + 1);
                one.passes.extend(pass.map(|pass| (first + pass) as u32));
                one.passes.dedup();
                if one.first.is_empty() {
                    one.first.clone_from(&missed.what);
                }
                resources.extend(resources_of(missed, origin).map(|one| (one.key(), one.size())));
            }
        }
        let finish = |(kind, (one, resources)): (_, (UnresolvedAccesses, HashMap<usize, u64>))| {
            use UnresolvedKind as K;
            let is_limited = matches!(kind, K::DeviceAddress | K::BindlessArray | K::Shader);
            let bytes = is_limited.then(|| {
                resources
                    .values()
                    .fold(0, |sum: u64, size| sum.saturating_add(*size))
            });
            UnresolvedAccesses { bytes, ..one }
        };
        all.into_iter().map(finish).collect()
    }

    /// Returns facts about each pass, including the attachments that it loads from memory and those that it stores to memory.
    fn pass_facts(&self, frame: &Submits, period: f32) -> Vec<PassFacts> {
        let (mut all, mut instances) = (Vec::new(), 0);
        let commands = frame.batches().flat_map(|batch| &batch.commands);
        let flats = commands.filter_map(|one| Some((one.flat.as_ref()?, one.times.as_ref())));
        for (flat, times) in flats {
            let mut last = 0;
            for (number, pass) in flat.passes.iter().enumerate() {
                let mut facts = pass.facts.clone();
                let measured = times.zip(pass.timestamps);
                facts.nanoseconds = measured.and_then(|(times, ends)| times.between(ends, period));
                facts.accessed = self.accessed(pass);
                for access in &pass.accesses {
                    let ends = AttachmentLoadsAndStores::of(&flat.passes, number, access);
                    let resource = self.index[&access.resource.key()] as u32;
                    let loads = ends.loads && access.reads;
                    let stores =
                        ends.stores && access.writes && access.store == Some(vk::AttachmentStoreOp::STORE);
                    facts.loads.extend(loads.then_some(resource));
                    facts.stores.extend(stores.then_some(resource));
                }
                if let Some(instance) = pass.instance {
                    facts.instance = instances + instance as u32;
                    last = last.max(instance as u32);
                }
                all.push(facts);
            }
            instances += last;
        }
        all
    }

    /// Returns, for each buffer and image of which a pass accesses only a part (such as a range or a copied area), the most bytes that one access touches.
    fn accessed(&self, pass: &Pass) -> Vec<AccessedBytes> {
        // The largest number of bytes that one access touches; `None` if an access covers the whole resource.
        let mut all: BTreeMap<u32, Option<u64>> = BTreeMap::new();
        for access in &pass.accesses {
            let whole = match &access.resource {
                Resource::Buffer(_) => access.resource.size(),
                Resource::Image(_) => access.part_bytes(None),
            };
            let bytes = access.touched_bytes();
            let is_part = bytes < whole && !access.kind.is_attachment();
            let most = all
                .entry(self.index[&access.resource.key()] as u32)
                .or_insert(Some(0));
            *most = most.filter(|_| is_part).map(|most| most.max(bytes));
        }
        let parts = all.into_iter();
        parts
            .filter_map(|(resource, bytes)| {
                Some(AccessedBytes {
                    resource,
                    bytes: bytes?,
                })
            })
            .collect()
    }

    /// Returns the loads and stores of attachments whose results nothing reads. Excludes images that other processes or devices, the host, or accesses
    /// that were not followed may read, and assumptions about images with usages other than attachments. Also excludes presented images and results of the
    /// frame, except for loads of undefined contents.
    fn wasted(&self, frames: ComparedFrames<'_>, origin: &Origin) -> Vec<WastedOperation> {
        let others = Readers::of(frames, origin);
        let mut all = Vec::new();
        for (key, contents) in &self.contents {
            let Some(entry) = self.index.get(key) else {
                continue;
            };
            for one in &contents.wasted {
                let (number, position) = one.place;
                let (pass, access) = (self.passes[number], self.access(one.place));
                let Resource::Image(image) = &access.resource else {
                    continue;
                };
                let only_attached = ATTACHMENTS.contains(image.desc.usage);
                // Undefined contents are not a result of the frame, but a write that was not followed may have defined them.
                let is_undefined = one.why == WhyWasted::Undefined;
                let is_shown = image.swapchain || self.is_result(&self.entries[*entry]);
                let is_needed = others.may_use(&access.resource, image) || is_shown && !is_undefined;
                if is_needed || one.assumed && !only_attached {
                    continue;
                }
                debug_assert!(position < pass.accesses.len(), "an access of the captured frame");
                all.push(WastedOperation {
                    pass: number as u32,
                    resource: *entry as u32,
                    operation: if one.is_load {
                        AttachmentOperation::Load
                    } else {
                        AttachmentOperation::Store
                    },
                    bytes: moved_bytes(pass, access),
                    reason: self.why_wasted(one.why),
                    assumed: one.assumed,
                });
            }
        }
        all.sort_by_key(|one| (one.pass, one.resource, one.operation));
        all
    }

    fn why_wasted(&self, why: WhyWasted) -> String {
        match why {
            WhyWasted::Undefined => {
                "the loaded contents are undefined: a layout transition from UNDEFINED or STORE_OP_DONT_CARE \
                 discarded them"
                    .to_owned()
            }
            WhyWasted::Unread => "nothing reads what the pass renders to it".to_owned(),
            WhyWasted::Replaced(ComparedFrame::Next, pass) => {
                let by = self.next_names.get(pass);
                let by = by.map_or("the end".to_owned(), |name| format!("pass `{name}`"));
                format!("{by} of the next frame replaces the contents before anything reads them")
            }
            WhyWasted::Replaced(ComparedFrame::Repeated, pass) => format!(
                "nothing reads the contents in two frames, and pass `{}` does not load them",
                self.pass_names[pass]
            ),
            WhyWasted::Replaced(_, pass) => {
                let by = self.pass_names.get(pass);
                let by = by.map_or("the end of the frame".to_owned(), |name| format!("pass `{name}`"));
                format!("{by} replaces the contents before anything reads them")
            }
        }
    }

    fn resource_facts(
        &self,
        frames: ComparedFrames<'_>,
        origin: &Origin,
        entry: &Entry,
        found: &Inference,
    ) -> ResourceFacts {
        let mut facts = ResourceFacts {
            inferred: found.inferred,
            reason: found.reason.clone(),
            decided: found.decided,
            bytes: entry.resource.size(),
            memory: entry.resource.common().placement(),
            ..ResourceFacts::default()
        };
        if let Resource::Image(image) = &entry.resource {
            (facts.linear, facts.swapchain) = (image.linear, image.swapchain);
            let contents = self.contents.get(&entry.resource.key());
            let may_be_used = Readers::of(frames, origin).may_use(&entry.resource, image);
            let is_private = !may_be_used && !image.swapchain && !self.is_result(entry);
            let is_transient = image
                .desc
                .usage
                .contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
            facts.memoryless =
                contents.is_some_and(|contents| contents.memoryless) && is_private && !is_transient;
            let unused = image.desc.usage & !ATTACHMENTS;
            if facts.memoryless && !unused.is_empty() {
                facts.unused_usage = format!("{unused:?}");
            }
        }
        facts
    }
}

/// The images that unresolved accesses may refer to.
struct Readers {
    /// Keys of the images that unresolved accesses may refer to.
    unresolved: Vec<usize>,
    /// True if an unresolved access may refer to any image.
    any: bool,
}

impl Readers {
    fn of(frames: ComparedFrames<'_>, origin: &Origin) -> Readers {
        let all = [frames.before, Some(frames.captured), frames.next];
        let flats = all.into_iter().flatten().flat_map(Submits::flats);
        let mut readers = Readers {
            unresolved: Vec::new(),
            any: false,
        };
        for (_, missed) in flats.flat_map(|flat| &flat.unresolved) {
            // Addresses only refer to buffers.
            let is_anything = missed.resources.is_empty() && missed.kind != UnresolvedKind::DeviceAddress;
            readers.any |= is_anything;
            let keys = resources_of(missed, origin).map(Resource::key);
            readers.unresolved.extend(keys);
        }
        readers
    }

    /// Returns true if the image may be used by accesses that the frames do not show: those of the host, through shared or aliased memory, or that were
    /// not followed.
    fn may_use(&self, resource: &Resource, image: &Image) -> bool {
        let common = resource.common();
        let by_host = image.linear && common.is_mapped()
            || image.desc.usage.contains(vk::ImageUsageFlags::HOST_TRANSFER_EXT);
        let by_unresolved = self.any && !ATTACHMENTS.contains(image.desc.usage);
        common.is_shared()
            || by_host
            || by_unresolved
            || image.alias_group.is_some()
            || self.unresolved.contains(&resource.key())
    }
}

#[cfg(test)]
mod tests;
