//! Asserts the sizes and field offsets of rows, and the values of enumerators, that other languages rely on.

use std::mem::offset_of;

use super::clears::{ClearBits, ClearRow};
use super::commands::*;
use super::instances::*;
use super::objects::*;
use super::submission::*;
use crate::lower::ids::{ObjectKind, ObjectRef, OptionalIndex};
use crate::lower::state::{AddressSpace, ByteUse, ContentState, LastUse};
use crate::plan::MemoryKind;
use crate::units::Run;

/// Asserts sizes that other languages rely on. 32-bit x86 aligns 64-bit integers to 4 bytes.
macro_rules! sizes {
    ($($row:ident: $size:literal,)*) => { $(#[cfg(not(target_arch = "x86"))] const _: () = assert!(size_of::<$row>() == $size);)* };
}

sizes! {
    Run: 8,
    SubresourceRange: 20,
    ObjectRef: 8,
    OptionalIndex: 4,
    MemoryBinding: 24,
    Sharing: 12,
    ClearBits: 20,
    Operations: 8,
    Scopes: 32,
    Families: 8,
    DependencyRow: 24,
    SemaphoreValue: 16,
    AddressSpace: 8,
    LastUse: 32,
    MemoryRow: 40,
    ImageRow: 96,
    BufferRow: 56,
    ViewRow: 36,
    AccessRow: 60,
    AttachmentRow: 68,
    ReferenceRow: 8,
    SubpassDependencyRow: 48,
    SubpassRow: 96,
    InstanceRow: 88,
    ClearRow: 52,
    StoreRow: 24,
    PassRow: 68,
    ImageBarrierRow: 80,
    BufferBarrierRow: 72,
    MemoryBarrierRow: 40,
    CommandBufferRow: 16,
    SemaphoreRow: 24,
    BatchRow: 32,
    SubmitRow: 16,
    ByteUse: 56,
    ContentState: 40,
}

/// Asserts the offsets of the first and the last field of a row, and of those that are easily confused.
macro_rules! offsets {
    ($($row:ident { $($field:ident: $offset:literal),* })*) => {$($(
        #[cfg(not(target_arch = "x86"))]
        const _: () = assert!(offset_of!($row, $field) == $offset);
    )*)*};
}

offsets! {
    MemoryRow { kind: 0, memory_type: 4, size: 8, alignment: 16, flags: 24, dedicated_image: 28, dedicated_buffer: 32 }
    ImageRow { resource: 0, extent: 16, usage: 44, hook: 48, view_formats: 52, sharing: 60, binding: 72 }
    BufferRow { resource: 0, hook: 4, size: 8, usage: 16, sharing: 20, binding: 32 }
    ViewRow { image: 0, view_type: 4, format: 8, usage: 12, range: 16 }
    AccessRow { pass: 0, subpass: 4, resource: 8, version: 12, kind: 16, object: 20, range: 28, view: 48, stencil_layout: 56 }
    AttachmentRow { view: 0, layout: 12, stencil_layout: 16, combined_layout: 20, operations: 24, stencil: 32, clear: 40, resolve: 60 }
    SubpassRow { dependencies: 0, barriers: 8, colors: 16, resolves: 24, inputs: 32, depth: 40, depth_resolve: 44, preserved: 48,
        locations: 56, input_indices: 64, color_formats: 72, depth_format: 80, stencil_format: 84, samples: 92 }
    InstanceRow { pass: 0, dynamic: 4, local_read: 5, secondary: 6, tile_shading: 7, area: 8, framebuffer: 24, attachments: 40,
        colors: 48, depth: 56, stencil: 60, subpasses: 64, hook: 72, tile_memory: 80 }
    PassRow { pass: 0, contents: 4, row: 8, tile_memory: 12, instance: 16, before: 20, after: 44 }
    StoreRow { shader: 0, source: 4, target: 8, groups: 12, x: 16, y: 20 }
    SubpassDependencyRow { src_subpass: 0, dst_subpass: 4, flags: 8, scopes: 16 }
    SemaphoreRow { semaphore: 0, stages: 16 }
    BatchRow { batch: 0, is_first: 4, waits: 8, command_buffers: 16, signals: 24 }
}

const _: () = assert!(MemoryKind::Lazy as u32 == 0 && MemoryKind::Dedicated as u32 == 3);
const _: () = assert!(ObjectKind::Image as u32 == 0 && PassContents::Clear as u32 == 2);
const _: () = assert!(StoreShader::Float as u32 == 0 && StoreShader::Buffer as u32 == 4);
const _: () = assert!(BarrierCause::Hazard as u32 == 0 && BarrierCause::Acquire as u32 == 7);
const _: () = assert!(SharingReason::OneFamily as u32 == 0 && SharingReason::History as u32 == 3);
