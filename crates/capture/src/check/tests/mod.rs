//! Small recordings, and the findings in them.
//!
//! A finding is written as its verdict, its problem, and the numbers of both commands: commands of the command buffer count from 1, and a command
//! outside of it has 0.

use ash::vk;
use tileheap::frame::SubresourceRange;
use tileheap::units::Run;
use vk::{
    AccessFlags2 as A, AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageAspectFlags as Aspects,
    ImageLayout as L, PipelineStageFlags2 as S,
};

use super::check;
use super::finding::{Certainty, CheckReport, Problem};
use crate::document::recording::*;
use crate::document::{Layout, MemoryBinding, SemaphoreUse};

mod contents;
mod layouts;
mod order;
mod ownership;
mod passes;
mod queues;
mod random;
mod report;

use Certainty::{Certain, Pedantic, Possible};
use Problem::{Discarded, NeverWritten, NotAvailable, NotVisible, Overwritten, Unordered, WrittenThrough};

type FindingSummary = (Certainty, Problem, u32, u32);

const NONE: &[FindingSummary] = &[];
const CS: S = S::COMPUTE_SHADER;
const STORAGE_WRITE: A = A::SHADER_STORAGE_WRITE;
const STORAGE_READ: A = A::SHADER_STORAGE_READ;
const SIZE: u64 = 4096;

/// A recording under construction.
#[derive(Clone, Default)]
struct Rig(Recording);

impl Rig {
    fn new() -> Rig {
        Rig(Recording {
            granularity: 1,
            memories: vec![MemoryFacts::default(); 2],
            ..Recording::default()
        })
    }

    /// Adds a buffer at an offset of memory 0.
    fn buffer(&mut self, name: &str, offset: u64) -> u32 {
        self.add(name, ResourceKind::Buffer { size: SIZE }, Some(offset))
    }

    /// Adds a new image of 64x64 texels at an offset of memory 0.
    fn image(&mut self, name: &str, offset: u64) -> u32 {
        self.add(name, image(vk::Format::R8G8B8A8_UNORM, 1, 1), Some(offset))
    }

    /// Adds an image with its own memory that was created before the frame.
    fn old_image(&mut self, name: &str, kind: ResourceKind) -> u32 {
        let index = self.add(name, kind, None);
        self.0.resources[index as usize].created = false;
        index
    }

    /// Adds a depth image with its own memory that was created before the frame.
    fn depth(&mut self, name: &str) -> u32 {
        self.old_image(name, image(vk::Format::D32_SFLOAT, 1, 1))
    }

    fn color(&mut self, name: &str) -> u32 {
        self.old_image(name, image(vk::Format::R8G8B8A8_UNORM, 1, 1))
    }

    fn add(&mut self, name: &str, kind: ResourceKind, offset: Option<u64>) -> u32 {
        self.0.resources.push(Resource {
            name: name.to_owned(),
            kind,
            placement: offset.map(|offset| MemoryBinding {
                object: 0,
                offset,
                size: SIZE,
            }),
            host_writes: false,
            concurrent: false,
            exclusive: false,
            created: true,
            unchecked: None,
        });
        self.0.resources.len() as u32 - 1
    }

    /// Adds a command buffer whose commands are numbered from 1.
    fn commands(&mut self, commands: Vec<Command>) -> u32 {
        let index = self.0.command_buffers.len() as u32;
        let commands = (1..)
            .zip(commands)
            .map(|(number, command)| Command { number, ..command });
        self.0.command_buffers.push(CommandBuffer {
            name: format!("cb{index}"),
            commands: commands.collect(),
        });
        index
    }

    /// Submits a batch on queue 0.
    fn submit(&mut self, command_buffers: &[u32]) {
        self.step(RecordedStep::Submit(batch(0, command_buffers)));
    }

    fn step(&mut self, step: RecordedStep) {
        self.0.steps.push(step);
    }

    fn report(&self) -> CheckReport {
        check(&self.0).expect("a recording")
    }

    fn found(&self) -> Vec<FindingSummary> {
        let findings = self.report().findings;
        let number = |used: &super::finding::ResourceUse| used.number;
        let found = findings.iter().map(|one| {
            let first = one.first.as_ref().map_or(0, number);
            (one.verdict, one.problem, first, number(&one.second))
        });
        found.collect()
    }
}

/// Returns the findings in one command buffer.
fn found(mut rig: Rig, commands: Vec<Command>) -> Vec<FindingSummary> {
    let buffer = rig.commands(commands);
    rig.submit(&[buffer]);
    rig.found()
}

fn batch(queue: u32, command_buffers: &[u32]) -> Batch {
    Batch {
        queue,
        family: queue,
        command_buffers: command_buffers.to_vec(),
        ..Batch::default()
    }
}

fn image(format: vk::Format, levels: u32, layers: u32) -> ResourceKind {
    ResourceKind::Image {
        format,
        extent: [64, 64, 1],
        levels,
        layers,
        is_3d: false,
        linear: false,
        swapchain: false,
        alias_group: None,
    }
}

fn call(name: &str, action: CommandEffect) -> Command {
    Command {
        call: name.to_owned(),
        action,
        ..Command::default()
    }
}

fn dispatch(accesses: Vec<RecordedAccess>) -> Command {
    call("vkCmdDispatch", CommandEffect::Access(accesses))
}

fn bytes(resource: u32, (first, end): (u64, u64), stage: S, access: A) -> RecordedAccess {
    RecordedAccess {
        resource,
        part: ResourcePart::Bytes(first, end),
        stage,
        access,
        whole: true,
        conditional: false,
        layout: None,
    }
}

/// Writes a whole buffer.
fn write(resource: u32) -> Command {
    dispatch(vec![bytes(resource, (0, SIZE), CS, STORAGE_WRITE)])
}

/// Reads a whole buffer.
fn read(resource: u32) -> Command {
    dispatch(vec![bytes(resource, (0, SIZE), CS, STORAGE_READ)])
}

/// Level 0 and layer 0 of the color aspect.
fn range() -> SubresourceRange {
    levels(0, 1)
}

fn levels(first: u32, end: u32) -> SubresourceRange {
    SubresourceRange {
        aspects: Aspects::COLOR,
        levels: Run::new(first, end),
        layers: Run::new(0, 1),
    }
}

fn layers(first: u32, end: u32) -> SubresourceRange {
    SubresourceRange {
        layers: Run::new(first, end),
        ..range()
    }
}

fn depth_range() -> SubresourceRange {
    SubresourceRange {
        aspects: Aspects::DEPTH,
        ..range()
    }
}

fn texels(resource: u32, range: SubresourceRange, stage: S, access: A) -> RecordedAccess {
    RecordedAccess {
        part: ResourcePart::Texels { range, area: None },
        ..bytes(resource, (0, 0), stage, access)
    }
}

fn within(mut access: RecordedAccess, area: [[u32; 2]; 2]) -> RecordedAccess {
    if let ResourcePart::Texels { range, .. } = access.part {
        access.part = ResourcePart::Texels {
            range,
            area: Some(area),
        };
    }
    access
}

fn in_layout(access: RecordedAccess, layout: L) -> RecordedAccess {
    RecordedAccess {
        layout: Some(Layout(layout)),
        ..access
    }
}

fn some(access: RecordedAccess) -> RecordedAccess {
    RecordedAccess {
        whole: false,
        ..access
    }
}

/// Writes a whole image.
fn image_write(resource: u32) -> Command {
    dispatch(vec![texels(resource, range(), CS, STORAGE_WRITE)])
}

/// Reads a whole image.
fn image_read(resource: u32) -> Command {
    dispatch(vec![texels(resource, range(), CS, STORAGE_READ)])
}

fn scopes((src_stages, src_access): (S, A), (dst_stages, dst_access): (S, A)) -> DependencyScopes {
    DependencyScopes {
        src_stages,
        src_access,
        dst_stages,
        dst_access,
    }
}

fn barrier(dependencies: Vec<Dependency>) -> Command {
    call("vkCmdPipelineBarrier2", CommandEffect::Barrier(dependencies))
}

fn global(src: (S, A), dst: (S, A)) -> Dependency {
    Dependency {
        scopes: scopes(src, dst),
        memory: AffectedMemory::All,
        families: None,
    }
}

/// A memory barrier.
fn mb(src: (S, A), dst: (S, A)) -> Command {
    barrier(vec![global(src, dst)])
}

fn transition(
    resource: u32,
    range: SubresourceRange,
    src: (S, A),
    dst: (S, A),
    layouts: [L; 2],
) -> Dependency {
    Dependency {
        scopes: scopes(src, dst),
        memory: AffectedMemory::Image {
            resource,
            range,
            old: layouts[0],
            new: layouts[1],
        },
        families: None,
    }
}

/// A barrier for a whole image.
fn ib(resource: u32, src: (S, A), dst: (S, A), layouts: [L; 2]) -> Command {
    barrier(vec![transition(resource, range(), src, dst, layouts)])
}

const WRITTEN: (S, A) = (CS, STORAGE_WRITE);
const READ: (S, A) = (CS, STORAGE_READ);
const NOTHING: (S, A) = (CS, A::NONE);
const TOP: (S, A) = (S::TOP_OF_PIPE, A::NONE);
const BOTTOM: (S, A) = (S::BOTTOM_OF_PIPE, A::NONE);
const OUTPUT: (S, A) = (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
const SAMPLED: (S, A) = (S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ);
const EVERYTHING: (S, A) = (
    S::ALL_COMMANDS,
    A::from_raw(A::MEMORY_READ.as_raw() | A::MEMORY_WRITE.as_raw()),
);
const NEW: [L; 2] = [L::UNDEFINED, L::GENERAL];

/// An attachment that is cleared and stored.
fn attachment(resource: u32, layouts: [L; 2]) -> Attachment {
    Attachment {
        resource,
        range: range(),
        load: Load::CLEAR,
        store: Store::STORE,
        stencil_load: Load::DONT_CARE,
        stencil_store: Store::DONT_CARE,
        initial: layouts[0],
        last: layouts[1],
    }
}

fn used(attachment: u32, role: Role, layout: L) -> AttachmentUse {
    AttachmentUse {
        attachment,
        role,
        layout,
        resolved: Aspects::empty(),
    }
}

fn subpass(uses: Vec<AttachmentUse>) -> Subpass {
    Subpass { uses, view_mask: 0 }
}

/// A render pass with one color attachment.
fn color_pass(attachment: Attachment) -> RenderPassInstance {
    RenderPassInstance {
        attachments: vec![attachment],
        subpasses: vec![subpass(vec![used(0, Role::Color, L::COLOR_ATTACHMENT_OPTIMAL)])],
        ..RenderPassInstance::default()
    }
}

fn begin(instance: RenderPassInstance) -> Command {
    call("vkCmdBeginRenderPass", CommandEffect::Begin(Box::new(instance)))
}

fn draw(accesses: Vec<RecordedAccess>) -> Command {
    call("vkCmdDraw", CommandEffect::Access(accesses))
}

fn end() -> Command {
    call("vkCmdEndRenderPass", CommandEffect::End)
}

fn next() -> Command {
    call("vkCmdNextSubpass", CommandEffect::NextSubpass)
}

fn dependency(from: Option<u32>, to: Option<u32>, src: (S, A), dst: (S, A)) -> SubpassDependency {
    SubpassDependency {
        from,
        to,
        scopes: scopes(src, dst),
    }
}
