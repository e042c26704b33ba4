//! The rewrite that turns each value of a resource into a separate resource.

use super::executed::ExecutedFrame;
use super::origins::{Origins, ResourceOrigin, ResourceValue};
use crate::frame::{ResourceId, SeparateValue};

impl ExecutedFrame {
    /// Rewrites the frame so that each *value* of a resource is a separate resource with its own placement. A value is a version of the contents,
    /// from its first write to its last use. For example, an image that an engine's pool hands out three times in a frame has three values.
    ///
    /// ```text
    /// passes                 0 ao    1 apply   2 down   3 up     4 blur   5 tone
    /// pool                   w ───── r         w ────── r        w ────── r        needs its place for six passes
    /// pool (value 1 of 3)    w ───── r                                             two passes each, in as many places,
    /// pool (value 2 of 3)                      w ────── r                          with other things in between
    /// pool (value 3 of 3)                                        w ────── r
    /// ```
    /// A value ends before a pass if no part of the resource (level, layer, aspect) has contents that a later access needs: each part is next cleared
    /// or overwritten as a whole, or is not used again. A partial write, a load, blending, or a write by a pass that a frame may [leave
    /// out](crate::frame::tables::SkippedOutputs) does not begin a value.
    ///
    /// External and history resources hold their last value, and also the first one if it needs the contents from before the frame (or, for an
    /// external resource, is on another queue). For the caller they are unchanged: their [part](ExecutedFrame::part) has no value. The other values are
    /// transient.
    ///
    /// Resources with a [`TileConstraint`](crate::frame::TileConstraint), and resources of stores, stretches of lifetimes and values, are left
    /// unchanged. Separate values before merging passes, reordering them or splitting lifetimes: more is possible then.
    ///
    /// # Errors
    /// Same as [`FrameBuilder::build`](crate::frame::FrameBuilder::build): the frame may have too many resources.
    pub fn separate_values(&self) -> crate::Result<ExecutedFrame> {
        self.separate_values_of(|_| true)
    }

    /// Like [`ExecutedFrame::separate_values`], but only for the resources of the executed frame for which `wanted` returns true. Leave out those whose
    /// handles the caller keeps, for example in a descriptor set that all passes share.
    ///
    /// # Errors
    /// Same as [`ExecutedFrame::separate_values`].
    pub fn separate_values_of(&self, wanted: impl Fn(ResourceId) -> bool) -> crate::Result<ExecutedFrame> {
        let divides = |id: ResourceId| self.origins().resource(id).is_whole() && wanted(id);
        let Some(divided) = self.frame().with_separate_values(divides) else {
            return Ok(self.clone());
        };
        let (frame, values) = divided?;
        let mut origins = Origins::IDENTITY.to_tables(self.frame());
        let value_of = |(id, value)| match value {
            None => ResourceOrigin::whole(id),
            Some(SeparateValue {
                resource,
                number,
                count,
            }) => ResourceOrigin {
                value: Some(ResourceValue { number, count }),
                ..ResourceOrigin::whole(resource)
            },
        };
        origins.resources = frame.resource_ids().zip(values).map(value_of).collect();
        Ok(self.rewritten(frame, origins))
    }
}
