//! Render pass objects and framebuffers in the pool, looked up by their parameters.
//!
//! Render passes live until the device is destroyed, since pipelines are created with them; a framebuffer is destroyed with the first of
//! its views.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ash::vk;

use super::subpass_merge::SubpassMerge;

/// The render passes and framebuffers of a pool.
#[derive(Default)]
pub(super) struct PooledPasses {
    /// The render passes, by their parameters as words.
    pub(super) render_passes: BTreeMap<Vec<u32>, vk::RenderPass>,
    /// The driver's feedback about each subpass of render passes with several, if it gives any.
    pub(super) merges: HashMap<vk::RenderPass, Vec<SubpassMerge>>,
    pub(super) framebuffers: PooledFramebuffers,
}

impl PooledPasses {
    /// Adds a render pass with the driver's feedback about it, unless the pool already has one with these parameters; returns the pool's.
    pub(super) fn add_render_pass(
        &mut self,
        words: Vec<u32>,
        created: vk::RenderPass,
        merges: Vec<SubpassMerge>,
    ) -> vk::RenderPass {
        match self.render_passes.entry(words) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                place.insert(created);
                if !merges.is_empty() {
                    self.merges.insert(created, merges);
                }
                created
            }
        }
    }
}

/// Framebuffers without imported views.
#[derive(Default)]
pub(super) struct PooledFramebuffers {
    by_key: BTreeMap<FramebufferKey, vk::Framebuffer>,
    /// Per view, the framebuffers that it is attached to.
    by_view: HashMap<vk::ImageView, Vec<FramebufferKey>>,
    /// The debug name of each framebuffer with attachments; empty without debug names.
    pub(super) names: HashMap<vk::Framebuffer, String>,
}

/// The parameters of a framebuffer: its render pass, its size, its views.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FramebufferKey {
    render_pass: vk::RenderPass,
    size: [u32; 3],
    views: Arc<[vk::ImageView]>,
}

/// The parameters of a render pass as words, without its `pNext` chain.
///
/// # Safety
/// Its arrays are alive.
pub(super) unsafe fn words_of(info: &vk::RenderPassCreateInfo<'_>) -> Vec<u32> {
    let mut words = vec![info.subpass_count];
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

/// Appends `count` (0 if `rows` is null), followed by the words of that number of rows.
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

impl FramebufferKey {
    /// Creates the key; `size` is width, height and layers.
    pub(super) fn new(
        render_pass: vk::RenderPass,
        size: [u32; 3],
        views: &[vk::ImageView],
    ) -> FramebufferKey {
        FramebufferKey {
            render_pass,
            size,
            views: views.into(),
        }
    }
}

impl PooledFramebuffers {
    pub(super) fn get(&self, key: &FramebufferKey) -> Option<vk::Framebuffer> {
        self.by_key.get(key).copied()
    }

    /// Adds a framebuffer whose key is not in the table yet.
    pub(super) fn insert(&mut self, key: FramebufferKey, framebuffer: vk::Framebuffer) {
        for &view in &*key.views {
            self.by_view.entry(view).or_default().push(key.clone());
        }
        let known = self.by_key.insert(key, framebuffer);
        debug_assert_eq!(known, None, "a framebuffer is looked up before it is added");
    }

    /// Removes the framebuffers of a view that is about to be destroyed, and appends them to `gone`.
    pub(super) fn remove_view(&mut self, view: vk::ImageView, gone: &mut Vec<vk::Framebuffer>) {
        for key in self.by_view.remove(&view).unwrap_or_default() {
            for other in key.views.iter().filter(|other| **other != view) {
                if let Some(known) = self.by_view.get_mut(other) {
                    known.retain(|known| *known != key);
                }
            }
            let removed = self.by_key.remove(&key);
            if let Some(framebuffer) = removed {
                self.names.remove(&framebuffer);
                gone.push(framebuffer);
            }
        }
    }

    /// Moves all framebuffers to `gone`.
    pub(super) fn remove_all(&mut self, gone: &mut Vec<vk::Framebuffer>) {
        self.by_view.clear();
        self.names.clear();
        gone.extend(std::mem::take(&mut self.by_key).into_values());
    }
}

#[cfg(test)]
mod tests {
    use ash::vk::Handle;

    use super::*;

    #[test]
    fn a_framebuffer_is_removed_with_the_first_of_its_views() {
        let [one, two, three] = [1, 2, 3].map(vk::ImageView::from_raw);
        let key =
            |views: &[vk::ImageView]| FramebufferKey::new(vk::RenderPass::from_raw(9), [4, 4, 1], views);
        let mut framebuffers = PooledFramebuffers::default();
        let handles = [vec![one, two], vec![two, three], vec![three, three], vec![]];
        for (handle, views) in (11..).zip(&handles) {
            framebuffers.insert(key(views), vk::Framebuffer::from_raw(handle));
        }
        let mut gone = Vec::new();
        framebuffers.remove_view(two, &mut gone);
        framebuffers.remove_view(one, &mut gone);
        assert_eq!(gone, [11, 12].map(vk::Framebuffer::from_raw));
        assert_eq!(framebuffers.get(&key(&[one, two])), None);
        framebuffers.remove_view(three, &mut gone);
        assert!(framebuffers.by_view.is_empty());
        framebuffers.remove_all(&mut gone);
        assert_eq!(gone, [11, 12, 13, 14].map(vk::Framebuffer::from_raw));
    }
}
