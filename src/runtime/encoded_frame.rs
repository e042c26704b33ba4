//! A lowered frame as Vulkan structs, so that recording does not have to build any.

use ash::vk;

use super::barrier::Barriers;
use super::device_state::DeviceState;
use super::owned::OwnedObjects;
use super::render_pass::{Framebuffers, PassObject};
use super::rendering::{DynamicRendering, Rendering};
use super::resources::Handles;
use super::tiles::Tiles;
use crate::frame::PassId;
use crate::lower::tables::commands::{PassContents, PassRow};
use crate::lower::tables::instances::InstanceRow;
use crate::lower::{Lowered, MemoryState, Parity};
use crate::plan::Plan;
use crate::{Checked, Result};

/// Lowered tables and their Vulkan structs.
pub(super) struct EncodedFrame {
    /// The parity that the tables were lowered for.
    pub(super) parity: Parity,
    pub(super) before: MemoryState,
    pub(super) tables: Checked<Lowered>,
    /// Per pass of the planned frame, its row of [`Lowered::passes`].
    rows: Vec<u32>,
    pub(super) barriers: Barriers,
    /// Per row of [`Lowered::instances`], the structs of its render pass.
    renderings: Vec<Rendering>,
    /// Per row of [`Lowered::views`], the view.
    views: Vec<vk::ImageView>,
    /// True if the tables have imported images or buffers, whose handles change from frame to frame.
    has_imports: bool,
    /// True if the tables are the caller's; they are kept when others are evicted.
    pub(super) adopted: bool,
}

/// The inputs that the structs of a frame are made from.
pub(super) struct Encoding<'a> {
    pub(super) state: &'a DeviceState,
    pub(super) plan: &'a Plan,
    pub(super) owned: &'a mut OwnedObjects,
    pub(super) handles: &'a Handles,
    pub(super) framebuffers: &'a mut Framebuffers,
    /// Per row of instances, its render pass object; null for dynamic rendering.
    pub(super) render_passes: &'a [vk::RenderPass],
}

impl EncodedFrame {
    pub(super) fn new(
        parity: Parity,
        before: MemoryState,
        tables: Checked<Lowered>,
        with: &mut Encoding<'_>,
    ) -> Result<EncodedFrame> {
        let views = tables.views.iter();
        let views = views.map(|row| with.handles.view(row, &tables, with.plan, with.state));
        let views: Vec<vk::ImageView> = views.collect::<Result<_>>()?;
        let rows = (0..).zip(&tables.passes);
        let rows = rows.filter(|(_, row)| row.contents != PassContents::Clear);
        let rows = rows.map(|(index, _)| index).collect();
        let instances = (0..).zip(&tables.instances).zip(with.render_passes);
        let renderings = instances.map(|((index, row), render_pass)| match row.dynamic {
            true => {
                let tiles = Tiles::new(with.state, row, row.tile_memory);
                let chained = (tiles, with.state.hooks.as_ref());
                Rendering::Dynamic(DynamicRendering::new(&tables, index, chained, &views))
            }
            false => Rendering::Object(PassObject::new(&tables, row, *render_pass)),
        });
        let synchronization_2 = with.state.functions.synchronization_2.is_some();
        let mut encoded = EncodedFrame {
            parity,
            before,
            rows,
            barriers: Barriers::new(&tables, with.handles, synchronization_2),
            renderings: renderings.collect(),
            views,
            has_imports: tables.images.iter().any(|row| row.binding.is_imported())
                || tables.buffers.iter().any(|row| row.binding.is_imported()),
            adopted: false,
            tables,
        };
        encoded.framebuffers(with)?;
        Ok(encoded)
    }

    /// The row of a pass of the planned frame.
    pub(super) fn row(&self, pass: PassId) -> &PassRow {
        &self.tables.passes[self.rows[pass.index()] as usize]
    }

    /// The structs of the render pass at a row of instances.
    pub(super) fn rendering(&self, row: u32) -> &Rendering {
        &self.renderings[row as usize]
    }

    /// The structs of all render passes, each with its row of instances.
    pub(super) fn renderings(&self) -> impl Iterator<Item = (&InstanceRow, &Rendering)> {
        self.tables.instances.iter().zip(&self.renderings)
    }

    /// The descriptor view of an access of the frame; null if it has none.
    pub(super) fn view_of(&self, access: usize) -> vk::ImageView {
        let view = self.tables.accesses[access].view.get();
        view.map_or(vk::ImageView::null(), |view| self.views[view as usize])
    }

    /// The pass of the planned frame that a row belongs to; a clear belongs to the pass that follows it.
    pub(super) fn pass_of_row(&self, row: u32) -> usize {
        self.rows.partition_point(|&other| other < row)
    }

    /// Writes the handles imported for this frame into the structs.
    pub(super) fn refresh(&mut self, with: &mut Encoding<'_>) -> Result<()> {
        if !self.has_imports {
            return Ok(());
        }
        let tables = &self.tables;
        for (view, row) in self.views.iter_mut().zip(&tables.views) {
            if tables.images[row.image as usize].binding.is_imported() {
                *view = with.handles.imported(row);
            }
        }
        self.barriers.refresh(tables, with.handles);
        for rendering in &mut self.renderings {
            if let Rendering::Dynamic(dynamic) = rendering {
                dynamic.refresh(tables, &self.views);
            }
        }
        self.framebuffers(with)
    }

    fn framebuffers(&mut self, with: &mut Encoding<'_>) -> Result<()> {
        for (row, rendering) in self.tables.instances.iter().zip(&mut self.renderings) {
            if let Rendering::Object(object) = rendering {
                let name = &with.plan.frame.pass(row.pass).name;
                let views = (&*self.tables, &*self.views);
                object.refresh(with.state, with.owned, with.framebuffers, views, name)?;
            }
        }
        Ok(())
    }
}
