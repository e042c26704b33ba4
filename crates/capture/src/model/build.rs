//! Builds the document of a frame from its submits.

use std::collections::{BTreeMap, HashMap};

use ash::vk;
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::tables::{CommandSource, ResourceKind, ViewDesc};
use tileheap::frame::{
    AccessKind, BufferDesc, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId,
    valid_usage,
};

use super::access::{Coverage, FollowedAccess};
use super::contents::{FollowedContents, NextUse};
use super::flatten::{Flat, Pass};
use super::infer::{Inference, NextPass, ResourceUse, infer};
use super::objects::Resource;
use super::resource_table::ResourceTable;
use super::submits::{FirstUse, Links, Names, Submits, alternating};
use super::timeline::{Cells, ComparedFrames, follow};
use crate::document::recording::{AffectedMemory, CommandEffect};
use crate::document::{
    FIELD, FrameBoundary, FrameChoice, InferredLifetime, LifetimeEvidence, UnresolvedKind,
};

/// Information that does not follow from the submits.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) program: String,
    pub(crate) device: String,
    pub(crate) api_version: u32,
    pub(crate) boundary: FrameBoundary,
    pub(crate) choice: Option<FrameChoice>,
    /// All buffers with device addresses.
    pub(crate) addressed: Vec<Resource>,
    /// `bufferImageGranularity`.
    pub(crate) granularity: u64,
    /// True if the device has the feature `maintenance9`.
    pub(crate) has_maintenance9: bool,
    /// `timestampPeriod`, in nanoseconds.
    pub(crate) timestamp_period: f32,
}

/// A resource of the frame, with its uses: for each, the pass and the position of the access in that pass.
pub(super) struct Entry {
    pub(super) resource: Resource,
    name: String,
    uses: Vec<(usize, usize)>,
    /// The layouts of an image at the start and at the end of the frame; `None` if the frame does not show them.
    layouts: Option<(vk::ImageLayout, vk::ImageLayout)>,
    /// The reason why accesses to the resource cannot be followed; `None` if they can be.
    unresolved_reason: Option<&'static str>,
}

/// Returns the document of a frame, as text, after comparing the frame with the frames around it. All of these frames must be flattened.
///
/// # Errors
/// If the frame violates a rule of frame descriptions, a message about it.
pub(crate) fn document(frames: ComparedFrames<'_>, origin: &Origin) -> Result<String, String> {
    let frame = frames.captured;
    let described = DescribedFrame::of(frames, origin);
    let built = described.build(frame, origin, false).or_else(|error| {
        // Work on several queues that the host orders, which a frame cannot express.
        described.build(frame, origin, true).map_err(|_| error)
    });
    let built = built.map_err(|error| format!("frame {} was not written: {error}", frame.number))?;
    let capture = serde_json::to_string(&described.capture(frames, origin, &built));
    let capture = capture.map_err(|error| error.to_string())?;
    let text = built.to_json();
    let body = text.trim_end().strip_suffix('}').unwrap_or_default().trim_end();
    Ok(format!("{body},\n  \"{FIELD}\": {capture}\n}}\n"))
}

/// A frame with its resources and passes in order.
#[derive(Default)]
pub(super) struct DescribedFrame<'a> {
    pub(super) entries: Vec<Entry>,
    pub(super) index: HashMap<usize, usize>,
    /// The key of the written resource of each pair of alternating resources, by the key of the read one.
    alternates: BTreeMap<usize, usize>,
    pub(super) passes: Vec<&'a Pass>,
    pub(super) pass_names: Vec<String>,
    /// For each command buffer, the index of its first pass.
    pub(super) first_pass: Vec<usize>,
    pub(super) found: Vec<Inference>,
    /// True if the frame uses an image of a swapchain.
    presents: bool,
    /// The fate of the contents of each resource, by key.
    pub(super) contents: HashMap<usize, FollowedContents>,
    /// The names of the next frame's passes.
    pub(super) next_names: Vec<String>,
}

impl<'a> DescribedFrame<'a> {
    fn of(frames: ComparedFrames<'a>, origin: &Origin) -> DescribedFrame<'a> {
        let frame = frames.captured;
        let before = &frames.before.map_or_else(HashMap::new, Submits::first_uses);
        let mut all = DescribedFrame {
            alternates: find_alternating(frames),
            contents: follow(frames),
            pass_names: names_of_passes(frame),
            next_names: frames.next.map_or_else(Vec::new, names_of_passes),
            ..DescribedFrame::default()
        };
        let mut names = Names::default();
        for flat in frame.flats() {
            all.first_pass.push(all.passes.len());
            for pass in &flat.passes {
                let number = all.passes.len();
                for (position, access) in pass.accesses.iter().enumerate() {
                    let entry = all.entry(&access.resource, &mut names);
                    all.entries[entry].uses.push((number, position));
                }
                all.passes.push(pass);
            }
            all.follow_layouts(flat, &frame.resources);
        }
        // Accesses in the next frame must be known too.
        let missed = frame
            .flats()
            .chain(frames.next.into_iter().flat_map(Submits::flats));
        for (_, missed) in missed.flat_map(|flat| &flat.unresolved) {
            for resource in resources_of(missed, origin) {
                if let Some(entry) = all.index.get(&resource.key()) {
                    all.entries[*entry].unresolved_reason = Some(missed.kind.words());
                }
            }
        }
        all.presents = all.entries.iter().any(|entry| is_presented(&entry.resource));
        all.found = all.entries.iter().map(|entry| all.infer(entry, before)).collect();
        all
    }

    /// Returns the index of a resource's entry, adding the entry if needed. Alternating resources share the entry of the written one.
    fn entry(&mut self, resource: &Resource, names: &mut Names) -> usize {
        let key = self
            .alternates
            .get(&resource.key())
            .copied()
            .unwrap_or(resource.key());
        let entry = *self.index.entry(key).or_insert_with(|| {
            let kind = match resource {
                Resource::Image(image) if image.swapchain => "swapchain image",
                Resource::Image(_) => "image",
                Resource::Buffer(_) => "buffer",
            };
            let common = resource.common();
            self.entries.push(Entry {
                resource: resource.clone(),
                name: names.unique(&common.name(), || format!("{kind} {}", common.number)),
                uses: Vec::new(),
                layouts: None,
                unresolved_reason: None,
            });
            self.entries.len() - 1
        });
        self.index.insert(resource.key(), entry);
        entry
    }

    fn follow_layouts(&mut self, flat: &Flat, resources: &ResourceTable) {
        let mut saw = |resource: u32, before: vk::ImageLayout, after: vk::ImageLayout| {
            let key = resources.get(resource).key();
            if let Some(entry) = self.index.get(&key) {
                self.entries[*entry].layouts.get_or_insert((before, after)).1 = after;
            }
        };
        for command in &flat.commands {
            match &command.action {
                CommandEffect::Barrier(all)
                | CommandEffect::WaitEvents {
                    dependencies: all, ..
                } => {
                    for one in all {
                        if let AffectedMemory::Image {
                            resource, old, new, ..
                        } = &one.memory
                        {
                            saw(*resource, *old, *new);
                        }
                    }
                }
                CommandEffect::Begin(instance) => {
                    for one in &instance.attachments {
                        saw(one.resource, one.initial, one.last);
                    }
                }
                CommandEffect::Access(all) => {
                    for one in all {
                        one.layout
                            .iter()
                            .for_each(|layout| saw(one.resource, layout.0, layout.0));
                    }
                }
                CommandEffect::None
                | CommandEffect::SetEvent { .. }
                | CommandEffect::ResetEvent { .. }
                | CommandEffect::NextSubpass
                | CommandEffect::End => {}
            }
        }
    }

    pub(super) fn access(&self, (pass, position): (usize, usize)) -> &'a FollowedAccess {
        &self.passes[pass].accesses[position]
    }

    /// Returns true if an access that writes an attachment loads undefined contents.
    fn loads_undefined(&self, place: (usize, usize)) -> bool {
        let access = self.access(place);
        let contents = self.contents.get(&access.resource.key());
        access.writes && contents.is_some_and(|contents| contents.undefined.contains(&place))
    }

    /// Returns true if the access is to the resource of an alternating pair that this frame reads.
    fn is_previous_alternate(&self, access: &FollowedAccess) -> bool {
        self.alternates.contains_key(&access.resource.key())
    }

    /// Returns true for a color or storage image that passes only write in a frame that presents nothing, and that can be copied: a later frame may read
    /// it back.
    pub(super) fn is_result(&self, entry: &Entry) -> bool {
        use vk::ImageUsageFlags as U;
        let Resource::Image(image) = &entry.resource else {
            return false;
        };
        let is_color = image.desc.usage.intersects(U::COLOR_ATTACHMENT | U::STORAGE);
        let is_only_written = |place: &(usize, usize)| {
            let access = self.access(*place);
            access.writes && (access.kind.is_attachment() || !access.reads)
        };
        !self.presents
            && is_color
            && image.desc.usage.contains(U::TRANSFER_SRC)
            && entry.uses.iter().all(is_only_written)
    }

    fn infer(&self, entry: &Entry, before: &HashMap<usize, FirstUse>) -> Inference {
        use vk::ImageUsageFlags as U;
        let cells = Cells::of(&entry.resource);
        let attachments = U::COLOR_ATTACHMENT | U::DEPTH_STENCIL_ATTACHMENT | U::TRANSIENT_ATTACHMENT;
        let attached =
            matches!(&entry.resource, Resource::Image(image) if attachments.contains(image.desc.usage));
        let uses = entry.uses.iter().map(|place| {
            let access = self.access(*place);
            // Contents that the pass itself clears do not come from before it.
            let own = access.kind == AccessKind::InputAttachment
                && entry.uses.iter().filter(|other| other.0 == place.0).any(|other| {
                    let other = self.access(*other);
                    other.kind.is_attachment() && other.load != LoadOp::Load
                });
            let undefined = self.loads_undefined(*place);
            ResourceUse {
                pass: place.0,
                cells: cells.range(access.range),
                reads: access.reads && !own && !undefined && !self.is_previous_alternate(access),
                writes: access.writes,
                keeps: load(access, false) == LoadOp::Load && !undefined,
                movable: !access.kind.is_attachment(),
                discards: access
                    .store
                    .is_some_and(|store| store != vk::AttachmentStoreOp::STORE),
            }
        });
        let uses: Vec<_> = uses.collect();
        let other: Vec<bool> = entry
            .uses
            .iter()
            .map(|place| self.is_previous_alternate(self.access(*place)))
            .collect();
        let takes_turns = other.iter().position(|other| *other);
        let swapchain = is_presented(&entry.resource);
        let was_read = before
            .get(&entry.resource.key())
            .is_some_and(|was| was.read_first);
        let anew = uses
            .first()
            .is_some_and(|one| one.writes && !one.reads && !one.keeps);
        let described_as = entry
            .uses
            .iter()
            .find_map(|place| self.access(*place).described_as);
        let outside = [
            (swapchain, "an image of a swapchain"),
            (
                self.is_result(entry),
                "no pass reads it, and it can be copied: the result of a frame that presents nothing",
            ),
            (
                entry.resource.common().is_shared(),
                "sparse, protected, or in memory that is shared or external",
            ),
            (
                entry.unresolved_reason.is_some(),
                entry.unresolved_reason.unwrap_or_default(),
            ),
            (described_as.is_some(), described_as.unwrap_or_default()),
            (
                was_read && anew && takes_turns.is_none(),
                "the previous frame reads it before writing it: a later frame may read what the captured frame leaves in it",
            ),
        ];
        let outside = outside.into_iter().find(|(is_it, _)| *is_it).map(|(_, why)| why);
        let missed = outside.filter(|why| entry.unresolved_reason == Some(*why));
        let outside = missed
            .map(|why| format!("not all of its accesses are known: {why}"))
            .or(outside.map(str::to_owned));
        let name = |pass: usize| self.pass_names[pass].clone();
        let contents = self.contents.get(&entry.resource.key());
        let next_name = |pass: usize| self.next_names.get(pass).cloned().unwrap_or_default();
        let next = match contents.map_or(NextUse::Unknown, |contents| contents.next) {
            _ if takes_turns.is_some() => NextPass::Unknown,
            NextUse::Unknown => NextPass::Unknown,
            NextUse::Reads(pass) => NextPass::Reads(next_name(pass)),
            NextUse::Replaces(pass) => NextPass::Replaces(next_name(pass)),
        };
        let mut found = infer(&uses, cells.size, attached, outside.as_deref(), &next, name);
        if let Some(first) = takes_turns.filter(|_| outside.is_none()) {
            let pass = &self.pass_names[entry.uses[first].0];
            (found.inferred, found.previous) = (InferredLifetime::History, other);
            found.decided = LifetimeEvidence::Frame;
            found.reason = format!(
                "two images alternate: pass `{pass}` reads what the previous frame left in the other one"
            );
        }
        found
    }

    fn persistence(&self, index: usize) -> Persistence {
        let (entry, found) = (&self.entries[index], &self.found[index]);
        match (found.inferred, &entry.resource) {
            (InferredLifetime::Transient, _) => return Persistence::Transient,
            (InferredLifetime::History, _) => return Persistence::History,
            (_, Resource::Buffer(_)) => {
                return Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED));
            }
            _ => {}
        }
        const UNDEFINED: vk::ImageLayout = vk::ImageLayout::UNDEFINED;
        let (before, after) = entry.layouts.unwrap_or_default();
        // Contents that a program reads in spite of UNDEFINED are arbitrary.
        let needed = entry.uses.iter().zip(&found.rewrites).find_map(|(place, again)| {
            let access = self.access(*place);
            let needs = !again && (access.reads || access.writes && load(access, *again) == LoadOp::Load);
            access.layout.filter(|_| needs)
        });
        let before = if before == UNDEFINED {
            needed.unwrap_or(before)
        } else {
            before
        };
        let entry = ExternalDesc::in_layout(before).entry;
        let layout = if [UNDEFINED, vk::ImageLayout::PREINITIALIZED].contains(&after) {
            vk::ImageLayout::GENERAL
        } else {
            after
        };
        Persistence::External(ExternalDesc {
            entry,
            exit: ResourceState { layout, ..entry },
        })
    }

    fn build(&self, frame: &Submits, origin: &Origin, one_queue: bool) -> Result<Frame, String> {
        let name = format!("{} frame {}", origin.program, frame.number);
        let mut builder = FrameBuilder::new(name, self.base_extent());
        let resources = self.entries.iter().enumerate().map(|(index, entry)| {
            let kind = match &entry.resource {
                Resource::Image(image) => ResourceKind::from(ImageDesc {
                    usage: image.desc.usage & valid_usage::IMAGE_USAGES,
                    ..image.desc
                }),
                Resource::Buffer(buffer) => ResourceKind::from(BufferDesc {
                    usage: buffer.desc.usage & valid_usage::BUFFER_USAGES,
                    ..buffer.desc
                }),
            };
            builder.resource(&*entry.name, kind, self.persistence(index))
        });
        let ids: Vec<ResourceId> = resources.collect();
        let (mut names, mut queue_names) = (Names::default(), Names::default());
        let (mut queues, mut links) = (BTreeMap::new(), Links::default());
        let everything = frame
            .submits
            .iter()
            .fold(vk::QueueFlags::empty(), |all, one| all | one.0.capabilities);
        let (mut passes, mut number) = (0.., 0);
        for (queue, batches) in &frame.submits {
            let (handle, able) = if one_queue {
                (0, everything)
            } else {
                (queue.handle, queue.capabilities)
            };
            let queue = *queues.entry(handle).or_insert_with(|| {
                let words = [
                    (vk::QueueFlags::GRAPHICS, "graphics"),
                    (vk::QueueFlags::COMPUTE, "compute"),
                ];
                let word = words.iter().find(|(bit, _)| able.contains(*bit));
                builder.queue(
                    queue_names.unique(word.map_or("transfer", |(_, word)| word), String::new),
                    able,
                )
            });
            let submit = builder.submit(queue);
            for batch in batches {
                let id = builder.batch(submit);
                links.batch(&mut builder, id, batch);
                for commands in &batch.commands {
                    let name = names.unique(&commands.name, || format!("commands {number}"));
                    let commands_id = builder.command_buffer(id, name);
                    number += 1;
                    let count = commands.flat.as_ref().map_or(0, |flat| flat.passes.len());
                    passes
                        .by_ref()
                        .take(count)
                        .for_each(|index| self.pass(&mut builder, &ids, commands_id, index));
                }
            }
        }
        links.finish(&mut builder);
        builder.build().map_err(|error| error.to_string())
    }

    /// Returns the extent of the swapchain; without one, the render area extent whose passes cover the most texels in total, or 1x1 if there are no render
    /// areas.
    fn base_extent(&self) -> vk::Extent2D {
        let mut areas: BTreeMap<(u32, u32), u64> = BTreeMap::from([((1, 1), 0)]);
        for vk::Extent2D { width, height } in self
            .passes
            .iter()
            .filter_map(|pass| pass.area)
            .map(|area| area.extent)
        {
            *areas.entry((width, height)).or_default() += u64::from(width) * u64::from(height);
        }
        let shown = self.entries.iter().find_map(|entry| match &entry.resource {
            Resource::Image(image) if image.swapchain => Some((image.extent.width, image.extent.height)),
            _ => None,
        });
        let most = areas
            .into_iter()
            .max_by_key(|(_, texels)| *texels)
            .map(|(extent, _)| extent);
        let (width, height) = shown.or(most).unwrap_or((1, 1));
        vk::Extent2D {
            width: width.max(1),
            height: height.max(1),
        }
    }

    fn pass(&self, builder: &mut FrameBuilder, ids: &[ResourceId], commands: CommandBufferId, index: usize) {
        let pass = self.passes[index];
        let mut built = builder
            .pass(commands, &*self.pass_names[index], pass.kind)
            .views(pass.view_mask);
        if pass.secondary {
            built = built.contents(CommandSource::Secondary);
        }
        let attached = pass.accesses.iter().filter(|access| access.kind.is_attachment());
        let covered = attached
            .filter_map(FollowedAccess::extent)
            .reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
        if let (Some(area), Some((width, height))) = (pass.area, covered) {
            let whole = vk::Extent2D { width, height };
            let clipped = clip(area, whole);
            if clipped != whole.into() && clipped.extent.width > 0 && clipped.extent.height > 0 {
                built = built.area(clipped);
            }
        }
        for (position, access) in pass.accesses.iter().enumerate() {
            let entry = self.index[&access.resource.key()];
            let at = self.entries[entry]
                .uses
                .binary_search(&(index, position))
                .unwrap_or(0);
            let found = &self.found[entry];
            let (reads, load) = match self.loads_undefined((index, position)) {
                true => (false, LoadOp::DontCare),
                false => (access.reads, load(access, found.rewrites[at])),
            };
            // An access that is described as another one has the stages of that.
            let stages = access.stages.filter(|_| access.described_as.is_none());
            built = built
                .access(ids[entry], access.kind, reads, access.writes, load)
                .at(stages.unwrap_or(access.kind.default_stages(pass.kind)))
                .part(access.range)
                .viewed(ViewDesc {
                    view_type: None,
                    format: access.format,
                });
            if found.previous[at] {
                built = built.previous();
            }
            // Reach is in texels of the image that is read: these are the attachments' texels if the extents are equal.
            let alike = access.reads && covered.is_some() && access.extent() == covered;
            if let Some(reach) = access.reach.filter(|_| alike) {
                built = built.reaching(reach);
            }
            if let Some(source) = access
                .resolves
                .as_ref()
                .and_then(|source| self.index.get(&source.key()))
            {
                built = built.resolving(ids[*source]);
            }
        }
    }
}

fn is_presented(resource: &Resource) -> bool {
    matches!(resource, Resource::Image(image) if image.swapchain)
}

/// Finds the alternating resources by comparison with the previous frame, then with the next one.
fn find_alternating(frames: ComparedFrames<'_>) -> BTreeMap<usize, usize> {
    let now = frames.captured.first_uses();
    let mut all = BTreeMap::new();
    for other in [frames.before, frames.next].into_iter().flatten() {
        for (read, written) in alternating(&now, &other.first_uses()) {
            let is_new = !all.contains_key(&read) && all.values().all(|taken| *taken != written);
            is_new.then(|| all.insert(read, written));
        }
    }
    all
}

/// Returns the name of each pass: its label, or its kind and number.
fn names_of_passes(frame: &Submits) -> Vec<String> {
    let mut names = Names::default();
    let passes = frame.flats().flat_map(|flat| &flat.passes).enumerate();
    let named = passes.map(|(number, pass)| {
        let kind = || format!("{:?} {number}", pass.kind).to_lowercase();
        names.unique(&pass.name, kind)
    });
    named.collect()
}

/// Iterates over the resources that an unresolved access may refer to.
pub(super) fn resources_of<'a>(
    missed: &'a super::shader_use::UnresolvedAccess,
    origin: &'a Origin,
) -> impl Iterator<Item = &'a Resource> {
    let by_address = missed.kind == UnresolvedKind::DeviceAddress;
    missed
        .resources
        .iter()
        .chain(origin.addressed.iter().filter(move |_| by_address))
}

/// Returns the load operation of a write; `again` means that the frame has written the contents before.
fn load(access: &FollowedAccess, again: bool) -> LoadOp {
    match access.coverage {
        _ if access.kind.is_attachment() => access.load,
        Coverage::Whole => LoadOp::DontCare,
        Coverage::Unknown if !again && !access.reads => LoadOp::DontCare,
        Coverage::Unknown | Coverage::Part => LoadOp::Load,
    }
}

/// Returns the part of a render area that lies inside a limit.
fn clip(area: vk::Rect2D, limit: vk::Extent2D) -> vk::Rect2D {
    let side = |at: i32, side: u32, limit: u32| {
        let end = (i64::from(at) + i64::from(side)).clamp(0, i64::from(limit));
        let first = i64::from(at).clamp(0, end);
        (first as i32, (end - first) as u32)
    };
    let (x, width) = side(area.offset.x, area.extent.width, limit.width);
    let (y, height) = side(area.offset.y, area.extent.height, limit.height);
    vk::Rect2D {
        offset: vk::Offset2D { x, y },
        extent: vk::Extent2D { width, height },
    }
}
