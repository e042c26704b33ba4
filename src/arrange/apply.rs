//! From an arrangement to the frame that runs.

use ash::vk;

use super::error::{ArrangeError, CannotGroup};
use super::strips::Division;
use super::types::{Arrangement, Grid, Group, Way, texels_of};
use crate::frame::tables::{Access, PassKind, ResourceKind, Share};
use crate::frame::{
    BatchId, CommandBufferId, Frame, FrameBuilder, LoadOp, PassId, ResourceId, intersection, viewport,
};
use crate::units::Bytes;

/// A frame that runs as an arrangement says, and where it comes from.
#[derive(Clone, Debug)]
pub struct Arranged {
    /// What is planned, lowered and recorded. Its first resources are the described ones, under their ids; of those that strips divide,
    /// each strip has one of its own behind them.
    pub frame: Frame,
    /// Per pass of the frame, what it runs.
    pub passes: Vec<ArrangedPass>,
    /// Per resource of the frame, the described one.
    pub resources: Vec<ResourceId>,
    /// Per resource of the frame, where its first texel lies in the described one, in its texels.
    pub origins: Vec<vk::Offset2D>,
}

/// What a pass of an arranged frame runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrangedPass {
    /// The described passes, one after the other: several where they were merged.
    pub described: Vec<PassId>,
    /// The first subpass of each: merged passes are subpasses of one.
    pub subpasses: Vec<u32>,
    /// For which part of the image; `None` for all of it.
    pub strip: Option<Strip>,
}

/// The part of its image that a pass computes, and what its recording needs to know.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::arrange::Arranged;
/// # use tileheap::frame::{PassId, ResourceId};
/// # fn f(raw: &ash::Device, cmd: vk::CommandBuffer, layout: vk::PipelineLayout, arranged: &Arranged, pass: PassId, depth: ResourceId, whole: vk::Extent2D) {
/// // Recording a pass of `arranged.frame`; the described pass renders to images of extent `whole`, and samples `depth`.
/// if let Some(strip) = arranged.passes[pass.index()].strip {
///     // Shaders add the first to gl_FragCoord, and subtract the second from the texel of `depth` that they fetch.
///     let depth = arranged.resource(pass, depth);
///     let origins = [strip.origin, arranged.origins[depth.index()]].map(|origin| [origin.x, origin.y]);
///     let origins: Vec<u8> = origins.into_iter().flatten().flat_map(i32::to_ne_bytes).collect();
///     // SAFETY: recording, inside the pass.
///     unsafe {
///         raw.cmd_set_viewport(cmd, 0, &[strip.viewport(whole)]);
///         raw.cmd_set_scissor(cmd, 0, &[strip.scissor()]);
///         raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::FRAGMENT, 0, &origins);
///         raw.cmd_draw(cmd, 3, 1, 0, 0);
///     }
///     // A compute pass: shaders add the first to gl_WorkGroupID, and write nothing outside of `strip.area`.
///     let (_first, [x, y]) = strip.groups([8, 8]);
///     // SAFETY: recording, outside of render passes.
///     unsafe { raw.cmd_dispatch(cmd, x, y, 1) };
/// }
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strip {
    /// From 0, in the order in which strips run.
    pub number: u32,
    /// How many there are.
    pub of: u32,
    /// What is computed, halo included, in texels of the described image that the pass writes; where it writes buffers, in pixels of the
    /// frame.
    pub area: vk::Rect2D,
    /// The texel of the described image that is texel (0, 0) of what the pass writes: `area.offset` where that is as small as the
    /// strip, zero where it is the described image itself.
    pub origin: vk::Offset2D,
    /// How far the area reaches beyond the strip's own part, in the same texels.
    pub halo: u32,
}

impl Strip {
    /// All that a pass computes, as one strip.
    pub fn whole(area: vk::Rect2D) -> Strip {
        Strip {
            number: 0,
            of: 1,
            area,
            origin: vk::Offset2D::default(),
            halo: 0,
        }
    }

    /// The viewport with which a draw of the whole image, of `extent` texels, lands in this strip.
    pub fn viewport(&self, extent: vk::Extent2D) -> vk::Viewport {
        let vk::Offset2D { x, y } = self.origin;
        let offset = vk::Offset2D { x: -x, y: -y };
        viewport(vk::Rect2D { offset, extent })
    }

    /// The scissor, in texels of what the pass writes.
    pub fn scissor(&self) -> vk::Rect2D {
        vk::Rect2D {
            offset: vk::Offset2D {
                x: self.area.offset.x - self.origin.x,
                y: self.area.offset.y - self.origin.y,
            },
            extent: self.area.extent,
        }
    }

    /// The part of the strip inside of an area of the described image, for frames that render to
    /// [less](crate::runtime::FrameRecorder::set_area) than is described; `None` where there is none.
    pub fn within(&self, area: vk::Rect2D) -> Option<Strip> {
        let area = intersection(self.area, area)?;
        Some(Strip { area, ..*self })
    }

    /// The first work group and the number of work groups, of `size` texels each, that compute this strip.
    ///
    /// Groups begin at multiples of their size in the described image, so that each texel is computed by the same invocation as in
    /// the described frame; what lies outside of [`area`](Strip::area) must not be written.
    pub fn groups(&self, size: [u32; 2]) -> ([u32; 2], [u32; 2]) {
        let side = |start: i32, length: u32, size: u32| {
            let first = start as u32 / size;
            (first, (start as u32 + length).div_ceil(size) - first)
        };
        let (x, columns) = side(self.area.offset.x, self.area.extent.width, size[0]);
        let (y, rows) = side(self.area.offset.y, self.area.extent.height, size[1]);
        ([x, y], [columns, rows])
    }
}

impl Arranged {
    /// The resource that stands for a described one in a pass of the arranged frame; the described one itself where the pass does not
    /// use it.
    pub fn resource(&self, pass: PassId, described: ResourceId) -> ResourceId {
        let mut used = self.frame.accesses_of(pass).iter().map(|access| access.resource);
        used.find(|used| self.resources[used.index()] == described)
            .unwrap_or(described)
    }

    /// The first subpass of a pass of the arranged frame in which it runs a described one; 0 where it does not.
    pub fn subpass_in(&self, pass: PassId, described: PassId) -> u32 {
        let ArrangedPass {
            described: all,
            subpasses,
            ..
        } = &self.passes[pass.index()];
        let mut runs = all.iter().zip(subpasses);
        runs.find(|(one, _)| **one == described)
            .map_or(0, |(_, subpass)| *subpass)
    }

    /// The first pass of the arranged frame that runs a described one; the others are its other strips.
    pub fn passes_of(&self, described: PassId) -> impl Iterator<Item = PassId> + use<'_> {
        let runs = self.frame.pass_ids().zip(&self.passes);
        runs.filter(move |(_, pass)| pass.described.contains(&described))
            .map(|(id, _)| id)
    }
}

impl Arrangement {
    /// The frame that runs so.
    ///
    /// # Errors
    /// As [`Arrangement::check`]; and [`Error::Frame`](crate::Error::Frame) where strips are more than a frame may have passes.
    pub fn apply(&self, frame: &Frame) -> crate::Result<Arranged> {
        let frame = &self.description(frame)?;
        self.check_described(frame)?;
        let mut work = Work::new(frame);
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
                match group.way {
                    Way::Once => group.passes.iter().for_each(|&pass| work.once(pass)),
                    Way::Merged => work.merged(&group.passes),
                    Way::Strips(grid) => {
                        work.strips(&group.passes, grid)
                            .map_err(|why| ArrangeError::Group {
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

/// The frame as far as it is built.
struct Work<'a> {
    described: &'a Frame,
    builder: FrameBuilder,
    passes: Vec<ArrangedPass>,
    resources: Vec<ResourceId>,
    origins: Vec<vk::Offset2D>,
    /// The described submit, and the described command buffer, that go on.
    submit: Option<(u32, crate::frame::SubmitId)>,
    batch: BatchId,
    commands: Option<(u32, CommandBufferId)>,
    /// The first pass of each merged group, and how many passes it has.
    merges: Vec<(u32, usize)>,
}

impl<'a> Work<'a> {
    fn new(described: &'a Frame) -> Work<'a> {
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
        Work {
            described,
            builder,
            passes: Vec::new(),
            resources: described.resource_ids().collect(),
            origins: vec![vk::Offset2D::default(); described.resources().len()],
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

    fn buffers_of(&self, group: &Group) -> Vec<u32> {
        let passes = group.passes.iter();
        passes
            .map(|&pass| self.described.pass(pass).command_buffer.0)
            .collect()
    }

    fn in_one_buffer(&self, group: &Group) -> bool {
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
        self.merges.push((self.passes.len() as u32, passes.len()));
        passes.iter().for_each(|&pass| self.once(pass));
    }

    fn strips(&mut self, run: &[PassId], grid: Grid) -> Result<(), CannotGroup> {
        let division = Division::of(self.described, run)?;
        let strips = division.strips(grid)?;
        let (count, described) = (strips.len() as u32, self.described);
        for (number, &strip) in (0..).zip(&strips) {
            let inside: Vec<(ResourceId, (ResourceId, u64))> = division
                .inside
                .iter()
                .map(|image| {
                    let area = division.region(strip, image.halo, image.scale);
                    let part = self.part(image.resource, number, area);
                    (image.resource, (part, texels_of(area)))
                })
                .collect();
            let part = |resource: ResourceId| {
                let found = inside.iter().find(|(described, _)| *described == resource);
                found.map(|(_, part)| *part)
            };
            let here = |resource: ResourceId| part(resource).map(|(part, _)| part);
            for (&pass, divided) in run.iter().zip(&division.passes) {
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
                    of: count,
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
                    let resource = here(access.resource);
                    let measured = access.measured.map(|bytes| Bytes(bytes.0 / u64::from(count)));
                    // Of the image of the strip, or of all of it; of what is read anywhere, each strip is taken to read a part.
                    let touched = division.touched(described, &access, divided.halo, strip);
                    let share = match (touched, part(access.resource)) {
                        (Some(share), Some((_, texels))) => Share { of: texels, ..share },
                        (Some(share), None) => share,
                        (None, Some(_)) => Share { part: 1, of: 1 },
                        (None, None) => Share {
                            part: 1,
                            of: u64::from(count),
                        },
                    };
                    // Of what lives on, each strip changes its own part.
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
            }
        }
        Ok(())
    }

    /// The image of one strip.
    fn part(&mut self, resource: ResourceId, number: u32, area: vk::Rect2D) -> ResourceId {
        let described = self.described.resource(resource);
        let ResourceKind::Image { mut desc, usage, .. } = described.kind else {
            return resource;
        };
        (desc.extent, desc.usage) = (area.extent.into(), usage);
        let id = self.builder.image(format!("{} #{number}", described.name), desc);
        self.builder.constrain(id, described.tile_constraint);
        self.resources.push(resource);
        self.origins.push(area.offset);
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
        for access in self.described.accesses_of(id) {
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
        self.passes.push(ArrangedPass {
            described: vec![id],
            subpasses: vec![0],
            strip,
        });
    }

    fn finish(mut self) -> crate::Result<Arranged> {
        let mut frame = self.builder.build()?;
        for (first, count) in self.merges.into_iter().rev() {
            for _ in 1..count {
                let next = frame.pass(PassId(first)).subpasses;
                // The check has seen that they merge.
                frame = frame.merged(PassId(first)).expect("passes that merge")?;
                let gone = self.passes.remove(first as usize + 1);
                let merged = &mut self.passes[first as usize];
                merged.described.extend(gone.described);
                merged.subpasses.push(next);
            }
        }
        Ok(Arranged {
            frame,
            passes: self.passes,
            resources: self.resources,
            origins: self.origins,
        })
    }
}
