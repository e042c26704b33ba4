//! The rewrite that gives each value of a resource a resource of its own.

use super::executed::Executed;
use super::origins::{Origins, ResourceOrigin, ValueOf};
use crate::frame::{ResourceId, SeparateValue};

impl Executed {
    /// The frame in which each *value* of a resource is a resource of its own, which is placed on its own: a value is a version of the
    /// contents, from where it begins to be written until nothing needs it any more. An image that a pool lends three times has three.
    ///
    /// ```text
    /// passes                 0 ao    1 apply   2 down   3 up     4 blur   5 tone
    /// pool                   w ───── r         w ────── r        w ────── r        needs its place for six passes
    /// pool (value 1 of 3)    w ───── r                                             two passes each, in as many places,
    /// pool (value 2 of 3)                      w ────── r                          with other things in between
    /// pool (value 3 of 3)                                        w ────── r
    /// ```
    /// A value ends before a pass where no part of the resource (level, layer, aspect) holds anything that a later access needs: each part is
    /// next cleared or overwritten as a whole, or is not used again. What is written in part, loaded, blended on, or written by a pass that
    /// a frame may [leave out](crate::frame::tables::SkippedOutputs) does not begin one.
    ///
    /// External and history resources hold their last value, and the first one if that needs what was there before the frame (or, of an external
    /// resource, is of another queue). The caller knows them as before: their [part](Executed::part) has no value. The other
    /// values are transient.
    ///
    /// Resources with a [`TileConstraint`](crate::frame::TileConstraint), those of stores, stretches of lifetimes and values are left as they
    /// are. Make values before merging passes, reordering them or splitting lifetimes: more is possible then.
    ///
    /// # Errors
    /// As [`FrameBuilder::build`](crate::frame::FrameBuilder::build): the frame may have too many resources.
    pub fn separate_values(&self) -> crate::Result<Executed> {
        self.separate_values_of(|_| true)
    }

    /// As [`Executed::separate_values`], of some resources of the frame that runs: not of one whose handle the caller keeps, in a descriptor set
    /// that all passes share for example.
    ///
    /// # Errors
    /// As [`Executed::separate_values`].
    pub fn separate_values_of(&self, wanted: impl Fn(ResourceId) -> bool) -> crate::Result<Executed> {
        let divides = |id: ResourceId| self.origins().resource(id).is_whole() && wanted(id);
        let Some(divided) = self.frame().with_separate_values(divides) else {
            return Ok(self.clone());
        };
        let (frame, values) = divided?;
        let mut origins = Origins::IDENTITY.to_tables(self.frame());
        let value_of = |(id, value)| match value {
            None => ResourceOrigin::whole(id),
            Some(SeparateValue { of, number, count }) => ResourceOrigin {
                value: Some(ValueOf { number, count }),
                ..ResourceOrigin::whole(of)
            },
        };
        origins.resources = frame.resource_ids().zip(values).map(value_of).collect();
        Ok(self.rewritten(frame, origins))
    }
}
