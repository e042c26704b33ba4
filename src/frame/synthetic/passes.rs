//! The kinds of passes, and the resources that each reads and produces.

use ash::vk;

use super::draft::Draft;
use super::generator::{Generator, ProducedKind, ProducedResource, Size};
use super::*;
use crate::frame::tables::ResourceKind;
use crate::units::Bytes;

impl Generator {
    pub(super) fn render(&mut self, draft: &mut Draft, due: u32, last: bool) {
        let size = match self.random.below(8) {
            _ if last => Size::Full,
            0..=3 => Size::Full,
            4 | 5 => Size::Half,
            6 => Size::Quarter,
            _ => Size::Shadow,
        };
        if self.random.one_in(2) {
            self.read(draft, |made| matches!(made.kind, ProducedKind::Input(_)));
        }
        self.sample(draft);
        if self.random.one_in(6) {
            let color =
                |made: &ProducedResource| matches!(made.kind, ProducedKind::Color(of, _) if of == size);
            if let Some(index) = self.choose(draft, false, color) {
                self.use_made(draft, index, AccessKind::InputAttachment, None);
            }
        }
        if last {
            let before = Some(LoadOp::DontCare);
            draft.push(self.swapchain, AccessKind::ColorAttachment, false, before);
        }
        let mut due = due;
        if !last && due >= 2 && self.random.one_in(12) {
            self.multisampled(draft, size);
            return self.extra_buffers(draft, due - 2);
        }
        // Tests a depth buffer of this size again, or makes a new one.
        if size == Size::Shadow || self.random.one_in(2) {
            let depth = |made: &ProducedResource| made.kind == ProducedKind::Depth(size);
            match self.choose(draft, true, depth) {
                Some(index) if !self.random.one_in(4) => {
                    let before = self.random.one_in(2).then_some(LoadOp::Load);
                    self.use_made(draft, index, AccessKind::DepthStencilAttachment, before);
                }
                _ if due > 0 => {
                    due -= 1;
                    self.new_depth(draft, size);
                }
                _ => {}
            }
        }
        let colors = if size == Size::Shadow { 0 } else { due.min(4) };
        for _ in 0..colors {
            self.new_color(draft, size, AccessKind::ColorAttachment);
        }
        let blend = colors == 0 && !last && size != Size::Shadow;
        if blend || (colors < 4 && self.random.one_in(8)) {
            let color =
                |made: &ProducedResource| matches!(made.kind, ProducedKind::Color(of, _) if of == size);
            if let Some(index) = self.choose(draft, true, color) {
                self.use_made(draft, index, AccessKind::ColorAttachment, Some(LoadOp::Load));
            }
        }
        self.extra_buffers(draft, due - colors);
    }

    pub(super) fn compute(&mut self, draft: &mut Draft, due: u32) {
        self.sample(draft);
        let buffers = self.random.below(3);
        for _ in 0..buffers {
            self.read(draft, |made| made.kind == ProducedKind::Buffer);
        }
        if due == 0 || self.random.one_in(6) {
            let written =
                |made: &ProducedResource| matches!(made.kind, ProducedKind::Buffer | ProducedKind::Color(..));
            if let Some(index) = self.choose(draft, true, written) {
                let access = match self.produced[index].kind {
                    ProducedKind::Buffer => AccessKind::StorageBuffer,
                    _ => AccessKind::StorageImage,
                };
                self.use_made(draft, index, access, Some(LoadOp::Load));
            }
        }
        let size = self.random.pick(&[Size::Full, Size::Half, Size::Quarter]);
        let images = self.random.below(u64::from(due.min(3)) + 1) as u32;
        for _ in 0..images {
            self.new_color(draft, size, AccessKind::StorageImage);
        }
        self.extra_buffers(draft, due - images);
    }

    pub(super) fn transfer(&mut self, draft: &mut Draft, due: u32) {
        let mut due = due;
        let copied =
            |made: &ProducedResource| matches!(made.kind, ProducedKind::Color(..) | ProducedKind::Buffer);
        if let Some(index) = self.choose(draft, false, copied) {
            let kind = self.produced[index].kind;
            self.use_made(draft, index, AccessKind::TransferSource, None);
            if let (ProducedKind::Color(size, format), true) = (kind, due > 0) {
                due -= 1;
                let image = self.declare("copy", image(size, format), Persistence::Transient);
                self.enter(image, kind);
                draft.push(
                    image,
                    AccessKind::TransferDestination,
                    false,
                    Some(LoadOp::DontCare),
                );
            }
        }
        // Fills.
        for _ in 0..due {
            self.new_buffer(draft, AccessKind::TransferDestination);
        }
    }

    /// Adds reads of one to five images of earlier passes.
    fn sample(&mut self, draft: &mut Draft) {
        for _ in 0..1 + self.random.below(5) {
            self.read(draft, |made| {
                matches!(made.kind, ProducedKind::Color(..) | ProducedKind::Depth(_))
            });
        }
    }

    fn multisampled(&mut self, draft: &mut Draft, size: Size) {
        let format = vk::Format::R8G8B8A8_UNORM;
        let mut desc = image(size, format);
        desc.samples = vk::SampleCountFlags::TYPE_4;
        let samples = self.declare("samples", desc, Persistence::Transient);
        let clear = Some(LoadOp::Clear(ClearValue::ZERO));
        draft.push(samples, AccessKind::ColorAttachment, false, clear);
        let resolved = self.declare("resolved", image(size, format), Persistence::Transient);
        draft.push(
            resolved,
            AccessKind::ResolveAttachment,
            false,
            Some(LoadOp::DontCare),
        );
        draft.accesses.last_mut().expect("an access was pushed").resolves = Some(samples);
        self.enter(resolved, ProducedKind::Color(size, format));
    }

    fn new_depth(&mut self, draft: &mut Draft, size: Size) {
        let format = self.random.pick(&[vk::Format::D32_SFLOAT, vk::Format::D16_UNORM]);
        let depth = self.declare("depth", image(size, format), Persistence::Transient);
        let clear = Some(LoadOp::Clear(ClearValue::DepthStencil(1.0, 0)));
        draft.push(depth, AccessKind::DepthStencilAttachment, false, clear);
        self.enter(depth, ProducedKind::Depth(size));
    }

    fn new_color(&mut self, draft: &mut Draft, size: Size, access: AccessKind) {
        // All of these can be attachments and storage images.
        let format = self.random.pick(&[
            vk::Format::R8G8B8A8_UNORM,
            vk::Format::R8G8B8A8_UNORM,
            vk::Format::R16G16B16A16_SFLOAT,
            vk::Format::R32_SFLOAT,
        ]);
        let before = if access == AccessKind::ColorAttachment && self.random.one_in(2) {
            LoadOp::Clear(ClearValue::ZERO)
        } else {
            LoadOp::DontCare
        };
        // A history is written and read on the first queue; its two versions need no order other than the frame's.
        if self.queue == 0 && self.random.one_in(16) {
            let history = self.declare("history", image(size, format), Persistence::History);
            draft.push(history, AccessKind::SampledImage, true, None);
            draft.accesses.last_mut().expect("an access was pushed").previous = true;
            draft.push(history, access, false, Some(before));
            return;
        }
        let color = self.declare("image", image(size, format), Persistence::Transient);
        draft.push(color, access, false, Some(before));
        self.enter(color, ProducedKind::Color(size, format));
    }

    fn extra_buffers(&mut self, draft: &mut Draft, count: u32) {
        for _ in 0..count {
            self.new_buffer(draft, AccessKind::StorageBuffer);
        }
    }

    fn new_buffer(&mut self, draft: &mut Draft, access: AccessKind) {
        let magnitude = self.random.below(14);
        let size = Bytes(256 * (1 + self.random.below(1 << magnitude)));
        let buffer = self.declare("buffer", BufferDesc::new(size), Persistence::Transient);
        draft.push(buffer, access, false, Some(LoadOp::DontCare));
        self.enter(buffer, ProducedKind::Buffer);
    }

    fn declare(&mut self, what: &str, desc: impl Into<ResourceKind>, persistence: Persistence) -> ResourceId {
        self.resources += 1;
        self.frame
            .resource(format!("{what}{}", self.resources), desc, persistence)
    }

    /// Makes a resource that this batch writes available to later passes.
    fn enter(&mut self, id: ResourceId, kind: ProducedKind) {
        let mut used_until = vec![0; self.queues.len()];
        used_until[self.queue] = self.batch + 1;
        self.produced.push(ProducedResource {
            id,
            kind,
            is_read: false,
            written_until: used_until.clone(),
            used_until,
        });
    }
}

fn image(size: Size, format: vk::Format) -> ImageDesc {
    match size {
        Size::Full => ImageDesc::scaled(format, 1.0, 1.0),
        Size::Half => ImageDesc::scaled(format, 0.5, 0.5),
        Size::Quarter => ImageDesc::scaled(format, 0.25, 0.25),
        Size::Shadow => ImageDesc::new(
            format,
            vk::Extent2D {
                width: 1024,
                height: 1024,
            },
        ),
    }
}
