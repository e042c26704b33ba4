//! Debug names of pooled objects: those of the resources and passes of the most recently bound or selected frame.
//!
//! A bound frame has exclusive use of the objects that it has borrowed, except that the bound frames of one dynamic frame share objects. Those run
//! one after another, and a capture should show the names of the captured frame, so the most recently selected one names the objects.
//!
//! `vkSetDebugUtilsObjectNameEXT` requires that no other thread uses the object, so it is called only for borrowed objects, and only while the bound
//! frame or its dynamic frame is borrowed mutably. Render passes have no borrower, and keep their name.

use ash::vk;

use super::bound_frame::BoundFrame;
use super::device_state::c_name;
use super::pool::{Handle, PoolContents};
use super::rendering::Rendering;
use super::resources::memory_name;

/// Objects and their new names.
type Renamed = Vec<(vk::ObjectType, u64, String)>;

fn add<T: vk::Handle>(renamed: &mut Renamed, handle: T, name: &str) {
    renamed.push((T::TYPE, handle.as_raw(), name.to_owned()));
}

impl BoundFrame {
    /// Names the frame's pooled objects after the frame's resources, passes and memory, unless they already have these names.
    pub(super) fn name_objects(&self) {
        let (Some(debug), Some(owned)) = (&self.state.functions.debug_utils, &self.owned) else {
            return;
        };
        let (frame, tables) = (&self.plan.frame, self.tables());
        let mut renamed = Renamed::new();
        let mut pool = self.state.pool.lock();
        let images = tables.images.iter().map(|row| (row.resource, row.binding));
        let buffers = tables.buffers.iter().map(|row| (row.resource, row.binding));
        // Each resident was lent or added in the order of the rows.
        let own = images
            .chain(buffers)
            .filter(|(_, binding)| !binding.is_imported());
        for ((resource, _), &index) in own.zip(&owned.lease.residents) {
            pool.rename_resident(index, &frame.resource(resource).name, &mut renamed);
        }
        for (row, &block) in (0..).zip(&self.objects.handles.blocks) {
            pool.rename_block(block, || memory_name(&self.plan, tables, row), &mut renamed);
        }
        // Passes may share a framebuffer, which is then named after the first.
        let mut seen = Vec::new();
        for (row, rendering) in self
            .lowering
            .encoded
            .iter()
            .flat_map(|encoded| encoded.renderings())
        {
            if let Rendering::Object(object) = rendering {
                if !seen.contains(&object.framebuffer) {
                    seen.push(object.framebuffer);
                    pool.rename_framebuffer(object.framebuffer, &frame.pass(row.pass).name, &mut renamed);
                }
            }
        }
        drop(pool);
        for (kind, handle, name) in renamed {
            let name = c_name(&name);
            let info = vk::DebugUtilsObjectNameInfoEXT {
                object_type: kind,
                object_handle: handle,
                ..Default::default()
            };
            // SAFETY: the object is borrowed by this bound frame, so it is alive, and no other thread uses it: recording borrows the bound
            // frame or its dynamic frame, which is borrowed mutably here.
            let _ = unsafe { debug.set_debug_utils_object_name(&info.object_name(&name)) };
        }
    }
}

impl PoolContents {
    fn rename_resident(&mut self, index: u32, name: &str, renamed: &mut Renamed) {
        let resident = self.resident_mut(index);
        if resident.name == name {
            return;
        }
        name.clone_into(&mut resident.name);
        match resident.handle {
            Handle { image, buffer } if buffer == vk::Buffer::null() => add(renamed, image, name),
            Handle { buffer, .. } => add(renamed, buffer, name),
        }
        for (_, view) in &resident.views {
            add(renamed, *view, name);
        }
    }

    fn rename_block(&mut self, index: u32, name: impl FnOnce() -> String, renamed: &mut Renamed) {
        let block = self.block_mut(index);
        if let Some(memory) = block.memory.own_object() {
            let name = name();
            if block.name != name {
                add(renamed, memory, &name);
                block.name = name;
            }
        }
    }

    fn rename_framebuffer(&mut self, framebuffer: vk::Framebuffer, name: &str, renamed: &mut Renamed) {
        let known = self.passes.framebuffers.names.get_mut(&framebuffer);
        if let Some(known) = known.filter(|known| *known != name) {
            name.clone_into(known);
            add(renamed, framebuffer, name);
        }
    }
}
