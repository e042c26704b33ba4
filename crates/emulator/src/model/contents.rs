//! Which bytes of tile memory have defined contents: what a command buffer discards, writes and reads.
//!
//! ```text
//! begin  bind A(8)  pass -> 0..8   bind B(4)  dispatch: reads 0..4      bind A  pass loads 4..8: dead
//!                   entry = 8                 discards 4..8
//! ```
//! What was in tile memory before a command buffer is known when it is submitted, so reads that nothing in it precedes are
//! kept and judged then.

use super::finding::Finding;
use super::history::{Discard, DiscardReason, Event, Fate, History};
use super::objects::Object;
use super::position::{Position, Submit};
use super::resources::{Place, Resource};
use crate::tables::messages::MessageId;

/// The effect of a command buffer on tile memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Bytes bound at the first action command: what lies above is discarded there. `None` without action commands.
    pub(crate) entry: Option<u64>,
    /// The first action command.
    entered: Position,
    /// Bytes that can be live after the last action command; nothing where there is none.
    pub(crate) live: u64,
    /// Writes and discards, whatever the contents before.
    history: History,
    /// Reads of contents from before the command buffer.
    reads: Vec<Read>,
    /// Discards of contents from before the command buffer.
    losses: Vec<Loss>,
    discards: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Read {
    object: Object,
    first: u64,
    end: u64,
    contents: u64,
    at: Position,
}

/// Bytes that a secondary command buffer discards although its primary has them bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Loss {
    secondary: Object,
    first: u64,
    end: u64,
    at: Position,
}

impl Contents {
    /// The next action command runs with `reserved` bytes bound: the range that it discards within this command buffer.
    pub(crate) fn act(&mut self, reserved: u64, at: Position) -> Option<(u64, u64)> {
        let discarded = match self.entry {
            None => {
                self.enter(reserved, at);
                None
            }
            Some(_) => (reserved < self.live).then_some((reserved, self.live)),
        };
        if let Some((first, end)) = discarded {
            let reason = DiscardReason::LessBound;
            self.discard(Discard { first, end, reason }, Event::of(at, None));
        }
        self.live = reserved;
        discarded
    }

    /// The first action command is `at`, with so many bytes bound.
    pub(crate) fn enter(&mut self, reserved: u64, at: Position) {
        (self.entry, self.entered) = (Some(reserved), at);
    }

    /// Bytes become undefined.
    pub(crate) fn discard(&mut self, discard: Discard, event: Event) {
        self.discards += 1;
        self.history
            .lose(discard.first, discard.end, discard.reason, event);
    }

    /// Earlier checks are invalid.
    pub(crate) fn invalidate_checks(&mut self) {
        self.discards += 1;
    }

    /// How often bytes became undefined. While it stays the same, repeated accesses need no second check.
    pub(crate) fn discards(&self) -> u64 {
        self.discards
    }

    /// Records a write.
    pub(crate) fn write(&mut self, object: Object, place: &Place, at: Position) {
        let contents = place.contents;
        let event = Event {
            contents,
            ..Event::of(at, Some(object))
        };
        self.history.write(place.first, place.end, event);
    }

    /// Records a read; returns a finding if its contents are known to be undefined.
    pub(crate) fn read(&mut self, resource: &Resource, place: &Place, at: Position) -> Option<Finding> {
        self.read_of(Read {
            object: resource.object,
            first: place.first,
            end: place.end,
            contents: place.contents,
            at,
        })
    }

    fn read_of(&mut self, read: Read) -> Option<Finding> {
        let Read {
            object, first, end, ..
        } = read;
        let fate = self.history.all_lost(first, end);
        if let Some(fate) = fate.or_else(|| self.history.overwritten(first, end, read.contents)) {
            return Some(finding(&read, fate, None));
        }
        let is_known = |known: &Read| (known.object, known.first, known.end) == (object, first, end);
        if !self.history.touches(first, end) && !self.reads.iter().any(is_known) {
            self.reads.push(read);
        }
        None
    }

    /// A secondary command buffer inside a render pass discards `[first, end)`: a finding, if something is known to be there. What
    /// was there before this command buffer is judged when it is submitted.
    pub(crate) fn lose(&mut self, secondary: Object, first: u64, end: u64, at: Position) -> Option<Finding> {
        let loss = Loss {
            secondary,
            first,
            end,
            at,
        };
        let lost = self.history.first_defined(first, end);
        if lost.is_none() {
            self.losses.push(loss);
        }
        lost.map(|lost| inheritance_missing(&loss, lost, None))
    }

    /// A secondary command buffer runs here.
    pub(crate) fn run(&mut self, secondary: &Contents) -> Vec<Finding> {
        let findings = secondary
            .reads
            .iter()
            .filter_map(|read| self.read_of(*read))
            .collect();
        self.history.follow(&secondary.history, None);
        self.discards += secondary.discards;
        findings
    }
}

/// Tile memory of a queue while command buffers of one window run.
pub(crate) struct Window {
    /// Bytes that can be live.
    pub(crate) live: u64,
    heap: u64,
    history: History,
}

impl Window {
    /// The first window: everything is undefined.
    pub(crate) fn new(heap: u64) -> Window {
        Window {
            live: 0,
            heap,
            history: History::of_heap(heap),
        }
    }

    /// The window ends: everything is undefined.
    pub(crate) fn end(&mut self, reason: DiscardReason, submit: Submit) {
        let event = Event {
            submit: Some(submit),
            ..Event::default()
        };
        self.history.lose(0, self.heap, reason, event);
        self.live = 0;
    }

    /// Runs a command buffer: the first live byte that it discards, if any, and its reads of undefined contents.
    pub(crate) fn run(&mut self, contents: &Contents, submit: Submit) -> (Option<u64>, Vec<Finding>) {
        let Some(entry) = contents.entry else {
            return (None, Vec::new());
        };
        let discards = (entry < self.live).then_some(entry);
        let event = Event {
            at: Some(contents.entered),
            object: None,
            submit: Some(submit),
            contents: 0,
        };
        self.history
            .lose(entry, self.heap, DiscardReason::LessBound, event);
        let reads = contents.reads.iter().filter_map(|read| {
            let fate = self.history.all_lost(read.first, read.end);
            let fate = fate.or_else(|| self.history.overwritten(read.first, read.end, read.contents))?;
            Some(finding(read, fate, Some(submit)))
        });
        let losses = contents.losses.iter().filter_map(|loss| {
            let lost = self.history.first_defined(loss.first, loss.end)?;
            Some(inheritance_missing(loss, lost, Some(submit)))
        });
        let findings = reads.chain(losses).collect();
        self.history.follow(&contents.history, Some(submit));
        self.live = contents.live;
        (discards, findings)
    }
}

fn inheritance_missing(loss: &Loss, lost: (u64, u64, Fate), submit: Option<Submit>) -> Finding {
    let Loss {
        secondary,
        first,
        end,
        at,
    } = *loss;
    let text = format!(
        "{secondary} runs inside a render pass with {first} B of tile memory inherited while its primary has {end} B bound: \
         its first action command discards [{first}, {end}), of which [{}, {}) has contents",
        lost.0, lost.1
    );
    Finding {
        cause: Some(lost.2.to_string()),
        submit,
        ..Finding::new(MessageId::InheritanceMissing, secondary, text).at(at)
    }
}

fn finding(read: &Read, fate: Fate, submit: Option<Submit>) -> Finding {
    let Read {
        object,
        first,
        end,
        at,
        ..
    } = *read;
    let text = format!("{object} is read at [{first}, {end}) of the tile heap, where nothing is defined");
    Finding {
        cause: Some(fate.to_string()),
        remedy: fate.remedy().map(Into::into),
        submit,
        ..Finding::new(MessageId::ReadsDiscarded, object, text).at(at)
    }
}
