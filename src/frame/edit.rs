//! Derives variants of a frame: without a pass, with two passes merged, with other constraints or weights.

use std::sync::Arc;

use super::area::{attachment_extent, intersection, union};
use super::builder::FrameBuilder;
use super::tables::{Access, CommandSource, Pass, PassKind, Tables};
use super::validate::subpasses_share;
use super::weights::Weights;
use super::{AccessKind, Frame, FrameRule, LoadOp, PassId, ResourceId, TileConstraint};
use crate::units::{Bytes, Run};
use tileheap_json::did_you_mean;

impl Frame {
    /// The frame without `pass`, for renderers that toggle features.
    ///
    /// # Errors
    /// Same as [`FrameBuilder::build`]: the remaining passes may read something that is no longer written.
    pub fn without_pass(&self, pass: PassId) -> crate::Result<Frame> {
        let mut tables = (*self.tables).clone();
        remove_pass(&mut tables, pass);
        FrameBuilder::from_tables(tables).build()
    }

    /// Merges render pass `first` and the pass after it into one pass with consecutive subpasses; `None` if they cannot be merged. They must be in one
    /// command buffer and inline, must have accesses, must be neither optional nor tile shading passes, and must have the same layers, views, hook and
    /// pipeline samples. If their areas differ, every attachment must cover the union of the areas, and a pass that renders to only part of the union must
    /// not [clear, discard or resolve](super::LoadOp) an attachment. The second pass may use what the first one writes only at the same pixel: as an input
    /// attachment, or by drawing over it.
    ///
    /// # Errors
    /// Same as [`FrameBuilder::build`].
    pub fn merged(&self, first: PassId) -> Option<crate::Result<Frame>> {
        let second = PassId(first.0 + 1);
        let buffer = |pass: PassId| self.passes().get(pass.index()).map(|pass| pass.command_buffer);
        if buffer(first) != buffer(second) || !self.merges_with(first, second) {
            return None;
        }
        let mut tables = (*self.tables).clone();
        let (gone, subpasses) = (self.pass(second), self.pass(first).subpasses);
        let areas = [first, second].map(|pass| self.pass(pass).area);
        let one = &mut tables.passes[first.index()];
        if areas[0] != areas[1] {
            one.render_area = Some(union(areas[0], areas[1]));
        }
        (one.accesses.end, one.subpasses) = (gone.accesses.end, subpasses + gone.subpasses);
        for access in &mut tables.accesses[gone.accesses.indices()] {
            (access.pass, access.subpass) = (first, access.subpass + subpasses);
        }
        tables.passes[second.index()].accesses.first = gone.accesses.end;
        remove_pass(&mut tables, second);
        Some(FrameBuilder::from_tables(tables).build())
    }

    /// Returns true if two render passes could be merged if they were recorded one after the other; see [`Frame::merged`].
    pub(crate) fn merges_with(&self, first: PassId, second: PassId) -> bool {
        let [one, other] = [first, second].map(|pass| self.pass(pass));
        let shape = |pass: &Pass| {
            let chained = (pass.hook, pass.samples);
            (pass.layers, pass.view_mask, pass.contents, chained)
        };
        let can_be = |pass: &Pass| {
            let plain = !pass.tile_shading && pass.optional.is_none();
            pass.kind == PassKind::Render && plain && !pass.accesses.is_empty()
        };
        let inline = one.contents == CommandSource::Inline;
        if !can_be(one) || !can_be(other) || shape(one) != shape(other) || !inline {
            return false;
        }
        if one.area != other.area && !self.areas_merge(first, second) {
            return false;
        }
        let behind = |access: &Access| Access {
            subpass: access.subpass + one.subpasses,
            ..*access
        };
        let mut later = self.accesses_of(second).iter().map(behind);
        later.all(|after| {
            let mut before = self.accesses_of(first).iter();
            before.all(|before| subpasses_share(before, &after).is_ok())
        })
    }

    /// Returns true if two render passes with different areas can be merged into one that renders to the smallest area that contains both. A render pass
    /// instance has one area, which every attachment must cover; draws stay in the areas that were declared. Contents of an attachment outside those areas
    /// survive if the attachment is loaded and stored again: clears, discards and resolves apply to the whole area.
    ///
    /// Source: `VkRenderPassBeginInfo`: "The application must ensure (using scissor if necessary) that all rendering is contained within
    /// the render area"; load, store and resolve operations apply to the render area ("Render Pass Load Operations", "Render Pass
    /// Multisample Resolve Operations"); VUID-VkRenderingInfo-pNext-06079, -06080.
    fn areas_merge(&self, first: PassId, second: PassId) -> bool {
        let around = union(self.pass(first).area, self.pass(second).area);
        let whole = |pass: PassId| self.pass(pass).area == around;
        let reset = |access: &Access| {
            let replaced = access.writes && access.load_op != LoadOp::Load;
            access.kind.is_attachment() && (replaced || access.kind == AccessKind::ResolveAttachment)
        };
        let fits = |pass: PassId| {
            let accesses = self.accesses_of(pass);
            let limit = attachment_extent(accesses, self.resources()).map(|(extent, _)| extent.into());
            let inside = limit.is_some_and(|limit| intersection(around, limit) == Some(around));
            inside && (whole(pass) || !accesses.iter().any(reset))
        };
        fits(first) && fits(second)
    }

    /// The frame with some resources pinned: they must be placed in tile memory.
    pub fn with_pinned(&self, resources: &[ResourceId]) -> Frame {
        self.with_demand(resources, TileConstraint::Pinned)
    }

    /// The frame with some resources excluded: they must not be placed in tile memory, even if there is room.
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

    /// The frame with measured savings in place of the model's estimates; see [`Weights`].
    ///
    /// # Errors
    /// [`FrameRule::Unknown`] for a pass or resource that the frame does not have, and [`FrameRule::Weight`] for a pair that is not an access of it
    /// or is named twice.
    pub fn with_weights(&self, weights: &Weights) -> crate::Result<Frame> {
        let mut frame = self.clone();
        let tables = Arc::make_mut(&mut frame.tables);
        let mut seen = Vec::with_capacity(weights.accesses.len());
        for weight in &weights.accesses {
            let unknown = |what, name: &str, near: String| {
                FrameRule::Unknown.broken(format!(
                    "a weight refers to {what} `{name}`, which the frame does not declare{near}"
                ))
            };
            let pass = self.pass_named(&weight.pass).ok_or_else(|| {
                let near = did_you_mean(&weight.pass, self.pass_names());
                unknown("pass", &weight.pass, near)
            })?;
            let resource = self.resource_named(&weight.resource).ok_or_else(|| {
                let near = did_you_mean(&weight.resource, self.resource_names());
                unknown("resource", &weight.resource, near)
            })?;
            let fault = |problem| {
                FrameRule::Weight.broken(format!(
                    "weight of `{resource}` in pass `{pass}`: {problem}",
                    pass = weight.pass,
                    resource = weight.resource
                ))
            };
            if seen.contains(&(pass, resource)) {
                return Err(fault("listed twice").into());
            }
            seen.push((pass, resource));
            if weight.savings.0 > Weights::MAX {
                return Err(fault("exceeds 2^40 bytes").into());
            }
            let mut of_pair = tables.passes[pass.index()]
                .accesses
                .indices()
                .filter(|&index| tables.accesses[index].resource == resource);
            let first = of_pair
                .next()
                .ok_or_else(|| fault("the pass does not access the resource"))?;
            let others: Vec<usize> = of_pair.collect();
            // If a pass has several accesses to the resource, the first one gets the savings of all.
            tables.accesses[first].measured = Some(weight.savings);
            for other in others {
                tables.accesses[other].measured = Some(Bytes::ZERO);
            }
        }
        Ok(frame)
    }

    /// The frame with changed image descriptions.
    ///
    /// # Errors
    /// Same as [`FrameBuilder::build`].
    #[cfg(feature = "arrange")]
    pub(crate) fn with_images(
        &self,
        change: impl Fn(ResourceId, &mut super::ImageDesc),
    ) -> crate::Result<Frame> {
        let mut tables = (*self.tables).clone();
        for (id, resource) in self.resource_ids().zip(&mut tables.resources) {
            if let super::tables::ResourceKind::Image { desc, .. } = &mut resource.kind {
                change(id, desc);
            }
        }
        FrameBuilder::from_tables(tables).build()
    }

    /// The frame without access `access`, an index into [`Frame::accesses`].
    ///
    /// # Errors
    /// Same as [`FrameBuilder::build`]: the remaining accesses may read something that is no longer written.
    pub fn without_access(&self, access: usize) -> crate::Result<Frame> {
        let mut tables = (*self.tables).clone();
        tables.accesses.remove(access);
        for pass in &mut tables.passes {
            pass.accesses = without(pass.accesses, access as u32);
        }
        FrameBuilder::from_tables(tables).build()
    }
}

/// Removes a pass and its accesses.
fn remove_pass(tables: &mut Tables, pass: PassId) {
    let gone = tables.passes.remove(pass.index()).accesses;
    tables.accesses.drain(gone.indices());
    for access in &mut tables.accesses {
        access.pass.0 -= u32::from(access.pass > pass);
    }
    for later in &mut tables.passes[pass.index()..] {
        later.accesses.first -= gone.len() as u32;
        later.accesses.end -= gone.len() as u32;
    }
    for commands in &mut tables.command_buffers {
        commands.passes = without(commands.passes, pass.0);
    }
}

/// Adjusts a run of a table after entry `gone` was removed from the table.
fn without(run: Run, gone: u32) -> Run {
    let moved = |index: u32| index - u32::from(index > gone);
    Run::new(moved(run.first), moved(run.end))
}
