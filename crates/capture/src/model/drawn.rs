//! The elements that draws fetch, and the counts of draws.

use crate::document::PassFacts;

/// The elements that a draw fetches: vertices, indices or instances.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Elements {
    pub(crate) first: u64,
    pub(crate) count: u64,
}

impl Elements {
    pub(crate) fn new(first: u32, count: u32) -> Elements {
        Elements {
            first: first.into(),
            count: count.into(),
        }
    }
}

/// The elements of a draw.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DrawnElements {
    /// Vertices and instances.
    Vertices(Elements, Elements),
    /// Indices and instances: the vertices are given by the index buffer.
    Indices(Elements, Elements),
    /// Parameters in buffers, or otherwise unknown: whether the draws are indexed, and their maximum number.
    Unknown { indexed: bool, draws: u64 },
    /// No elements: mesh shaders, with the number of workgroups.
    Groups([u32; 3]),
}

impl DrawnElements {
    /// Returns true if it is possible that nothing is drawn: there are no elements, or their number is in a buffer.
    pub(crate) fn may_be_none(self) -> bool {
        match self {
            DrawnElements::Vertices(elements, instances) | DrawnElements::Indices(elements, instances) => {
                elements.count == 0 || instances.count == 0
            }
            DrawnElements::Unknown { .. } => true,
            DrawnElements::Groups(groups) => groups.contains(&0),
        }
    }

    /// Returns the counts of the draw, without the bytes that it fetches.
    pub(crate) fn counts(self) -> DrawCounts {
        let direct = DrawCounts {
            draws: 1,
            ..DrawCounts::default()
        };
        match self {
            DrawnElements::Vertices(elements, instances) => DrawCounts {
                vertices: elements.count * instances.count,
                ..direct
            },
            DrawnElements::Indices(elements, instances) => DrawCounts {
                vertices: elements.count * instances.count,
                indices: elements.count * instances.count,
                ..direct
            },
            DrawnElements::Unknown { draws, .. } => DrawCounts {
                draws,
                indirect_draws: draws,
                ..direct
            },
            DrawnElements::Groups(_) => direct,
        }
    }
}

/// The counts of draws, as [`PassFacts`] describes them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DrawCounts {
    pub(crate) draws: u64,
    pub(crate) indirect_draws: u64,
    pub(crate) vertices: u64,
    pub(crate) indices: u64,
    pub(crate) vertex_bytes: u64,
}

/// Calls a macro with the names of the counts.
macro_rules! each_count {
    ($use_it:ident) => {
        $use_it! { draws indirect_draws vertices indices vertex_bytes }
    };
}

impl DrawCounts {
    /// Adds the counts of another draw.
    pub(crate) fn add(&mut self, other: DrawCounts) {
        macro_rules! add {
            ($($field:ident)+) => { $(self.$field += other.$field;)+ };
        }
        each_count!(add);
    }

    /// Adds the counts to the facts of a pass.
    pub(crate) fn add_to(self, facts: &mut PassFacts) {
        macro_rules! add {
            ($($field:ident)+) => { $(facts.$field += self.$field;)+ };
        }
        each_count!(add);
    }
}
