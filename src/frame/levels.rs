//! Images whose levels are images of their own, where no access is of several of them.
//!
//! ```text
//! described   bloom: 3 levels       draw ─► level 0     blur: 0 ─► 1     blur: 1 ─► 2     compose: 2
//! built       bloom                 ├─────────────────────────────┤
//!             bloom level 1                             ├──────────────────────────┤
//!             bloom level 2                                              ├──────────────────────┤
//! ```
//! Each has its own size, lifetime and place: a large level may live on chip for two passes, where the whole chain does not fit for four.

use ash::vk;

use super::tables::{Resource, ResourceKind, Tables};
use super::{Extent, Frame, FrameError, FrameRule, PassId, Persistence, ResourceId};
use crate::units::Run;

impl Resource {
    /// The levels of an image that may be images of their own: 1 where they are.
    fn separable_levels(&self) -> Option<u32> {
        match self.kind {
            ResourceKind::Image { desc, .. } => desc.separate_levels.then_some(desc.mip_levels),
            ResourceKind::Buffer { .. } => None,
        }
    }

    /// One level of it, as an image.
    fn level(&self, level: u32) -> Resource {
        let mut image = self.clone();
        if let ResourceKind::Image { desc, extent, .. } = &mut image.kind {
            desc.mip_levels = 1;
            if level > 0 {
                let [width, height, depth] =
                    [extent.width, extent.height, extent.depth].map(|side| (side >> level).max(1));
                *extent = vk::Extent3D { width, height, depth };
                desc.extent = Extent::Texels(*extent);
                image.name = format!("{} level {level}", self.name);
            }
        }
        image
    }
}

/// Makes images of levels that are described so; whether there are any. Level 0 keeps the id, the others come behind all resources.
pub(super) fn separate(tables: &mut Tables) -> Result<bool, FrameError> {
    let described = tables.resources.len();
    for index in 0..described {
        let resource = &tables.resources[index];
        let Some(levels @ 2..) = resource.separable_levels() else {
            continue;
        };
        if let Persistence::External(_) = resource.persistence {
            return Err(FrameRule::SeparateLevels.broken(format!(
                "the levels of `{}` cannot be images of their own: it is external, one image of the caller's",
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
        let above: Vec<Resource> = (1..levels).map(|level| resource.level(level)).collect();
        tables.resources[index] = resource.level(0);
        tables.resources.extend(above);
    }
    Ok(tables.resources.len() > described)
}

impl Frame {
    /// The image that has a level of `resource`: another one where its levels are
    /// [images of their own](super::ImageDesc::separate_levels).
    pub fn level(&self, resource: ResourceId, level: u32) -> ResourceId {
        let mut images = self.resource_ids();
        let found = images.find(|id| self.level_of(*id, resource) == Some(level));
        found.unwrap_or(resource)
    }

    /// Which level of `described` a resource is, 0 for itself; `None` for another one.
    pub(crate) fn level_of(&self, resource: ResourceId, described: ResourceId) -> Option<u32> {
        if resource == described {
            return Some(0);
        }
        let separate = |id: ResourceId| {
            let resource = self.resources().get(id.index())?;
            (resource.separable_levels() == Some(1)).then_some(resource.name.as_str())
        };
        let level = separate(resource)?.strip_prefix(separate(described)?)?;
        level.strip_prefix(" level ")?.parse().ok()
    }

    /// The first pass that uses several levels at once of an image whose levels may be images of their own: it is one image.
    pub(crate) fn joins_levels(&self, resource: ResourceId) -> Option<PassId> {
        self.resource(resource).separable_levels()?;
        let mut uses = self.accesses_to(resource);
        Some(uses.find(|access| access.range.levels.len() > 1)?.pass)
    }
}
