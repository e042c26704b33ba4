//! Rewrites of one resource or pass: splits of lifetimes and merges of passes.

use super::executed::ExecutedFrame;
use super::origins::{OriginTables, Origins, PassOrigin, PassRun, ResourceOrigin};
use crate::frame::{Frame, PassId, ResourceId};

impl ExecutedFrame {
    /// Pairs of a resource and a pass of the executed frame after which the lifetime of the resource may be [split](ExecutedFrame::split).
    pub fn splittable(&self) -> impl Iterator<Item = (ResourceId, PassId)> + use<'_> {
        let frame = self.frame();
        let resources = frame
            .resource_ids()
            .filter(|&id| frame.check_splittable(id).is_ok());
        resources.flat_map(|id| frame.accesses_to(id).map(move |access| (id, access.pass)))
    }

    /// Applies [`Frame::split`] to the executed frame.
    ///
    /// # Errors
    /// Same as [`Frame::split`].
    pub fn split(&self, resource: ResourceId, after: PassId) -> Option<crate::Result<ExecutedFrame>> {
        let split = self.frame().split(resource, after)?;
        Some(split.map(|frame| {
            let mut origins = Origins::IDENTITY.to_tables(self.frame());
            let at = self.frame().pass(after).accesses.end as usize;
            origins.accesses.splice(at..at, [None, None]);
            let store = PassOrigin::Store { resource, after };
            origins.passes.insert(after.index() + 1, store);
            origins.resources.push(ResourceOrigin {
                until: Some(after),
                ..ResourceOrigin::whole(resource)
            });
            self.rewritten(frame, origins)
        }))
    }

    /// Applies [`Frame::merged`] to the executed frame.
    ///
    /// # Errors
    /// Same as [`Frame::merged`].
    pub fn merged(&self, first: PassId) -> Option<crate::Result<ExecutedFrame>> {
        let merged = self.frame().merged(first)?;
        Some(merged.map(|frame| {
            let mut origins = Origins::IDENTITY.to_tables(self.frame());
            let second = PassRun {
                pass: PassId(first.0 + 1),
                subpass: self.frame().pass(first).subpasses,
                strip: None,
            };
            origins.passes.remove(second.pass.index());
            origins.passes[first.index()] = PassOrigin::Runs(vec![PassRun::whole(first), second]);
            self.rewritten(frame, origins)
        }))
    }

    pub(super) fn rewritten(&self, frame: Frame, origins: OriginTables) -> ExecutedFrame {
        self.then(&ExecutedFrame::new(frame, self.frame().clone(), origins.into()))
    }
}
