//! Subpasses: what each waits for.

use ash::vk;

use super::tables::Lowered;
use super::tables::commands::{Scopes, SubpassDependencyRow};
use crate::frame::tables::{Access, PassKind};
use crate::frame::{AccessKind, Frame, PassId};
use crate::units::Run;

/// Adds what a subpass waits for: the earlier ones that wrote what it uses or use what it writes, and itself where it reads an attachment
/// that it writes.
pub(super) fn dependencies(frame: &Frame, pass: PassId, subpass: u32, lowered: &mut Lowered) -> Run {
    let first = lowered.subpass_dependencies.len() as u32;
    let of = |subpass| {
        let accesses = frame.accesses_of(pass).iter();
        accesses.filter(move |access| access.subpass == subpass && access.kind.is_attached())
    };
    for after in 0..=subpass {
        let mut all: Option<Scopes> = None;
        for later in of(subpass) {
            let own = |earlier: &&Access| {
                let same = (earlier.resource, earlier.version) == (later.resource, later.version)
                    && earlier.range.intersects(later.range);
                let itself = earlier.kind.is_attachment() && later.kind == AccessKind::InputAttachment;
                same && (after < subpass || itself) && (earlier.writes || later.writes)
            };
            for earlier in of(after).filter(own) {
                let scopes = all.get_or_insert_default();
                let color = later.range.aspects.contains(vk::ImageAspectFlags::COLOR);
                let attachment = match later.kind {
                    AccessKind::InputAttachment if color => AccessKind::ColorAttachment,
                    AccessKind::InputAttachment => AccessKind::DepthStencilAttachment,
                    kind => kind,
                };
                scopes.src_stages |= earlier.stages;
                scopes.src_access |= earlier.kind.access_flags(false, earlier.writes);
                scopes.dst_stages |= later.stages;
                scopes.dst_access |= later.kind.access_flags(true, false);
                if after < subpass {
                    // Where it is used last, the attachment is stored.
                    scopes.dst_stages |= attachment.default_stages(PassKind::Render);
                    scopes.dst_access |= attachment.access_flags(true, true);
                }
            }
        }
        let row = all.map(|scopes| SubpassDependencyRow { after, scopes });
        lowered.subpass_dependencies.extend(row);
    }
    Run::new(first, lowered.subpass_dependencies.len() as u32)
}
