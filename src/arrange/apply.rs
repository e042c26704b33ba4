//! Builds the executed frame of an arrangement.

use ash::vk;

use super::error::{ArrangeError, CannotGroup};
use super::strips::Division;
use super::traffic::ArrangementCosts;
use super::types::{Arrangement, GroupMode, PassGroup, StripGrid, texels_of};
use super::uses::{DividedImage, extent_of};
use crate::execute::{Charges, ExecutedFrame, OriginTables, PassOrigin, PassRun, ResourceOrigin, Strip};
use crate::frame::tables::{Access, AccessFraction, CommandSource, HistoryVersion, PassKind, ResourceKind};
use crate::frame::{BatchId, CommandBufferId, Frame, FrameBuilder, LoadOp, PassId, ResourceId};
use crate::units::Bytes;

impl Arrangement {
    /// Builds the frame that runs in this arrangement, paired with the described one. If the arrangement [changes the
    /// description](Arrangement::description), the described frame is `frame` with the changes; for a rewritten `frame`, the frame that runs with
    /// them.
    ///
    /// Its first resources are those of `frame`, with the same ids; after them comes one image per strip for each image that strips divide.
    ///
    /// Repeated passes are [charged](crate::execute::Charges) the cost that they declare; charges of a rewritten `frame` stay.
    /// [`SearchResult::apply`](super::SearchResult::apply) charges the costs of a search instead, and if the description changes, keeps the share relative to
    /// the originally described frame.
    ///
    /// # Errors
    /// Like [`Arrangement::check`], and [`Error::Frame`](crate::Error::Frame) if the strips need more passes than a frame may have.
    pub fn apply(&self, frame: impl Into<ExecutedFrame>) -> crate::Result<ExecutedFrame> {
        self.apply_at(&frame.into(), &ArrangementCosts::default(), None)
    }

    /// Like [`Arrangement::apply`], with charges at `costs`; `described_traffic` is the traffic of the originally described frame.
    pub(super) fn apply_at(
        &self,
        input: &ExecutedFrame,
        costs: &ArrangementCosts,
        described_traffic: Option<Bytes>,
    ) -> crate::Result<ExecutedFrame> {
        if *self == Arrangement::described(input.frame()) {
            return Ok(input.clone());
        }
        let frame = &self.description(input.frame())?;
        let rewrite = self.rewrite(frame)?;
        let charges = costs.charges(&rewrite);
        Ok(match self.changes.is_empty() {
            true => input.then(&rewrite.with_charges(charges)),
            false => rewrite.with_charges(input.charges().before_change(Charges {
                described_traffic,
                ..charges
            })),
        })
    }

    /// Rewrites a frame whose description already has the changes.
    fn rewrite(&self, frame: &Frame) -> crate::Result<ExecutedFrame> {
        self.check_described(frame)?;
        let mut work = ArrangedFrameBuilder::new(frame);
        for batch in &self.batches {
            work.begin_batch(batch.batches.first, batch.batches.end);
            let buffers: Vec<u32> = batch
                .groups
                .iter()
                .flat_map(|group| work.buffers_of(group))
                .collect();
            let kept = buffers.is_sorted() && batch.groups.iter().all(|group| work.in_one_buffer(group));
            for group in &batch.groups {
                let described = if kept {
                    work.buffers_of(group)[0]
                } else {
                    buffers[0]
                };
                work.enter(described);
                match group.mode {
                    GroupMode::Once => group.passes.iter().for_each(|&pass| work.once(pass)),
                    GroupMode::Merged => work.merged(&group.passes),
                    GroupMode::Strips(grid) => {
                        work.strips(group, grid).map_err(|why| ArrangeError::Group {
                            first: frame.pass(group.passes[0]).name.clone(),
                            last: frame.pass(group.passes[group.passes.len() - 1]).name.clone(),
                            why: Box::new(why),
                        })?
                    }
                }
            }
        }
        work.finish()
    }
}

/// The executed frame under construction.
struct ArrangedFrameBuilder<'a> {
    described: &'a Frame,
    builder: FrameBuilder,
    /// The origins of the executed frame's passes and resources, under construction.
    origins: OriginTables,
    /// The described submit and command buffer that are being continued, with their new ids.
    submit: Option<(u32, crate::frame::SubmitId)>,
    batch: BatchId,
    commands: Option<(u32, CommandBufferId)>,
    /// The first pass of each merged group and the number of passes in the group.
    merges: Vec<(u32, usize)>,
}

impl<'a> ArrangedFrameBuilder<'a> {
    fn new(described: &'a Frame) -> ArrangedFrameBuilder<'a> {
        let mut builder = FrameBuilder::new(described.name(), described.base_extent());
        for resource in described.resources() {
            let id = builder.resource(&resource.name, resource.kind, resource.persistence);
            builder.constrain(id, resource.tile_constraint);
            builder.set_level_of(id, resource.level_of);
        }
        for queue in described.queues() {
            builder.queue(&queue.name, queue.capabilities);
        }
        for semaphore in described.semaphores() {
            match semaphore.external {
                true => builder.external_semaphore(&semaphore.name),
                false => builder.semaphore(&semaphore.name),
            };
        }
        ArrangedFrameBuilder {
            described,
            builder,
            origins: OriginTables {
                resources: described.resource_ids().map(ResourceOrigin::whole).collect(),
                ..OriginTables::default()
            },
            submit: None,
            batch: BatchId(0),
            commands: None,
            merges: Vec::new(),
        }
    }

    fn begin_batch(&mut self, first: u32, end: u32) {
        let described = &self.described.batches()[first as usize];
        let submit = match self.submit {
            Some((number, submit)) if number == described.submit.0 => submit,
            _ => {
                let queue = self.described.submits()[described.submit.index()].queue;
                self.builder.submit(queue)
            }
        };
        let last = &self.described.batches()[end as usize - 1];
        self.submit = Some((last.submit.0, submit));
        self.batch = self.builder.batch(submit);
        self.commands = None;
        for wait in &described.waits {
            self.builder.wait(self.batch, wait.semaphore, wait.stages);
        }
        for signal in &last.signals {
            self.builder.signal(self.batch, signal.semaphore, signal.stages);
        }
    }

    fn buffers_of(&self, group: &PassGroup) -> Vec<u32> {
        let passes = group.passes.iter();
        passes
            .map(|&pass| self.described.pass(pass).command_buffer.0)
            .collect()
    }

    fn in_one_buffer(&self, group: &PassGroup) -> bool {
        self.buffers_of(group).windows(2).all(|pair| pair[0] == pair[1])
    }

    fn enter(&mut self, described: u32) {
        if self.commands.is_none_or(|(number, _)| number != described) {
            let name = &self.described.command_buffers()[described as usize].name;
            let id = self.builder.command_buffer(self.batch, name);
            self.commands = Some((described, id));
        }
    }

    fn once(&mut self, pass: PassId) {
        let name = self.described.pass(pass).name.clone();
        self.pass(pass, name, None, |access| access);
    }

    fn merged(&mut self, passes: &[PassId]) {
        self.merges.push((self.origins.passes.len() as u32, passes.len()));
        passes.iter().for_each(|&pass| self.once(pass));
    }

    fn strips(&mut self, group: &PassGroup, grid: StripGrid) -> Result<(), CannotGroup> {
        let (run, first) = (&group.passes[..], group.passes[0]);
        let division = Division::of(self.described, run, &group.borders)?;
        let strips = division.strips(grid)?;
        let (count, described) = (strips.len() as u32, self.described);
        for (number, &strip) in (0..).zip(&strips) {
            let inside: Vec<(ResourceId, (ResourceId, u64))> = division
                .inside
                .iter()
                .map(|image| {
                    let area = division.region(strip, image.halo, image.scale);
                    let part = self.part(image, (number, first), area);
                    (image.resource, (part, texels_of(area)))
                })
                .collect();
            let part = |resource: ResourceId| {
                let found = inside.iter().find(|(described, _)| *described == resource);
                found.map(|(_, part)| *part)
            };
            let here = |resource: ResourceId| part(resource).map(|(part, _)| part);
            for (at, (&pass, divided)) in run.iter().zip(&division.passes).enumerate() {
                for image in division.inside.iter().filter(|image| image.is_copied_before(at)) {
                    let area = division.region(strip, image.halo, image.scale);
                    let part = here(image.resource);
                    self.border(*image, part, (area, (number, first)), (true, pass));
                }
                let area = division.region(strip, divided.halo, divided.scale);
                let render = self.described.pass(pass).kind == PassKind::Render;
                let written = self
                    .described
                    .accesses_of(pass)
                    .iter()
                    .find(|access| access.writes);
                let small = match render {
                    true => divided.attachments_inside,
                    false => written.is_some_and(|access| here(access.resource).is_some()),
                };
                let run = Strip {
                    number,
                    count,
                    area,
                    origin: if small {
                        area.offset
                    } else {
                        vk::Offset2D::default()
                    },
                    halo: divided.halo / divided.scale,
                };
                let name = format!("{} #{number}", self.described.pass(pass).name);
                self.pass(pass, name, Some(run), |access| {
                    let part =
                        |resource| part(resource).filter(|_| access.version == HistoryVersion::Current);
                    let resource = part(access.resource).map(|(part, _)| part);
                    let measured = access.measured.map(|bytes| Bytes(bytes.0 / u64::from(count)));
                    // Relative to the strip's image, or to the whole image; a resource that is read anywhere is assumed to be read in equal parts.
                    let touched = division.touched(described, &access, divided.halo, strip);
                    let share = match (touched, part(access.resource)) {
                        (Some(share), Some((_, texels))) => AccessFraction { of: texels, ..share },
                        (Some(share), None) => share,
                        (None, Some(_)) => AccessFraction { part: 1, of: 1 },
                        (None, None) => AccessFraction {
                            part: 1,
                            of: u64::from(count),
                        },
                    };
                    // Each strip changes only its own part of a resource that is used after the run.
                    let partly =
                        resource.is_none() && access.writes && number > 0 && !access.kind.is_attachment();
                    Access {
                        resource: resource.unwrap_or(access.resource),
                        resolves: access.resolves.map(|source| here(source).unwrap_or(source)),
                        load_op: if partly { LoadOp::Load } else { access.load_op },
                        measured,
                        share: Some(share),
                        ..access
                    }
                });
                for image in division.inside.iter().filter(|image| image.is_copied_after(at)) {
                    let area = division.region(strip, 0, image.scale);
                    let part = here(image.resource);
                    self.border(*image, part, (area, (number, first)), (false, pass));
                }
            }
        }
        Ok(())
    }

    /// Adds a copy of an area of an image into the image of a strip (if `enters`) or out of it, for the pass `beside`.
    fn border(
        &mut self,
        image: DividedImage,
        part: Option<ResourceId>,
        (area, strip): (vk::Rect2D, (u32, PassId)),
        (enters, beside): (bool, PassId),
    ) {
        let (Some((_, commands)), Some(part), Some(border)) = (self.commands, part, image.border) else {
            return;
        };
        let whole = image.resource;
        let part_area = self.origins.resources[part.index()].area.unwrap_or_default();
        let vk::Offset2D { x: left, y: top } = part_area.offset;
        let written = vk::Offset2D {
            x: area.offset.x - if enters { left } else { 0 },
            y: area.offset.y - if enters { top } else { 0 },
        };
        let (source, target, x, y, verb) = match enters {
            true => (whole, part, left, top, "load"),
            false => (part, whole, -left, -top, "store"),
        };
        let described = extent_of(self.described, whole);
        let share = AccessFraction {
            part: texels_of(area),
            of: match enters {
                true => u64::from(described.width) * u64::from(described.height),
                false => texels_of(part_area),
            },
        };
        let name = format!("{verb} {}", self.part_name(&image, strip));
        self.builder
            .pass(commands, name, PassKind::Render)
            .contents(CommandSource::Border { x, y })
            .area(vk::Rect2D {
                offset: written,
                extent: area.extent,
            })
            .sampled(source)
            .change_last(|access| access.share = Some(share))
            .access(target, border.attachment, false, true, LoadOp::DontCare);
        self.origins.accesses.extend([None, None]);
        self.origins.passes.push(PassOrigin::Border {
            resource: whole,
            beside,
        });
    }

    /// Name of the image of one strip. Each run has its own border images, so their names include the first pass of the run.
    fn part_name(&self, image: &DividedImage, (number, first): (u32, PassId)) -> String {
        let name = &self.described.resource(image.resource).name;
        let mut name = match image.border {
            Some(_) => format!("{name} #{number} from {}", self.described.pass(first).name),
            None => format!("{name} #{number}"),
        };
        // The described frame may have a resource of that name.
        while self.described.resource_named(&name).is_some() {
            name.push('\'');
        }
        name
    }

    /// Adds the resource for one strip of a run: an image, or a buffer of the lists of the strip's tiles.
    fn part(&mut self, image: &DividedImage, (number, first): (u32, PassId), area: vk::Rect2D) -> ResourceId {
        let resource = image.resource;
        let described = self.described.resource(resource);
        let name = self.part_name(image, (number, first));
        let id = match described.kind {
            ResourceKind::Image { mut desc, usage, .. } => {
                desc.extent = area.extent.into();
                if image.border.is_none() {
                    desc.usage = usage;
                }
                self.builder.image(name, desc)
            }
            ResourceKind::Buffer { mut desc, usage } => {
                let Some(lists) = desc.lists.take() else {
                    return resource;
                };
                desc.size = lists.size_of(area.extent);
                desc.usage = usage;
                self.builder.buffer(name, desc)
            }
        };
        self.builder.constrain(id, described.tile_constraint);
        self.origins.resources.push(ResourceOrigin {
            area: Some(area),
            ..ResourceOrigin::whole(resource)
        });
        id
    }

    fn pass(&mut self, id: PassId, name: String, strip: Option<Strip>, change: impl Fn(Access) -> Access) {
        let described = self.described.pass(id);
        let Some((_, commands)) = self.commands else {
            return;
        };
        let mut pass = self
            .builder
            .pass(commands, name, described.kind)
            .contents(described.contents)
            .views(described.view_mask)
            .hook(described.hook);
        if let Some(samples) = described.samples {
            pass = pass.samples(samples);
        }
        if described.tile_shading {
            pass = pass.tile_shading();
        }
        if let Some(bytes) = described.repeat_bytes {
            pass = pass.in_strips(bytes);
        }
        if let Some(outputs) = described.optional {
            pass = pass.optional(outputs);
        }
        if let Some(area) = described.render_area {
            pass = pass.area(area);
        }
        if let Some(strip) = strip.filter(|_| described.kind == PassKind::Render) {
            pass = pass.area(strip.scissor());
        }
        let described = self.described;
        for index in described.pass(id).accesses.indices() {
            let access = &described.accesses()[index];
            self.origins.accesses.push(Some(index as u32));
            let changed = change(*access);
            let Access {
                kind,
                reads,
                writes,
                load_op,
                ..
            } = changed;
            pass = pass
                .in_subpass(changed.subpass)
                .access(changed.resource, kind, reads, writes, load_op)
                .change_last(|last| {
                    *last = Access {
                        pass: last.pass,
                        ..changed
                    }
                });
        }
        let run = PassRun {
            strip,
            ..PassRun::whole(id)
        };
        self.origins.passes.push(PassOrigin::Runs(vec![run]));
    }

    fn finish(self) -> crate::Result<ExecutedFrame> {
        let frame = self.builder.build()?;
        let mut executed = ExecutedFrame::new(frame, self.described.clone(), self.origins.into());
        for (first, count) in self.merges.into_iter().rev() {
            for _ in 1..count {
                // `check_described` has verified that they can be merged.
                executed = executed
                    .merged(PassId(first))
                    .expect("merged groups were checked")?;
            }
        }
        Ok(executed)
    }
}
