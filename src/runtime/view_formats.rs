//! Checks that the driver supports the formats of views that differ from the formats of their images.

use ash::vk;

use super::device_state::DeviceState;
use super::error::RuntimeError;
use crate::Result;
use crate::frame::tables::{Access, ResourceKind};
use crate::frame::{AccessKind, Frame, Persistence};

/// The format features that a kind of access requires of a view, and the rule; `None` for accesses without a view.
fn needed(kind: AccessKind, depth: bool) -> Option<(vk::FormatFeatureFlags, &'static str)> {
    use vk::FormatFeatureFlags as F;
    let attachment = if depth {
        F::DEPTH_STENCIL_ATTACHMENT
    } else {
        F::COLOR_ATTACHMENT
    };
    match kind {
        AccessKind::SampledImage => Some((F::SAMPLED_IMAGE, "VUID-VkImageViewCreateInfo-usage-02274")),
        AccessKind::StorageImage => Some((F::STORAGE_IMAGE, "VUID-VkImageViewCreateInfo-usage-02275")),
        AccessKind::ColorAttachment => Some((attachment, "VUID-VkImageViewCreateInfo-usage-08931")),
        AccessKind::DepthStencilAttachment => Some((attachment, "VUID-VkImageViewCreateInfo-usage-02277")),
        AccessKind::InputAttachment => Some((attachment, "VUID-VkImageViewCreateInfo-usage-08932")),
        AccessKind::ResolveAttachment if depth => {
            Some((attachment, "VUID-VkImageViewCreateInfo-usage-02277"))
        }
        AccessKind::ResolveAttachment => Some((attachment, "VUID-VkImageViewCreateInfo-usage-08931")),
        _ => None,
    }
}

impl DeviceState {
    /// Returns an error if a pass uses an image through a view whose format does not support that use on this device.
    pub(super) fn views_are_supported(&self, frame: &Frame) -> Result<()> {
        for pass in frame.pass_ids() {
            for access in frame.accesses_of(pass) {
                if let Some((format, rule)) = self.unsupported_view(frame, access) {
                    let resource = &frame.resource(access.resource).name;
                    let pass = &frame.pass(pass).name;
                    let why = format!(
                        "pass `{pass}` uses it as {} through a view of format {format:?}, which this device does not support ({rule})",
                        access.kind.noun()
                    );
                    return Err(RuntimeError::unsupported(resource, why));
                }
            }
        }
        Ok(())
    }

    /// The format of an access's view, if it does not support the access, and the violated rule.
    fn unsupported_view(&self, frame: &Frame, access: &Access) -> Option<(vk::Format, &'static str)> {
        let resource = frame.resource(access.resource);
        let ResourceKind::Image { desc, .. } = &resource.kind else {
            return None;
        };
        let format = access.view.format.unwrap_or(desc.format);
        // Views of the image's own format allow the usage that the image was queried with, unless it has more usage than its format allows.
        let asked = format == desc.format && !desc.flags.contains(vk::ImageCreateFlags::EXTENDED_USAGE);
        if asked || matches!(resource.persistence, Persistence::External(_)) {
            return None;
        }
        let depth = !resource.aspects().contains(vk::ImageAspectFlags::COLOR);
        let (features, rule) = needed(access.kind, depth)?;
        // SAFETY: the physical device is one of the instance.
        let properties = unsafe {
            self.instance
                .get_physical_device_format_properties(self.physical_device, format)
        };
        let there = properties.optimal_tiling_features.contains(features);
        (!there).then_some((format, rule))
    }
}
