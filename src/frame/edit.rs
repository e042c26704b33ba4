//! Frames that differ from a given one in one thing: what planners try out.

use std::sync::Arc;

use super::builder::FrameBuilder;
use super::tables::{Access, Pass, PassKind, ResourceKind, Tables};
use super::weights::Weights;
use super::{AccessKind, Frame, FrameRule, ImageDesc, LoadOp, PassId, ResourceId, TileConstraint};
use crate::units::{Bytes, Run};

impl Frame {
    /// The frame without one pass: a renderer's features come and go.
    ///
    /// # Errors
    /// As [`FrameBuilder::build`]: what remains may read something that nobody writes.
    pub fn without_pass(&self, pass: PassId) -> crate::Result<Frame> {
        let mut tables = (*self.tables).clone();
        remove_pass(&mut tables, pass, Vec::new());
        FrameBuilder::from_tables(tables).build()
    }

    /// The frame with render pass `first` and the one behind it as one; `None` where they cannot be: they are recorded apart, differ in
    /// area or layers, or the second needs more of what the first writes than the same pixel (an input attachment, or drawing on).
    ///
    /// # Errors
    /// As [`FrameBuilder::build`].
    pub fn merged(&self, first: PassId) -> Option<crate::Result<Frame>> {
        let second = PassId(first.0 + 1);
        let buffer = |pass: PassId| self.passes().get(pass.index()).map(|pass| pass.command_buffer);
        if buffer(first) != buffer(second) {
            return None;
        }
        let kept = self.added_by_merging(first, second)?;
        let mut tables = (*self.tables).clone();
        tables.passes[first.index()].accesses.end += kept.len() as u32;
        remove_pass(&mut tables, second, kept);
        Some(FrameBuilder::from_tables(tables).build())
    }

    /// Whether two render passes could be one, were they recorded one after the other; see [`Frame::merged`].
    pub(crate) fn merges_with(&self, first: PassId, second: PassId) -> bool {
        self.added_by_merging(first, second).is_some()
    }

    /// What the first of two render passes accesses more when the second is part of it.
    fn added_by_merging(&self, first: PassId, second: PassId) -> Option<Vec<Access>> {
        let (one, other) = (self.pass(first), self.pass(second));
        let shape = |pass: &Pass| {
            (
                pass.kind,
                pass.area,
                pass.layers,
                pass.view_mask,
                pass.contents,
                pass.tile_shading,
            )
        };
        if one.kind != PassKind::Render || shape(one) != shape(other) {
            return None;
        }
        let before = self.accesses_of(first);
        let mut kept = Vec::new();
        for access in self.accesses_of(second) {
            let mut same = before
                .iter()
                .filter(|earlier| earlier.resource == access.resource && earlier.version == access.version);
            let same_pixel = |earlier: &Access| {
                let input = access.kind == AccessKind::InputAttachment && earlier.kind.is_attachment();
                let goes_on = access.kind == earlier.kind
                    && access.kind.is_attachment()
                    && access.kind != AccessKind::ResolveAttachment
                    && access.load_op == LoadOp::Load;
                input || goes_on || !(access.writes || earlier.writes)
            };
            if !same.clone().all(same_pixel) {
                return None;
            }
            // What goes on as before is declared already.
            if !same.any(|earlier| earlier.kind == access.kind) {
                kept.push(Access {
                    pass: first,
                    ..*access
                });
            }
        }
        Some(kept)
    }

    /// The frame with some resources that must be placed in tile memory.
    pub fn with_pinned(&self, resources: &[ResourceId]) -> Frame {
        self.with_demand(resources, TileConstraint::Pinned)
    }

    /// The frame with some resources that must not be placed in tile memory, even if there is room.
    pub fn with_excluded(&self, resources: &[ResourceId]) -> Frame {
        self.with_demand(resources, TileConstraint::Excluded)
    }

    fn with_demand(&self, resources: &[ResourceId], tile_constraint: TileConstraint) -> Frame {
        let mut frame = self.clone();
        let tables = Arc::make_mut(&mut frame.tables);
        for resource in resources {
            tables.resources[resource.index()].tile_constraint = tile_constraint;
        }
        frame
    }

    /// The frame with measured savings in place of the model's; see [`Weights`].
    ///
    /// # Errors
    /// [`FrameRule::Unknown`] for a pass or resource that the frame does not have, and
    /// [`FrameRule::Weight`] for a pair that is no access of it or is named twice.
    pub fn with_weights(&self, weights: &Weights) -> crate::Result<Frame> {
        let mut frame = self.clone();
        let tables = Arc::make_mut(&mut frame.tables);
        let mut seen = Vec::with_capacity(weights.accesses.len());
        for weight in &weights.accesses {
            let unknown = |what, name: &str| {
                FrameRule::Unknown.broken(format!(
                    "a weight refers to {what} `{name}`, which the frame does not declare"
                ))
            };
            let pass = self
                .pass_named(&weight.pass)
                .ok_or_else(|| unknown("pass", &weight.pass))?;
            let resource = self
                .resource_named(&weight.resource)
                .ok_or_else(|| unknown("resource", &weight.resource))?;
            let fault = |problem| {
                FrameRule::Weight.broken(format!(
                    "the weight of `{resource}` in pass `{pass}` {problem}",
                    pass = weight.pass,
                    resource = weight.resource
                ))
            };
            if seen.contains(&(pass, resource)) {
                return Err(fault("is named twice").into());
            }
            seen.push((pass, resource));
            if weight.savings.0 > Weights::MAX {
                return Err(fault("is more than 2^40 bytes").into());
            }
            let mut of_pair = tables.passes[pass.index()]
                .accesses
                .indices()
                .filter(|&index| tables.accesses[index].resource == resource);
            let first = of_pair.next().ok_or_else(|| fault("is no access of the frame"))?;
            let others: Vec<usize> = of_pair.collect();
            // Of several accesses in one pass, the first stands for all.
            tables.accesses[first].measured = Some(weight.savings);
            for other in others {
                tables.accesses[other].measured = Some(Bytes::ZERO);
            }
        }
        Ok(frame)
    }

    /// The frame with other images.
    ///
    /// # Errors
    /// As [`FrameBuilder::build`].
    pub(crate) fn with_images(&self, change: impl Fn(ResourceId, &mut ImageDesc)) -> crate::Result<Frame> {
        let mut tables = (*self.tables).clone();
        for (id, resource) in self.resource_ids().zip(&mut tables.resources) {
            if let ResourceKind::Image { desc, .. } = &mut resource.kind {
                change(id, desc);
            }
        }
        FrameBuilder::from_tables(tables).build()
    }

    /// The frame without one access: an index into [`Frame::accesses`].
    ///
    /// # Errors
    /// As [`FrameBuilder::build`]: what remains may read something that nobody writes.
    pub fn without_access(&self, access: usize) -> crate::Result<Frame> {
        let mut tables = (*self.tables).clone();
        tables.accesses.remove(access);
        for pass in &mut tables.passes {
            pass.accesses = without(pass.accesses, access as u32);
        }
        FrameBuilder::from_tables(tables).build()
    }
}

/// Removes a pass, whose accesses become `kept` ones of the pass before.
fn remove_pass(tables: &mut Tables, pass: PassId, kept: Vec<Access>) {
    let gone = tables.passes.remove(pass.index());
    let fewer = (gone.accesses.len() - kept.len()) as u32;
    tables.accesses.splice(gone.accesses.indices(), kept);
    for access in &mut tables.accesses {
        access.pass.0 -= u32::from(access.pass > pass);
    }
    for later in &mut tables.passes[pass.index()..] {
        later.accesses.first -= fewer;
        later.accesses.end -= fewer;
    }
    for commands in &mut tables.command_buffers {
        commands.passes = without(commands.passes, pass.0);
    }
}

/// A run of a table from which one entry is removed.
fn without(run: Run, gone: u32) -> Run {
    let moved = |index: u32| index - u32::from(index > gone);
    Run::new(moved(run.first), moved(run.end))
}
