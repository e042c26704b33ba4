//! A map of the texels of a history's two images: which have contents, and their layouts; the tables of one frame after another are applied to it,
//! barrier by barrier.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;
use tileheap::frame::tables::HistoryVersion;
use tileheap::frame::{Frame, ResourceId, SubresourceRange};
use tileheap::lower::Lowered;
use tileheap::lower::tables::ImageOrBuffer;
use tileheap::lower::tables::commands::{DependencyRow, PassContents};
use tileheap::units::Run;

/// An aspect, a level and a layer, or a slice of a 3D image.
pub(super) type Texel = (u32, u32, u32);

/// One of the two images.
#[derive(Clone, Default)]
pub(super) struct Copy {
    pub(super) defined: BTreeSet<Texel>,
    pub(super) layouts: BTreeMap<Texel, vk::ImageLayout>,
}

/// The texels of a range of a resource; in tables, [0, `VK_REMAINING_ARRAY_LAYERS`) means all slices.
fn texels(frame: &Frame, id: ResourceId, range: SubresourceRange) -> Vec<Texel> {
    let resource = frame.resource(id);
    let aspects = [
        vk::ImageAspectFlags::COLOR,
        vk::ImageAspectFlags::DEPTH,
        vk::ImageAspectFlags::STENCIL,
    ];
    let mut found = Vec::new();
    for aspect in aspects
        .into_iter()
        .filter(|aspect| range.aspects.contains(*aspect))
    {
        for level in range.levels.first..range.levels.end {
            let there = slices(frame, id, level);
            let all = slices(frame, id, range.levels.first);
            let layers = match range.layers {
                _ if !resource.is_3d() => range.layers,
                layers if [all.end, vk::REMAINING_ARRAY_LAYERS].contains(&layers.end) => {
                    Run::new(layers.first, there.end)
                }
                layers => layers,
            };
            found.extend((layers.first..layers.end).map(|layer| (aspect.as_raw(), level, layer)));
        }
    }
    found
}

/// The slices of a level.
fn slices(frame: &Frame, id: ResourceId, level: u32) -> Run {
    let whole = frame.resource(id).whole();
    Run::new(0, (whole.layers.end >> level).max(1))
}

/// The history of a frame: the images in its tables, and the corresponding copies.
pub(super) struct History<'a> {
    pub(super) frame: &'a Frame,
    pub(super) id: ResourceId,
    /// Per image of a copy, the row and the copy.
    pub(super) rows: &'a [(u32, usize)],
    /// The copy that the frame writes.
    pub(super) current: usize,
}

impl History<'_> {
    pub(super) fn texels(&self, range: SubresourceRange) -> Vec<Texel> {
        texels(self.frame, self.id, range)
    }

    fn copy_of(&self, image: u32) -> Option<usize> {
        self.rows
            .iter()
            .find(|(row, _)| *row == image)
            .map(|(_, copy)| *copy)
    }

    /// Runs a frame and returns its clears.
    ///
    /// # Panics
    /// If a barrier's old layout is not that of a texel, if the contents of the previous copy are discarded or cleared, or if a texel is read that
    /// has no contents or another layout.
    pub(super) fn run(&self, tables: &Lowered, copies: &mut [Copy; 2]) -> BTreeSet<Texel> {
        // The current version begins without contents, in any layout.
        copies[self.current] = Copy::default();
        let mut cleared = BTreeSet::new();
        for pass in &tables.passes {
            self.barriers(tables, pass.before, copies);
            match pass.contents {
                PassContents::Clear => {
                    let clear = &tables.clears[pass.row.get().unwrap() as usize];
                    let ImageOrBuffer::Image(image) = clear.object.get() else {
                        unreachable!()
                    };
                    assert_ne!(
                        self.copy_of(image),
                        Some(self.current),
                        "the current version is cleared"
                    );
                    for texel in self.texels(clear.range) {
                        let copy = &mut copies[1 - self.current];
                        assert!(
                            copy.defined.insert(texel),
                            "{texel:?} is cleared and holds contents"
                        );
                        assert_eq!(copy.layouts[&texel], clear.layout, "{texel:?}");
                        cleared.insert(texel);
                    }
                }
                _ => self.accesses(tables, pass.pass, copies),
            }
            self.barriers(tables, pass.after, copies);
        }
        cleared
    }

    fn barriers(&self, tables: &Lowered, row: DependencyRow, copies: &mut [Copy; 2]) {
        for barrier in row.images.of(&tables.image_barriers) {
            let Some(of) = self.copy_of(barrier.image) else {
                continue;
            };
            let copy = &mut copies[of];
            for texel in self.texels(barrier.range) {
                let held = copy.layouts.insert(texel, barrier.new_layout).unwrap_or_default();
                if barrier.old_layout != vk::ImageLayout::UNDEFINED {
                    assert_eq!(barrier.old_layout, held, "{texel:?}");
                    continue;
                }
                let lost = copy.defined.remove(&texel);
                assert!(!lost || of == self.current, "{texel:?} is discarded");
            }
        }
    }

    fn accesses(&self, tables: &Lowered, pass: tileheap::frame::PassId, copies: &mut [Copy; 2]) {
        let accesses = tables.accesses.iter().zip(self.frame.accesses());
        for (row, access) in accesses.filter(|(row, _)| row.pass == pass && row.resource == self.id) {
            let previous = access.version == HistoryVersion::Previous;
            let copy = &mut copies[self.current ^ usize::from(previous)];
            for texel in self.texels(access.range) {
                let stencil = texel.0 == vk::ImageAspectFlags::STENCIL.as_raw();
                let layout = if stencil { row.stencil_layout } else { row.layout };
                assert_eq!(copy.layouts.get(&texel), Some(&layout), "{texel:?}");
                if access.writes {
                    copy.defined.insert(texel);
                }
                assert!(
                    copy.defined.contains(&texel),
                    "{texel:?} holds nothing and is read"
                );
            }
        }
    }
}
