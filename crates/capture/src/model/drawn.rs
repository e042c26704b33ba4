//! The elements that draws fetch, and the counts of commands.

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
    /// Parameters in buffers, or otherwise unknown: true for indexed draws, and the maximum number of draws.
    Unknown { indexed: bool, draws: u64 },
    /// No elements: mesh shaders, with the number of workgroups.
    Groups([u32; 3]),
}

/// The counts of commands, as [`PassFacts`](crate::document::PassFacts) describes them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommandCounts {
    pub(crate) draws: u64,
    pub(crate) indirect_draws: u64,
    pub(crate) vertices: u64,
    pub(crate) indices: u64,
    pub(crate) vertex_bytes: u64,
    pub(crate) dispatches: u64,
    pub(crate) transfers: u64,
    pub(crate) has_side_effects: bool,
}
