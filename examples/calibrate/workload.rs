//! The measured workloads: a frame of a few passes, and one that copies memory.

use ash::vk;
use tileheap::arrange::{ArrangedBatch, Arrangement, GroupMode, PassGroup, StripGrid};
use tileheap::frame::{
    BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, ReadReach,
    ResourceId,
};
use tileheap::units::Bytes;

use crate::support::error::Result;

pub(crate) const FORMAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Bytes per texel.
pub(crate) const TEXEL: u64 = 8;

/// The work of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Triangles(u32),
    /// Draws over the whole target.
    Over,
    /// Reads this image at each pixel and around it.
    Read {
        image: ResourceId,
        reach: u32,
    },
    Fill(ResourceId),
    /// Copies one buffer to the other.
    Copy(ResourceId, ResourceId),
}

/// A frame in one command buffer.
pub(crate) struct Workload {
    pub(crate) frame: Frame,
    pub(crate) commands: CommandBufferId,
    /// The work of each pass.
    pub(crate) programs: Vec<Program>,
}

/// Parameters of a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkloadDesc {
    pub(crate) extent: vk::Extent2D,
    pub(crate) triangles: u32,
    /// Reach of `blur`: the distance from the pixel at which it reads.
    pub(crate) reach: u32,
    /// This many bytes of tile memory are bound in every pass and not used, and all images are in ordinary memory.
    pub(crate) ballast: Option<Bytes>,
}

impl WorkloadDesc {
    /// Describes the frame: passes `geometry` and `decal` draw one image, `blur` computes another from it, and `show` a third.
    pub(crate) fn frame(self) -> Result<Workload> {
        let mut frame = FrameBuilder::new("calibrate", self.extent);
        let [drawn, blurred, shown] =
            ["drawn", "blurred", "shown"].map(|name| frame.image(name, ImageDesc::new(FORMAT, self.extent)));
        let ballast = self
            .ballast
            .map(|size| frame.buffer("ballast", BufferDesc::new(size)));
        let commands = commands(&mut frame);
        let clear = LoadOp::Clear(ClearValue::Float([0.0; 4]));
        let read = |image, reach| Program::Read { image, reach };
        let passes = [
            ("geometry", Program::Triangles(self.triangles), drawn, clear),
            ("decal", Program::Over, drawn, LoadOp::Load),
            ("blur", read(drawn, self.reach), blurred, LoadOp::DontCare),
            ("show", read(blurred, 0), shown, LoadOp::DontCare),
        ];
        for (name, program, target, load) in passes {
            let mut pass = frame.render_pass(commands, name).in_strips(Bytes::ZERO);
            if let Program::Read { image, reach } = program {
                pass = pass.sampled(image).reaching(ReadReach::Texels(reach));
            }
            pass = pass.color(target, load);
            if let Some(ballast) = ballast {
                pass.storage_write(ballast);
            }
        }
        let frame = frame.build()?;
        let frame = match ballast {
            Some(ballast) => frame
                .with_excluded(&[drawn, blurred, shown])
                .with_pinned(&[ballast]),
            // The shown image goes to memory, as a picture does.
            None => frame.with_excluded(&[shown]),
        };
        Ok(Workload {
            frame,
            commands,
            programs: passes.map(|pass| pass.1).to_vec(),
        })
    }
}

/// A workload that fills this number of bytes and copies them: three times as many bytes are moved.
pub(crate) fn copying(size: Bytes) -> Result<Workload> {
    let mut frame = FrameBuilder::new("copies", vk::Extent2D { width: 1, height: 1 });
    let [from, to] = ["from", "to"].map(|name| frame.buffer(name, BufferDesc::new(size)));
    let commands = commands(&mut frame);
    frame.transfer_pass(commands, "fill").transfer_destination(from);
    frame
        .transfer_pass(commands, "copy")
        .transfer_source(from)
        .transfer_destination(to);
    Ok(Workload {
        frame: frame.build()?,
        commands,
        programs: vec![Program::Fill(from), Program::Copy(from, to)],
    })
}

fn commands(frame: &mut FrameBuilder) -> CommandBufferId {
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    frame.command_buffer(batch, "all")
}

/// An arrangement with the first `passes` passes in one group, and each of the others by itself.
pub(crate) fn grouped(frame: &Frame, passes: usize, mode: GroupMode) -> Arrangement {
    let mut arrangement = Arrangement::described(frame);
    let ArrangedBatch { groups, .. } = &mut arrangement.batches[0];
    let passes: Vec<PassId> = frame.pass_ids().take(passes).collect();
    groups.splice(..passes.len(), [PassGroup::new(passes, mode)]);
    arrangement
}

/// The group mode for a number of horizontal strips.
pub(crate) fn strips(rows: u32) -> GroupMode {
    GroupMode::Strips(StripGrid { columns: 1, rows })
}
