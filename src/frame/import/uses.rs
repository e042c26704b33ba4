//! The words for uses.

use crate::frame::AccessKind;

/// What an entry of a pass's `reads` or `writes` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// An access.
    Access(AccessKind),
    /// An access that cannot write, whatever the list.
    ReadOnly(AccessKind),
    /// Presented: no access of a pass, but a state to leave in.
    Present,
}

/// The meaning of a word for an image, or for a buffer.
pub(super) fn parse_use(word: &str, is_image: bool) -> Option<Use> {
    use AccessKind as K;
    let word = word.to_ascii_lowercase().replace([' ', '-'], "_");
    let word = word.strip_suffix("_attachment").unwrap_or(&word);
    Some(Use::Access(match word {
        "color" | "colour" | "render_target" => K::ColorAttachment,
        "depth" | "stencil" | "depth_stencil" | "depth_write" => K::DepthStencilAttachment,
        "depth_read" | "depth_read_only" | "depth_test" | "stencil_read" => {
            return Some(Use::ReadOnly(K::DepthStencilAttachment));
        }
        "resolve" => K::ResolveAttachment,
        "input" | "subpass" => K::InputAttachment,
        "sampled" | "texture" | "sample" | "shader_read" | "srv" if is_image => K::SampledImage,
        "sampled" | "texture" | "texel" | "uniform_texel" | "uniform_texel_buffer" => K::UniformTexelBuffer,
        "storage" | "storage_image" | "uav" if is_image => K::StorageImage,
        "storage" | "storage_buffer" | "uav" => K::StorageBuffer,
        "storage_texel" | "storage_texel_buffer" => K::StorageTexelBuffer,
        "uniform" | "uniform_buffer" | "constant" => K::UniformBuffer,
        "address" | "device_address" | "buffer_device_address" | "pointer" => K::DeviceAddress,
        "vertex" | "vertex_buffer" => K::VertexBuffer,
        "index" | "index_buffer" => K::IndexBuffer,
        "indirect" | "indirect_buffer" => K::IndirectBuffer,
        "transfer_src" | "copy_src" | "blit_src" | "transfer_source" | "copy_source" | "readback" => {
            K::TransferSource
        }
        "transfer_dst"
        | "copy_dst"
        | "blit_dst"
        | "transfer_destination"
        | "copy_dest"
        | "clear"
        | "fill"
        | "upload" => K::TransferDestination,
        "present" => return Some(Use::Present),
        _ => return None,
    }))
}
