//! The attachments of a render pass, as both ways of recording need them.

use ash::vk;

use crate::frame::{AccessKind, ClearValue, LoadOp, PassId};
use crate::plan::{PlacementId, Plan};

/// One attachment of a render pass.
#[derive(Clone, Copy)]
pub(super) struct Attachment {
    pub(super) placement: PlacementId,
    pub(super) format: vk::Format,
    pub(super) aspects: vk::ImageAspectFlags,
    pub(super) samples: vk::SampleCountFlags,
    pub(super) layout: vk::ImageLayout,
    pub(super) load: vk::AttachmentLoadOp,
    pub(super) store: vk::AttachmentStoreOp,
    pub(super) clear: ClearValue,
    /// Where it is resolved to: an index into [`Attachments::resolves`].
    pub(super) resolve: Option<usize>,
}

/// The attachments of a render pass, in declared order.
#[derive(Default)]
pub(super) struct Attachments {
    pub(super) colors: Vec<Attachment>,
    pub(super) depth: Option<Attachment>,
    pub(super) resolves: Vec<Attachment>,
    pub(super) inputs: Vec<Attachment>,
}

impl Attachments {
    pub(super) fn of(plan: &Plan, pass: PassId) -> Attachments {
        let frame = &plan.frame;
        let mut attachments = Attachments::default();
        let accesses = frame.pass(pass).accesses.indices();
        for (access, planned) in frame
            .accesses_of(pass)
            .iter()
            .zip(&plan.accesses[accesses.clone()])
        {
            let resource = frame.resource(access.resource);
            let crate::frame::tables::ResourceKind::Image { desc, .. } = resource.kind else {
                continue;
            };
            let attachment = Attachment {
                placement: planned.placement,
                format: desc.format,
                aspects: resource.aspects(),
                samples: desc.samples,
                layout: planned.layout,
                load: planned.load_op,
                store: planned.store_op,
                clear: if let LoadOp::Clear(value) = access.load_op {
                    value
                } else {
                    ClearValue::ZERO
                },
                resolve: None,
            };
            match access.kind {
                AccessKind::ColorAttachment => attachments.colors.push(attachment),
                AccessKind::DepthStencilAttachment => attachments.depth = Some(attachment),
                AccessKind::ResolveAttachment => attachments.resolves.push(attachment),
                AccessKind::InputAttachment => attachments.inputs.push(attachment),
                _ => {}
            }
        }
        let resolving = frame
            .accesses_of(pass)
            .iter()
            .filter(|access| access.kind == AccessKind::ResolveAttachment);
        for (index, resolve) in resolving.enumerate() {
            let sources = frame
                .accesses_of(pass)
                .iter()
                .zip(&plan.accesses[accesses.clone()]);
            let source = sources.filter(|(access, _)| Some(access.resource) == resolve.resolves);
            for (_, planned) in source.filter(|(access, _)| access.kind.is_attachment()) {
                let all = attachments.colors.iter_mut().chain(&mut attachments.depth);
                for attachment in all.filter(|attachment| attachment.placement == planned.placement) {
                    attachment.resolve = Some(index);
                }
            }
        }
        attachments
    }

    /// Every attachment, of any kind.
    pub(super) fn all(&self) -> impl Iterator<Item = &Attachment> {
        self.colors
            .iter()
            .chain(&self.depth)
            .chain(&self.resolves)
            .chain(&self.inputs)
    }
}

impl Attachment {
    /// How its samples become one: the average, or the first of formats that have no average.
    pub(super) fn resolve_mode(&self) -> vk::ResolveModeFlags {
        let name = format!("{:?}", self.format);
        let averaged = self.aspects.contains(vk::ImageAspectFlags::COLOR)
            && !name.contains("UINT")
            && !name.contains("SINT");
        if averaged {
            vk::ResolveModeFlags::AVERAGE
        } else {
            vk::ResolveModeFlags::SAMPLE_ZERO
        }
    }
}
