//! Vulkan creation infos from the tables' rows, one small function for each kind.

use std::ffi::c_void;
use std::ptr::null;

use ash::vk;

use super::device_state::DeviceState;
use super::error::RuntimeError;
use super::hooks::Hooks;
use crate::Result;
use crate::frame::tables::ResourceKind;
use crate::lower::Lowered;
use crate::lower::tables::objects::{BufferRow, ImageRow, Sharing, SubresourceRange, ViewRow};
use crate::plan::{MemoryKind, Plan};

/// The creation info of an image, without its view formats.
pub(super) fn image_info<'a>(
    state: &DeviceState,
    row: &ImageRow,
    families: &'a [u32],
) -> vk::ImageCreateInfo<'a> {
    let info = vk::ImageCreateInfo {
        p_next: state.chain(row.hook, |hooks, hook| hooks.image(hook)),
        ..Default::default()
    };
    info.flags(row.flags)
        .image_type(row.image_type)
        .format(row.format)
        .extent(row.extent)
        .mip_levels(row.mip_levels)
        .array_layers(row.array_layers)
        .samples(row.samples)
        .tiling(row.tiling)
        .usage(row.usage)
        .sharing_mode(sharing_mode(families))
        .queue_family_indices(families)
        .initial_layout(vk::ImageLayout::UNDEFINED)
}

/// The creation info of a buffer.
pub(super) fn buffer_info<'a>(
    state: &DeviceState,
    row: &BufferRow,
    families: &'a [u32],
) -> vk::BufferCreateInfo<'a> {
    let info = vk::BufferCreateInfo {
        p_next: state.chain(row.hook, |hooks, hook| hooks.buffer(hook)),
        ..Default::default()
    };
    info.size(row.size.0)
        .usage(row.usage)
        .sharing_mode(sharing_mode(families))
        .queue_family_indices(families)
}

/// The creation info of a view of `image`, which is described with this hook.
pub(super) fn view_info(
    state: &DeviceState,
    row: &ViewRow,
    (image, hook): (vk::Image, u32),
) -> vk::ImageViewCreateInfo<'static> {
    let info = vk::ImageViewCreateInfo {
        p_next: state.chain(hook, |hooks, hook| hooks.view(hook, row)),
        ..Default::default()
    };
    info.image(image)
        .view_type(row.view_type)
        .format(row.format)
        .subresource_range(range(&row.range))
}

/// A subresource range with counts instead of ends, as in Vulkan.
pub(super) fn range(range: &SubresourceRange) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: range.aspects,
        base_mip_level: range.levels.first,
        level_count: range.levels.len() as u32,
        base_array_layer: range.layers.first,
        layer_count: range.layers.len() as u32,
    }
}

/// The families that share a resource; empty for an exclusive one.
pub(super) fn families(tables: &Lowered, sharing: Sharing) -> &[u32] {
    sharing.families.of(&tables.families)
}

fn sharing_mode(families: &[u32]) -> vk::SharingMode {
    if families.is_empty() {
        vk::SharingMode::EXCLUSIVE
    } else {
        vk::SharingMode::CONCURRENT
    }
}

/// The subresource range of all mip levels and array layers of an image, with these aspects.
pub fn full_subresource_range(aspects: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: aspects,
        base_mip_level: 0,
        level_count: vk::REMAINING_MIP_LEVELS,
        base_array_layer: 0,
        layer_count: vk::REMAINING_ARRAY_LAYERS,
    }
}

/// A Vulkan 1.0 barrier for part of an image, within one queue family.
pub fn image_barrier(
    image: vk::Image,
    range: vk::ImageSubresourceRange,
    (old, new): (vk::ImageLayout, vk::ImageLayout),
    (before, after): (vk::AccessFlags, vk::AccessFlags),
) -> vk::ImageMemoryBarrier<'static> {
    vk::ImageMemoryBarrier::default()
        .image(image)
        .old_layout(old)
        .new_layout(new)
        .src_access_mask(before)
        .dst_access_mask(after)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .subresource_range(range)
}

impl DeviceState {
    /// The `pNext` chain that the caller's hooks return for the number `hook`, through the method that `of` calls; null for 0.
    pub(super) fn chain(&self, hook: u32, of: impl Fn(&dyn Hooks, u32) -> *const c_void) -> *const c_void {
        let hooks = self.hooks.as_deref().filter(|_| hook > 0);
        hooks.map_or(null(), |hooks| of(hooks, hook))
    }

    /// The `pNext` chain that the caller's hooks return for a block of memory; null without hooks.
    pub(super) fn memory_chain(&self, kind: MemoryKind, hook: u32) -> *const c_void {
        let hooks = self.hooks.as_deref();
        hooks.map_or(null(), |hooks| hooks.memory(kind, hook))
    }

    /// Returns true if the caller's hooks give resources with this number their own memory.
    pub(super) fn has_dedicated_memory(&self, hook: u32) -> bool {
        let hooks = self.hooks.as_deref().filter(|_| hook > 0);
        hooks.is_some_and(|hooks| hooks.dedicated_memory(hook))
    }

    /// Returns an error if something is described with a hook and there are no hooks.
    pub(super) fn check_hooks(&self, plan: &Plan) -> Result<()> {
        let has_hook = |kind: &ResourceKind| match kind {
            ResourceKind::Image { desc, .. } => desc.hook > 0,
            ResourceKind::Buffer { desc, .. } => desc.hook > 0,
        };
        let why = "it is described with a hook, but DeviceDesc::hooks is None";
        let (resources, passes) = (plan.frame.resources(), plan.frame.passes());
        match (
            resources.iter().find(|one| has_hook(&one.kind)),
            passes.iter().find(|one| one.hook > 0),
        ) {
            _ if self.hooks.is_some() => Ok(()),
            (Some(resource), _) => Err(RuntimeError::unsupported(&resource.name, why)),
            (None, Some(pass)) => Err(RuntimeError::unsupported_pass(&pass.name, why)),
            (None, None) => Ok(()),
        }
    }
}
