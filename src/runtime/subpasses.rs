//! The subpasses of render pass objects: their attachment references.

use ash::vk;

use crate::lower::Lowered;
use crate::lower::tables::OptionalIndex;
use crate::lower::tables::instances::{AttachmentRow, ReferenceRow, SubpassRow};
use crate::units::Run;

/// The attachment references of a subpass.
pub(super) struct Subpass<'a> {
    pub(super) colors: Vec<vk::AttachmentReference>,
    pub(super) resolves: Vec<vk::AttachmentReference>,
    pub(super) depth: Option<vk::AttachmentReference>,
    pub(super) depth_resolve: Option<DepthResolve>,
    pub(super) inputs: Vec<vk::AttachmentReference>,
    pub(super) preserved: &'a [u32],
}

/// The resolve attachment of depth and stencil, and the mode of both.
#[derive(Clone, Copy)]
pub(super) struct DepthResolve {
    pub(super) reference: vk::AttachmentReference,
    pub(super) mode: vk::ResolveModeFlags,
}

impl<'a> Subpass<'a> {
    /// Creates the references of a subpass; `attachments` are those of its instance.
    pub(super) fn new(tables: &'a Lowered, attachments: &[AttachmentRow], row: &SubpassRow) -> Subpass<'a> {
        let reference = |one: &ReferenceRow| vk::AttachmentReference {
            attachment: one.attachment,
            layout: one.layout,
        };
        let list = |run: Run| run.of(&tables.references).iter().map(reference).collect();
        let one = |row: OptionalIndex| row.get().map(|row| reference(&tables.references[row as usize]));
        let depth = one(row.depth);
        let resolve = |(source, reference): (vk::AttachmentReference, _)| DepthResolve {
            reference,
            mode: attachments[source.attachment as usize].resolve_mode,
        };
        Subpass {
            colors: list(row.colors),
            resolves: list(row.resolves),
            depth,
            depth_resolve: depth.zip(one(row.depth_resolve)).map(resolve),
            inputs: list(row.inputs),
            preserved: row.preserved.of(&tables.indices),
        }
    }

    pub(super) fn description(&self) -> vk::SubpassDescription<'_> {
        let description = vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&self.colors)
            .input_attachments(&self.inputs)
            .preserve_attachments(self.preserved);
        let description = match &self.depth {
            Some(depth) => description.depth_stencil_attachment(depth),
            None => description,
        };
        match &self.resolves[..] {
            [] => description,
            resolves => description.resolve_attachments(resolves),
        }
    }

    /// The depth and stencil resolve as words. `VkSubpassDescription` does not contain it.
    pub(super) fn words(&self) -> [u32; 3] {
        match self.depth_resolve {
            Some(DepthResolve { reference, mode }) => [
                reference.attachment,
                reference.layout.as_raw() as u32,
                mode.as_raw(),
            ],
            None => [vk::ATTACHMENT_UNUSED, 0, 0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_resolves_of_depth_apart() {
        let words = |depth_resolve| {
            let subpass = Subpass {
                colors: Vec::new(),
                resolves: Vec::new(),
                depth: None,
                depth_resolve,
                inputs: Vec::new(),
                preserved: &[],
            };
            subpass.words()
        };
        let of = |attachment, layout, mode| {
            let reference = vk::AttachmentReference { attachment, layout };
            words(Some(DepthResolve { reference, mode }))
        };
        let layout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        let zero = vk::ResolveModeFlags::SAMPLE_ZERO;
        let all = [
            words(None),
            of(0, layout, zero),
            of(1, layout, zero),
            of(0, vk::ImageLayout::GENERAL, zero),
            of(0, layout, vk::ResolveModeFlags::AVERAGE),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one));
        }
    }
}
