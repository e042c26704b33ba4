//! Render pass objects and framebuffers in the pool, looked up by their parameters.
//!
//! Render passes live until the device is destroyed, since pipelines are created with them; a framebuffer is destroyed with the first of
//! its views.

use std::collections::BTreeMap;

use ash::vk;
use ash::vk::Handle;

use crate::Result;

/// Render passes by their parameters as words; framebuffers by render pass, size and views, none of them imported.
#[derive(Default)]
pub(super) struct PooledPasses {
    pub(super) render_passes: BTreeMap<Vec<u32>, vk::RenderPass>,
    pub(super) framebuffers: BTreeMap<Vec<u64>, vk::Framebuffer>,
}

/// The object for a key, created if there is none.
pub(super) fn find_or_create<K: Ord, V: Copy>(
    known: &mut BTreeMap<K, V>,
    key: K,
    create: impl FnOnce() -> Result<V>,
) -> Result<V> {
    if let Some(known) = known.get(&key) {
        return Ok(*known);
    }
    let created = create()?;
    known.insert(key, created);
    Ok(created)
}

/// The parameters of a render pass as words, without its `pNext` chain.
///
/// # Safety
/// Its arrays are alive.
pub(super) unsafe fn words_of(info: &vk::RenderPassCreateInfo<'_>) -> Vec<u32> {
    let mut words = Vec::new();
    // SAFETY: the caller's duty; flags, enums and counts.
    unsafe { add(&mut words, info.p_attachments, info.attachment_count) };
    // SAFETY: as above.
    unsafe { add(&mut words, info.p_dependencies, info.dependency_count) };
    // SAFETY: as above.
    let subpasses = unsafe { std::slice::from_raw_parts(info.p_subpasses, info.subpass_count as usize) };
    for subpass in subpasses {
        let colors = subpass.color_attachment_count;
        let references = [
            (subpass.p_color_attachments, colors),
            (subpass.p_resolve_attachments, colors),
            (subpass.p_input_attachments, subpass.input_attachment_count),
            (subpass.p_depth_stencil_attachment, 1),
        ];
        for (rows, count) in references {
            // SAFETY: the caller's duty; indices and layouts.
            unsafe { add(&mut words, rows, count) };
        }
        let preserved = subpass.preserve_attachment_count;
        // SAFETY: as above.
        unsafe { add(&mut words, subpass.p_preserve_attachments, preserved) };
    }
    words
}

/// Appends `count` (0 if there is no array) and the words of that many rows.
///
/// # Safety
/// If there is an array, it has `count` rows, made of 32-bit words without padding.
unsafe fn add<T>(words: &mut Vec<u32>, rows: *const T, count: u32) {
    let count = count * u32::from(!rows.is_null());
    words.push(count);
    if count > 0 {
        let count = count as usize * size_of::<T>() / size_of::<u32>();
        // SAFETY: the caller's duty; such rows have the alignment of words.
        words.extend_from_slice(unsafe { std::slice::from_raw_parts(rows.cast(), count) });
    }
}

impl PooledPasses {
    /// Destroys the framebuffers of a view that nothing on the device uses any more.
    pub(super) fn forget(&mut self, device: &ash::Device, view: vk::ImageView) {
        self.framebuffers.retain(|key, framebuffer| {
            // After the render pass and the size.
            let is_gone = key[4..].contains(&view.as_raw());
            if is_gone {
                // SAFETY: only frames that borrow the images of its views use it.
                unsafe { device.destroy_framebuffer(*framebuffer, None) };
            }
            !is_gone
        });
    }
}
