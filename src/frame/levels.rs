//! Images whose levels become separate images, if no access covers several of them.
//!
//! ```text
//! described   bloom: 3 levels       draw ─► level 0     blur: 0 ─► 1     blur: 1 ─► 2     compose: 2
//! built       bloom                 ├─────────────────────────────┤
//!             bloom level 1                             ├──────────────────────────┤
//!             bloom level 2                                              ├──────────────────────┤
//! ```
//! Each level has its own size, lifetime and placement: a large level may stay on chip for two passes although the whole chain does not fit for four.

use ash::vk;

use super::tables::{Resource, ResourceKind, SeparateLevel, Tables};
use super::{Extent, Frame, FrameError, FrameRule, PassId, Persistence, ResourceId};
use crate::units::Run;

impl Resource {
    /// The number of levels of an image whose levels may be separate images, 1 if they already are; `None` for all other resources.
    fn separable_levels(&self) -> Option<u32> {
        match self.kind {
            ResourceKind::Image { desc, .. } => desc.separate_levels.then_some(desc.mip_levels),
            ResourceKind::Buffer { .. } => None,
        }
    }

    /// One level of this image, whose id is `id`, as a separate image.
    fn level(&self, id: ResourceId, level: u32) -> Resource {
        let mut image = self.clone();
        if let ResourceKind::Image { desc, extent, .. } = &mut image.kind {
            desc.mip_levels = 1;
            if level > 0 {
                *extent = level_extent(*extent, level);
                desc.extent = Extent::Texels(*extent);
                image.name = format!("{} level {level}", self.name);
                image.level_of = Some(SeparateLevel { image: id, level });
            }
        }
        image
    }
}

/// The extent of a mip level.
fn level_extent(extent: vk::Extent3D, level: u32) -> vk::Extent3D {
    let side = |texels: u32| texels.checked_shr(level).unwrap_or(0).max(1);
    vk::Extent3D {
        width: side(extent.width),
        height: side(extent.height),
        depth: side(extent.depth),
    }
}

/// Turns the levels of images with separate levels into images, unless an access covers several levels; returns true if it added any. Level 0 keeps the id,
/// the others are appended to the resources.
pub(super) fn separate(tables: &mut Tables) -> Result<bool, FrameError> {
    let described = tables.resources.len();
    for index in 0..described {
        let resource = &tables.resources[index];
        let Some(levels @ 2..) = resource.separable_levels() else {
            continue;
        };
        if let Persistence::External(_) = resource.persistence {
            return Err(FrameRule::SeparateLevels.broken(format!(
                "the levels of `{}` cannot be separate images: it is external, a single image that the caller owns",
                resource.name
            )));
        }
        let mut uses = tables.accesses.iter();
        if uses.any(|access| access.resource.index() == index && access.range.levels.len() > 1) {
            continue;
        }
        let first = tables.resources.len() as u32;
        for access in &mut tables.accesses {
            if access.resource.index() == index {
                let level = std::mem::replace(&mut access.range.levels, Run::new(0, 1)).first;
                access.resource.0 = level.checked_sub(1).map_or(index as u32, |above| first + above);
            }
        }
        let id = ResourceId(index as u32);
        let above: Vec<Resource> = (1..levels).map(|level| resource.level(id, level)).collect();
        tables.resources[index] = resource.level(id, 0);
        tables.resources.extend(above);
    }
    Ok(tables.resources.len() > described)
}

/// Checks images that are declared as levels of other images, and derives their extents.
pub(super) fn resolve(tables: &mut Tables) -> Result<(), FrameError> {
    for index in 0..tables.resources.len() {
        let resource = &tables.resources[index];
        let Some(SeparateLevel { image, level }) = resource.level_of else {
            continue;
        };
        let broken = |why: &str| {
            let name = &resource.name;
            Err(FrameRule::SeparateLevels
                .broken(format!("resource `{name}` cannot be a separate level: {why}")))
        };
        let Some(of) = tables.resources.get(image.index()) else {
            return broken(&format!(
                "the frame does not declare resource `#{}`",
                image.index()
            ));
        };
        let ResourceKind::Image { extent: whole, .. } = of.kind else {
            return broken(&format!("`{}` is not an image", of.name));
        };
        let separate = |one: &Resource| one.separable_levels() == Some(1);
        if of.level_of.is_some() || !separate(of) || !separate(resource) {
            return broken(&format!(
                "it and `{}` must be images with `separate_levels` and one level each, and `{}` must not itself be a level of another image",
                of.name, of.name
            ));
        }
        if !(1..u32::BITS).contains(&level) {
            return broken(&format!("level {level} is not between 1 and {}", u32::BITS - 1));
        }
        let mut before = tables.resources[..index].iter();
        if let Some(other) = before.find(|other| other.level_of == resource.level_of) {
            return broken(&format!(
                "level {level} of `{}` is already `{}`",
                of.name, other.name
            ));
        }
        if let ResourceKind::Image { desc, extent, .. } = &mut tables.resources[index].kind {
            *extent = level_extent(whole, level);
            desc.extent = Extent::Texels(*extent);
        }
    }
    Ok(())
}

impl Frame {
    /// The image that holds a level of `resource`: the level's own image if levels are [separate](super::ImageDesc::separate_levels), else `resource`.
    pub fn level(&self, resource: ResourceId, level: u32) -> ResourceId {
        let mut images = self.resource_ids();
        let found = images.find(|id| self.level_of(*id, resource) == Some(level));
        found.unwrap_or(resource)
    }

    /// The level of `declared` that a resource holds: 0 for `declared` itself, `None` for an unrelated resource.
    pub(crate) fn level_of(&self, resource: ResourceId, declared: ResourceId) -> Option<u32> {
        if resource == declared {
            return Some(0);
        }
        let level_of = self.resources().get(resource.index())?.level_of?;
        (level_of.image == declared).then_some(level_of.level)
    }

    /// The first pass that uses several levels of an image at once: because of it, separable levels stay one image.
    pub(crate) fn joins_levels(&self, resource: ResourceId) -> Option<PassId> {
        self.resource(resource).separable_levels()?;
        let mut uses = self.accesses_to(resource);
        Some(uses.find(|access| access.range.levels.len() > 1)?.pass)
    }
}
