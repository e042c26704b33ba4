//! What is prepared at binding for recording the frames of one parity.

use super::barrier::Barriers;
use super::bound_resource::BoundResource;
use super::rendering::Rendering;

/// What is recorded in frames of one parity.
pub(super) struct FrameTables {
    /// Per placement of the plan (named as in even frames), the object that stands for it.
    pub(super) places: Vec<BoundResource>,
    pub(super) barriers: Barriers,
    /// Per pass; `None` for compute and transfer passes.
    pub(super) renderings: Vec<Option<Rendering>>,
}
