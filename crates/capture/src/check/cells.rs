//! The layouts of the subresources of one image.

use ash::vk::{ImageAspectFlags as Aspects, ImageLayout as L};
use tileheap_sync::program::{Tag, Texels};

/// A layout, and the command that changed the image to it; `None` if a command only expected the layout, or if the image was created in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KnownLayout {
    pub(super) layout: L,
    pub(super) by: Option<(u64, Tag)>,
}

/// The layouts of an image; `None` for an unknown layout.
#[derive(Clone, Debug)]
pub(super) enum SubresourceLayouts {
    /// All subresources have the same layout.
    Equal(Option<KnownLayout>),
    /// One layout for each aspect, level and layer.
    Each(Vec<Option<KnownLayout>>),
}

/// The layouts of an image, or of several images that interpret the same bytes in the same way.
pub(super) struct Image {
    pub(super) all: Texels,
    /// The depth of a 3D image: smaller levels have fewer slices.
    pub(super) depth: Option<u32>,
    /// The queue that used the image last.
    pub(super) queue: Option<u32>,
    pub(super) cells: SubresourceLayouts,
}

impl Image {
    /// Iterates over the image's aspects, one bit at a time.
    fn aspects(&self) -> impl Iterator<Item = Aspects> + use<> {
        let all = self.all.aspects.as_raw();
        (0..u32::BITS)
            .map(|bit| 1 << bit)
            .filter(move |bit| all & bit != 0)
            .map(Aspects::from_raw)
    }

    /// Returns the end of the array layers; for a 3D image, of the slices of a level.
    fn end_of_layers(&self, level: u32) -> u32 {
        let slices = self.depth.map(|depth| (depth >> level.min(31)).max(1));
        slices.map_or(self.all.layers.end, |slices| slices.min(self.all.layers.end))
    }

    fn is_all(&self, texels: &Texels) -> bool {
        let (all, is) = (&self.all, texels);
        (all.aspects, all.levels, all.layers) == (is.aspects, is.levels, is.layers)
    }

    /// Returns the positions in `Each` of the subresources of a part, with their aspect, level and layer.
    fn positions(&self, texels: &Texels) -> Vec<(usize, Aspects, u32, u32)> {
        let (levels, layers) = (self.all.levels.end, self.all.layers.end);
        let mut positions = Vec::new();
        for (index, aspect) in (0..).zip(self.aspects()) {
            if !texels.aspects.contains(aspect) {
                continue;
            }
            for level in texels.levels.first..texels.levels.end.min(levels) {
                for layer in texels.layers.first..texels.layers.end.min(self.end_of_layers(level)) {
                    let position = (index * levels + level) * layers + layer;
                    positions.push((position as usize, aspect, level, layer));
                }
            }
        }
        positions
    }

    /// Calls `see` with every subresource of a part; if all have the same layout, only with the first and the last one of each aspect.
    pub(super) fn each(&self, texels: &Texels, mut see: impl FnMut(Aspects, u32, u32, Option<KnownLayout>)) {
        match &self.cells {
            SubresourceLayouts::Equal(known) => {
                for aspect in self.aspects().filter(|aspect| texels.aspects.contains(*aspect)) {
                    see(aspect, texels.levels.first, texels.layers.first, *known);
                    let level = texels.levels.end - 1;
                    let end = texels.layers.end.min(self.end_of_layers(level));
                    see(aspect, level, end.saturating_sub(1), *known);
                }
            }
            SubresourceLayouts::Each(cells) => {
                for (position, aspect, level, layer) in self.positions(texels) {
                    see(aspect, level, layer, cells[position]);
                }
            }
        }
    }

    /// Replaces each layout of a part with the result of `new`.
    pub(super) fn fill(&mut self, texels: &Texels, new: impl Fn(Option<KnownLayout>) -> Option<KnownLayout>) {
        match &mut self.cells {
            SubresourceLayouts::Equal(known) if new(*known) == *known => return,
            SubresourceLayouts::Equal(known) => {
                let known = *known;
                if self.is_all(texels) {
                    self.cells = SubresourceLayouts::Equal(new(known));
                    return;
                }
                let aspects = self.aspects().count();
                let count = aspects * self.all.levels.len() * self.all.layers.len();
                self.cells = SubresourceLayouts::Each(vec![known; count]);
            }
            SubresourceLayouts::Each(_) => {}
        }
        let positions = self.positions(texels);
        let SubresourceLayouts::Each(cells) = &mut self.cells else {
            return;
        };
        for &(position, ..) in &positions {
            cells[position] = new(cells[position]);
        }
        let first = cells[0];
        if self.all
            == (Texels {
                area: None,
                ..*texels
            })
            && positions.iter().all(|(position, ..)| cells[*position] == first)
        {
            self.cells = SubresourceLayouts::Equal(first);
        }
    }
}

/// Returns true if two layouts are equivalent for an aspect.
///
/// Source: "Image Layouts", the equivalences; "Image Layout Matching Rules".
pub(super) fn is_equal(one: L, other: L, aspect: Aspects) -> bool {
    of_aspect(one, aspect) == of_aspect(other, aspect)
}

/// Returns the equivalent layout for a single aspect.
fn of_aspect(layout: L, aspect: Aspects) -> L {
    match (layout, aspect) {
        (
            L::DEPTH_STENCIL_READ_ONLY_OPTIMAL
            | L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL
            | L::READ_ONLY_OPTIMAL,
            Aspects::DEPTH,
        ) => L::DEPTH_READ_ONLY_OPTIMAL,
        (
            L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL
            | L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL
            | L::ATTACHMENT_OPTIMAL,
            Aspects::DEPTH,
        ) => L::DEPTH_ATTACHMENT_OPTIMAL,
        (
            L::DEPTH_STENCIL_READ_ONLY_OPTIMAL
            | L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL
            | L::READ_ONLY_OPTIMAL,
            Aspects::STENCIL,
        ) => L::STENCIL_READ_ONLY_OPTIMAL,
        (
            L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL
            | L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL
            | L::ATTACHMENT_OPTIMAL,
            Aspects::STENCIL,
        ) => L::STENCIL_ATTACHMENT_OPTIMAL,
        (L::READ_ONLY_OPTIMAL, _) => L::SHADER_READ_ONLY_OPTIMAL,
        (L::ATTACHMENT_OPTIMAL, _) => L::COLOR_ATTACHMENT_OPTIMAL,
        (layout, _) => layout,
    }
}
