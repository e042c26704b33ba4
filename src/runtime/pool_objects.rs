//! Views, render passes and framebuffers: found in the pool, or created while its lock is released and then added.

use ash::vk;

use super::create_info::view_info;
use super::device_state::DeviceState;
use super::error::VkResultExt;
use super::pool::Pool;
use super::pool_passes::FramebufferKey;
use super::subpass_merge::SubpassMerge;
use crate::Result;
use crate::lower::tables::objects::ViewRow;

impl Pool {
    /// A view of a borrowed image, created with its hook if the pool has none with these parameters. Only the borrower of an image creates
    /// views of it, on one thread at a time.
    pub(super) fn view(
        &self,
        state: &DeviceState,
        (resident, hook): (u32, u32),
        row: &ViewRow,
        name: &str,
    ) -> Result<vk::ImageView> {
        let row = ViewRow { image: 0, ..*row };
        let (known, image) = self.lock().find_view(resident, &row);
        if let Some(view) = known {
            return Ok(view);
        }
        let mut usage = vk::ImageViewUsageCreateInfo::default().usage(row.usage);
        let mut info = view_info(state, &row, (image, hook));
        if !row.usage.is_empty() {
            info = info.push_next(&mut usage);
        }
        // SAFETY: the image is alive and bound, and its usage allows views.
        let view =
            unsafe { state.device.create_image_view(&info, None) }.with_call("vkCreateImageView", || name)?;
        state.set_name(view, name);
        self.lock().add_view(resident, row, view);
        Ok(view)
    }

    /// The render pass with these parameters (see [`words_of`](super::pool_passes::words_of)), created if there is none; `create` also returns the
    /// driver's feedback about its subpasses.
    pub(super) fn render_pass(
        &self,
        state: &DeviceState,
        words: Vec<u32>,
        create: impl FnOnce() -> Result<(vk::RenderPass, Vec<SubpassMerge>)>,
    ) -> Result<vk::RenderPass> {
        let known = self.lock().passes.render_passes.get(&words).copied();
        if let Some(render_pass) = known {
            return Ok(render_pass);
        }
        let (created, merges) = create()?;
        let known = self.lock().passes.add_render_pass(words, created, merges);
        if known != created {
            // Another thread has created it meanwhile.
            // SAFETY: no other thread has it, and nothing was created with it.
            unsafe { state.device.destroy_render_pass(created, None) };
        }
        Ok(known)
    }

    /// The framebuffer with these parameters, created if there is none; `name` is the debug name that `create` gives it, or empty.
    pub(super) fn framebuffer(
        &self,
        state: &DeviceState,
        key: FramebufferKey,
        name: String,
        create: impl FnOnce() -> Result<vk::Framebuffer>,
    ) -> Result<vk::Framebuffer> {
        let known = self.lock().passes.framebuffers.get(&key);
        if let Some(framebuffer) = known {
            return Ok(framebuffer);
        }
        let created = create()?;
        let mut contents = self.lock();
        let Some(known) = contents.passes.framebuffers.get(&key) else {
            if !name.is_empty() {
                contents.passes.framebuffers.names.insert(created, name);
            }
            contents.passes.framebuffers.insert(key, created);
            return Ok(created);
        };
        drop(contents);
        // Another thread has created it meanwhile. It has no attachments, since each view has only one borrower.
        // SAFETY: no other thread has it.
        unsafe { state.device.destroy_framebuffer(created, None) };
        Ok(known)
    }
}
