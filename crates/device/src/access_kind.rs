//! The kinds of access: one table from which usages, stages, access flags, layouts and names derive.

use ash::vk;
use ash::vk::{
    AccessFlags2 as A, BufferUsageFlags as B, ImageLayout as L, ImageUsageFlags as I,
    PipelineStageFlags2 as S,
};
use serde::{Deserialize, Serialize};

use crate::ffi;

/// The kind of commands that a pass records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassKind {
    /// Draws, inside one render pass instance.
    Render,
    /// Dispatches and other action commands outside a render pass.
    Compute,
    /// Copies, blits, resolves, fills and clears.
    Transfer,
}

/// The part of the device that performs an access.
#[derive(Clone, Copy)]
enum Accessor {
    /// The render pass: load, store, blend, test and resolve.
    Attachment,
    /// Shaders, in the stages of the pass's kind unless others are specified.
    Shader,
    /// Copy, blit, resolve, fill and clear commands.
    Transfer,
    /// The fixed-function stages that fetch vertices, indices and parameters.
    Fetch,
}

/// The layouts in which an image is accessed.
#[derive(Clone, Copy)]
enum Layouts {
    /// No layout: only buffers support the access.
    None,
    One(L),
    ByAspect {
        color: L,
        depth: L,
    },
    ByDirection {
        read: L,
        write: L,
    },
}

/// The properties of one kind of access, as Vulkan defines them.
struct Row {
    accessor: Accessor,
    /// Usage flags for color images and for images with depth or stencil, in this order.
    image: [I; 2],
    buffer: B,
    /// The stages that perform this access; empty for shader accesses, whose stages depend on the pass.
    stages: S,
    read: A,
    write: A,
    layouts: Layouts,
    /// An English noun with its article.
    noun: &'static str,
    /// Words that stand for this kind in loose descriptions, in lower case, without `_attachment`.
    words: &'static [&'static str],
}

const SHADER: Row = Row {
    accessor: Accessor::Shader,
    image: [I::empty(); 2],
    buffer: B::empty(),
    stages: S::empty(),
    read: A::NONE,
    write: A::NONE,
    layouts: Layouts::None,
    noun: "",
    words: &[],
};

macro_rules! access_kinds {
    ($($(#[$doc:meta])* $kind:ident { $($field:ident: $value:expr),* $(,)? })*) => {
        /// The kind of access to a resource.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u32)]
        pub enum AccessKind {
            $($(#[$doc])* $kind,)*
        }

        impl AccessKind {
            /// Every kind, in declaration order.
            pub const ALL: [AccessKind; ROWS.len()] = [$(AccessKind::$kind),*];
        }

        const ROWS: [Row; [$(stringify!($kind)),*].len()] = [$(Row { $($field: $value,)* ..SHADER }),*];
    };
}

access_kinds! {
    /// A color attachment; those of a pass are numbered from 0, in the order of their accesses.
    ColorAttachment {
        accessor: Accessor::Attachment,
        image: [I::COLOR_ATTACHMENT; 2],
        stages: S::COLOR_ATTACHMENT_OUTPUT,
        read: A::COLOR_ATTACHMENT_READ,
        write: A::COLOR_ATTACHMENT_WRITE,
        layouts: Layouts::One(L::COLOR_ATTACHMENT_OPTIMAL),
        noun: "a color attachment",
        words: &["color", "colour", "render_target"],
    }
    /// The depth and stencil attachment.
    DepthStencilAttachment {
        accessor: Accessor::Attachment,
        image: [I::DEPTH_STENCIL_ATTACHMENT; 2],
        stages: S::from_raw(S::EARLY_FRAGMENT_TESTS.as_raw() | S::LATE_FRAGMENT_TESTS.as_raw()),
        read: A::DEPTH_STENCIL_ATTACHMENT_READ,
        write: A::DEPTH_STENCIL_ATTACHMENT_WRITE,
        layouts: Layouts::ByDirection {
            read: L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            write: L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        },
        noun: "a depth and stencil attachment",
        words: &["depth", "stencil", "depth_stencil", "depth_write"],
    }
    /// Receives the resolved samples of another attachment of the pass.
    ResolveAttachment {
        accessor: Accessor::Attachment,
        image: [I::COLOR_ATTACHMENT, I::DEPTH_STENCIL_ATTACHMENT],
        stages: S::COLOR_ATTACHMENT_OUTPUT,
        write: A::COLOR_ATTACHMENT_WRITE,
        layouts: Layouts::ByAspect {
            color: L::COLOR_ATTACHMENT_OPTIMAL,
            depth: L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        },
        noun: "a resolve attachment",
        words: &["resolve"],
    }
    /// Read at the fragment's own pixel.
    InputAttachment {
        image: [I::INPUT_ATTACHMENT; 2],
        read: A::INPUT_ATTACHMENT_READ,
        layouts: READ_ONLY,
        noun: "an input attachment",
        words: &["input", "subpass"],
    }
    /// An attachment of the pass that shaders load and store within their tile; only in passes with tile shading (`VK_QCOM_tile_shading`).
    TileAttachment {
        image: [I::STORAGE; 2],
        read: ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM,
        write: ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM,
        layouts: Layouts::One(L::GENERAL),
        noun: "a tile attachment",
        words: &["tile"],
    }
    /// Sampled or fetched through a sampled image descriptor.
    SampledImage {
        image: [I::SAMPLED; 2],
        read: A::SHADER_SAMPLED_READ,
        layouts: READ_ONLY,
        noun: "a sampled image",
        words: &["sampled", "texture", "sample", "shader_read", "srv"],
    }
    /// A fragment density map; a hook of the pass attaches it.
    FragmentDensityMap {
        accessor: Accessor::Fetch,
        image: [I::FRAGMENT_DENSITY_MAP_EXT; 2],
        stages: S::FRAGMENT_DENSITY_PROCESS_EXT,
        read: A::FRAGMENT_DENSITY_MAP_READ_EXT,
        layouts: Layouts::One(L::FRAGMENT_DENSITY_MAP_OPTIMAL_EXT),
        noun: "a fragment density map",
        words: &["fragment_density", "fragment_density_map"],
    }
    /// A storage image.
    StorageImage {
        image: [I::STORAGE; 2],
        read: A::SHADER_STORAGE_READ,
        write: A::SHADER_STORAGE_WRITE,
        layouts: Layouts::One(L::GENERAL),
        noun: "a storage image",
        words: &["storage", "storage_image", "uav"],
    }
    /// A uniform buffer.
    UniformBuffer {
        buffer: B::UNIFORM_BUFFER,
        read: A::UNIFORM_READ,
        noun: "a uniform buffer",
        words: &["uniform", "uniform_buffer", "constant"],
    }
    /// A storage buffer.
    StorageBuffer {
        buffer: B::STORAGE_BUFFER,
        read: A::SHADER_STORAGE_READ,
        write: A::SHADER_STORAGE_WRITE,
        noun: "a storage buffer",
        words: &["storage", "storage_buffer", "uav"],
    }
    /// A uniform texel buffer.
    UniformTexelBuffer {
        buffer: B::UNIFORM_TEXEL_BUFFER,
        read: A::SHADER_SAMPLED_READ,
        noun: "a uniform texel buffer",
        words: &["sampled", "texture", "texel", "uniform_texel", "uniform_texel_buffer"],
    }
    /// A storage texel buffer.
    StorageTexelBuffer {
        buffer: B::STORAGE_TEXEL_BUFFER,
        read: A::SHADER_STORAGE_READ,
        write: A::SHADER_STORAGE_WRITE,
        noun: "a storage texel buffer",
        words: &["storage_texel", "storage_texel_buffer"],
    }
    /// Memory reached through a buffer device address.
    DeviceAddress {
        buffer: B::SHADER_DEVICE_ADDRESS,
        read: A::SHADER_STORAGE_READ,
        write: A::SHADER_STORAGE_WRITE,
        noun: "memory by device address",
        words: &["address", "device_address", "buffer_device_address", "pointer"],
    }
    /// Vertex attributes.
    VertexBuffer {
        accessor: Accessor::Fetch,
        buffer: B::VERTEX_BUFFER,
        stages: S::VERTEX_ATTRIBUTE_INPUT,
        read: A::VERTEX_ATTRIBUTE_READ,
        noun: "a vertex buffer",
        words: &["vertex", "vertex_buffer"],
    }
    /// Indices.
    IndexBuffer {
        accessor: Accessor::Fetch,
        buffer: B::INDEX_BUFFER,
        stages: S::INDEX_INPUT,
        read: A::INDEX_READ,
        noun: "an index buffer",
        words: &["index", "index_buffer"],
    }
    /// Parameters of an indirect draw or dispatch.
    IndirectBuffer {
        accessor: Accessor::Fetch,
        buffer: B::INDIRECT_BUFFER,
        stages: S::DRAW_INDIRECT,
        read: A::INDIRECT_COMMAND_READ,
        noun: "an indirect buffer",
        words: &["indirect", "indirect_buffer"],
    }
    /// Source of a copy, blit or resolve command.
    TransferSource {
        accessor: Accessor::Transfer,
        image: [I::TRANSFER_SRC; 2],
        buffer: B::TRANSFER_SRC,
        stages: S::ALL_TRANSFER,
        read: A::TRANSFER_READ,
        layouts: Layouts::One(L::TRANSFER_SRC_OPTIMAL),
        noun: "a transfer source",
        words: &["transfer_src", "copy_src", "blit_src", "transfer_source", "copy_source", "readback"],
    }
    /// Destination of a copy, blit, fill, clear or resolve command.
    TransferDestination {
        accessor: Accessor::Transfer,
        image: [I::TRANSFER_DST; 2],
        buffer: B::TRANSFER_DST,
        stages: S::ALL_TRANSFER,
        write: A::TRANSFER_WRITE,
        layouts: Layouts::One(L::TRANSFER_DST_OPTIMAL),
        noun: "a transfer destination",
        words: &[
            "transfer_dst", "copy_dst", "blit_dst", "transfer_destination", "copy_dest", "clear", "fill", "upload",
        ],
    }
}

const READ_ONLY: Layouts = Layouts::ByAspect {
    color: L::SHADER_READ_ONLY_OPTIMAL,
    depth: L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
};

static TABLE: [Row; ROWS.len()] = ROWS;

/// A set of kinds of access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessKinds(u32);

impl AccessKinds {
    const ATTACHMENTS: AccessKinds = AccessKinds::performed_by(Accessor::Attachment);
    const SHADERS: AccessKinds = AccessKinds::performed_by(Accessor::Shader);
    const TRANSFERS: AccessKinds = AccessKinds::performed_by(Accessor::Transfer);
    const ATTACHED: AccessKinds = AccessKinds::ATTACHMENTS
        .with(AccessKind::InputAttachment)
        .with(AccessKind::TileAttachment);

    const fn performed_by(accessor: Accessor) -> AccessKinds {
        let (mut kinds, mut index) = (0, 0);
        while index < ROWS.len() {
            if ROWS[index].accessor as u32 == accessor as u32 {
                kinds |= 1 << index;
            }
            index += 1;
        }
        AccessKinds(kinds)
    }

    /// Returns the set with `kind` added.
    #[must_use]
    #[inline]
    pub const fn with(self, kind: AccessKind) -> AccessKinds {
        AccessKinds(self.0 | 1 << kind as u32)
    }

    /// Returns true if a kind is in the set.
    #[inline]
    pub const fn contains(self, kind: AccessKind) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }
}

const _: () = assert!(ROWS.len() <= u32::BITS as usize);

impl AccessKind {
    #[inline]
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Returns true if a render pass has to attach the resource: attachments, and images that shaders access at their own pixel or in their tile.
    #[inline]
    pub const fn is_attached(self) -> bool {
        AccessKinds::ATTACHED.contains(self)
    }

    /// Returns true if the render pass itself accesses the resource: color, depth and stencil, resolve.
    #[inline]
    pub const fn is_attachment(self) -> bool {
        AccessKinds::ATTACHMENTS.contains(self)
    }

    /// Returns true if shaders access the resource.
    #[inline]
    pub const fn is_shader(self) -> bool {
        AccessKinds::SHADERS.contains(self)
    }

    /// Returns true if a copy, blit, resolve, fill or clear command accesses the resource.
    #[inline]
    pub const fn is_transfer(self) -> bool {
        AccessKinds::TRANSFERS.contains(self)
    }

    /// Returns true if images support this kind of access.
    #[inline]
    pub fn fits_images(self) -> bool {
        !self.row().image[0].is_empty()
    }

    /// Returns true if buffers support this kind of access.
    #[inline]
    pub fn fits_buffers(self) -> bool {
        !self.row().buffer.is_empty()
    }

    /// The image usage that this kind of access requires; empty for kinds that only buffers support.
    ///
    /// `depth`: the image has a depth or stencil aspect (resolve attachments are then depth attachments).
    #[inline]
    pub fn image_usage(self, depth: bool) -> vk::ImageUsageFlags {
        self.row().image[usize::from(depth)]
    }

    /// The buffer usage that this kind of access requires; empty for kinds that only images support.
    #[inline]
    pub fn buffer_usage(self) -> vk::BufferUsageFlags {
        self.row().buffer
    }

    /// The stages in which a pass of kind `pass` performs this access, unless the caller specifies others.
    ///
    /// In a render pass, fragment shaders read input attachments, fragment shaders and per-tile dispatches access tile attachments, and any graphics shader
    /// stage may perform the other shader accesses.
    #[inline]
    pub fn default_stages(self, pass: PassKind) -> vk::PipelineStageFlags2 {
        match (self.is_shader(), pass) {
            (false, _) => self.row().stages,
            (true, PassKind::Compute) => S::COMPUTE_SHADER,
            (true, _) if self == AccessKind::InputAttachment => S::FRAGMENT_SHADER,
            (true, _) if self == AccessKind::TileAttachment => S::FRAGMENT_SHADER | S::COMPUTE_SHADER,
            (true, _) => S::PRE_RASTERIZATION_SHADERS | S::FRAGMENT_SHADER,
        }
    }

    /// Like [`default_stages`](AccessKind::default_stages), plus the compute stage for the dispatches that a pass with tile shading runs per tile.
    #[inline]
    pub fn stages_in(self, pass: PassKind, tile_shading: bool) -> vk::PipelineStageFlags2 {
        let per_tile = tile_shading && self.is_shader() && self != AccessKind::InputAttachment;
        let dispatches = if per_tile { S::COMPUTE_SHADER } else { S::NONE };
        self.default_stages(pass) | dispatches
    }

    /// The access flags of this kind of access: for reads if `read` is true, and for writes if `write` is true.
    #[inline]
    pub fn access_flags(self, read: bool, write: bool) -> vk::AccessFlags2 {
        let flags = |wanted, flags| if wanted { flags } else { A::NONE };
        flags(read, self.row().read) | flags(write, self.row().write)
    }

    /// The layout of an image during this kind of access; `UNDEFINED` for kinds that only buffers support. `depth`: the image can be a depth or stencil
    /// attachment.
    #[inline]
    pub fn layout(self, depth: bool, write: bool) -> vk::ImageLayout {
        match self.row().layouts {
            Layouts::None => L::UNDEFINED,
            Layouts::One(layout) => layout,
            Layouts::ByAspect { depth: layout, .. } if depth => layout,
            Layouts::ByAspect { color, .. } => color,
            Layouts::ByDirection { write: layout, .. } if write => layout,
            Layouts::ByDirection { read, .. } => read,
        }
    }

    /// Returns true if this kind of access is allowed on images in `layout`.
    ///
    /// Source: Vulkan specification, "Image Layouts".
    pub fn is_allowed_in(self, layout: L, writes: bool) -> bool {
        const DEPTH_READ_ONLY: [L; 4] = [
            L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            L::DEPTH_READ_ONLY_OPTIMAL,
            L::STENCIL_READ_ONLY_OPTIMAL,
            L::READ_ONLY_OPTIMAL,
        ];
        const DEPTH: [L; 4] = [
            L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            L::DEPTH_ATTACHMENT_OPTIMAL,
            L::STENCIL_ATTACHMENT_OPTIMAL,
            L::ATTACHMENT_OPTIMAL,
        ];
        let local_read = layout == L::RENDERING_LOCAL_READ_KHR;
        let color = [L::COLOR_ATTACHMENT_OPTIMAL, L::ATTACHMENT_OPTIMAL].contains(&layout);
        let depth = DEPTH.contains(&layout);
        let depth_read = DEPTH_READ_ONLY.contains(&layout);
        let specific = match self {
            AccessKind::ColorAttachment => color || local_read,
            AccessKind::ResolveAttachment => color || depth,
            AccessKind::DepthStencilAttachment => depth || local_read || depth_read && !writes,
            AccessKind::InputAttachment => layout == L::SHADER_READ_ONLY_OPTIMAL || depth_read || local_read,
            AccessKind::TileAttachment => false,
            AccessKind::SampledImage => layout == L::SHADER_READ_ONLY_OPTIMAL || depth_read,
            AccessKind::TransferSource => layout == L::TRANSFER_SRC_OPTIMAL,
            AccessKind::TransferDestination => layout == L::TRANSFER_DST_OPTIMAL,
            AccessKind::FragmentDensityMap => layout == L::FRAGMENT_DENSITY_MAP_OPTIMAL_EXT,
            _ => false,
        };
        specific || layout == L::GENERAL
    }

    /// The kind as an English noun with its article: `a vertex buffer`.
    pub fn noun(self) -> &'static str {
        self.row().noun
    }

    /// Returns the kind that a word of an imported frame description stands for; some words mean different kinds for images and for buffers. `None` for
    /// an unknown word.
    pub fn of_word(word: &str, is_image: bool) -> Option<AccessKind> {
        let mut rows = AccessKind::words(is_image);
        rows.find(|(_, words)| words.contains(&word))
            .map(|(kind, _)| kind)
    }

    /// The kinds of access to an image or a buffer with the words that stand for them in loose descriptions, the usual word first.
    pub fn words(is_image: bool) -> impl Iterator<Item = (AccessKind, &'static [&'static str])> {
        // For buffers, these words mean texel and storage buffers.
        let of_images =
            |kind: AccessKind| matches!(kind, AccessKind::SampledImage | AccessKind::StorageImage);
        let all = AccessKind::ALL.into_iter();
        all.filter(move |&kind| is_image || !of_images(kind))
            .map(|kind| (kind, kind.row().words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_set_of_what_performs_them() {
        for kind in AccessKind::ALL {
            let sets = [kind.is_attachment(), kind.is_shader(), kind.is_transfer()];
            let is_one = |accessor| kind.row().accessor as u32 == accessor as u32;
            let rows = [Accessor::Attachment, Accessor::Shader, Accessor::Transfer].map(is_one);
            assert_eq!(sets, rows, "{kind:?}");
            let only = AccessKinds::default().with(kind);
            let inside = AccessKind::ALL.into_iter().filter(|&other| only.contains(other));
            assert_eq!(inside.collect::<Vec<_>>(), [kind]);
        }
        assert!(AccessKind::InputAttachment.is_attached() && !AccessKind::InputAttachment.is_attachment());
    }
}
