//! Feedback of the driver about merged subpasses.
//!
//! Source: [`VK_EXT_subpass_merge_feedback`](https://docs.vulkan.org/features/latest/features/proposals/VK_EXT_subpass_merge_feedback.html).

use ash::vk;

/// The driver's decision about a subpass of a render pass object: a merged one keeps its input attachments on chip.
///
/// [`BoundFrame::subpass_merges`](super::BoundFrame::subpass_merges) returns one for each subpass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubpassMerge {
    /// `MERGED` if the subpass runs together with an earlier one, otherwise the reason.
    pub status: vk::SubpassMergeStatusEXT,
    /// The driver's explanation; empty if it gives none.
    pub description: String,
    /// Index of the subpass after merging, which merged subpasses share.
    pub merged_index: u32,
}

impl From<&vk::RenderPassSubpassFeedbackInfoEXT> for SubpassMerge {
    fn from(info: &vk::RenderPassSubpassFeedbackInfoEXT) -> SubpassMerge {
        let description = info.description_as_c_str().unwrap_or_default();
        SubpassMerge {
            status: info.subpass_merge_status,
            description: description.to_string_lossy().into_owned(),
            merged_index: info.post_merge_index,
        }
    }
}
