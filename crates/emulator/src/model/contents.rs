//! Computes which bytes can be live from the sizes of the bound objects, while commands are recorded. Only these bytes need poison when
//! they become undefined.
//!
//! ```text
//! begin  bind A(8)  pass -> 0..8   bind B(4)  dispatch: 0..4           bind A  pass loads 4..8: undefined
//!                   entry = 8                 discards 4..8
//! ```

/// The effect of a command buffer on the bytes that can be live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// The number of bytes bound at the first action command, which discards all bytes past them. `None` without action commands.
    pub(crate) entry: Option<u64>,
    /// The number of bytes, from offset 0, that can be live after the last action command; 0 without action commands.
    pub(crate) live: u64,
}

impl Contents {
    /// Records that the next action command runs with `reserved` bytes bound. Returns the range that it discards within this command buffer.
    pub(crate) fn act(&mut self, reserved: u64) -> Option<(u64, u64)> {
        let discarded = match self.entry {
            None => {
                self.entry = Some(reserved);
                None
            }
            Some(_) => (reserved < self.live).then_some((reserved, self.live)),
        };
        self.live = reserved;
        discarded
    }
}

/// The state of a queue's tile memory within a window in which contents survive: a batch, or a submit if
/// `queueSubmitBoundary` is true.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// The number of bytes, from offset 0, that can be live.
    pub(crate) live: u64,
}

impl Window {
    /// Runs a command buffer. Returns the first live byte that it discards, if any.
    pub(crate) fn run(&mut self, contents: Contents) -> Option<u64> {
        let entry = contents.entry?;
        let discards = (entry < self.live).then_some(entry);
        self.live = contents.live;
        discards
    }
}
