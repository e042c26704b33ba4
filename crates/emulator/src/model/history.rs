//! The history of each byte of tile memory: its last write, and why its contents became undefined since.

use std::fmt;

use super::objects::Object;
use super::position::{Position, Submit};

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $text:literal, $remedy:literal;)+) => {
        /// Why bytes became undefined.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum DiscardReason {
            $($(#[$doc])* $reason,)+
        }

        impl DiscardReason {
            /// The command or event.
            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $(DiscardReason::$reason => $text,)+
                }
            }

            /// The remedy that keeps the contents.
            pub(crate) const fn remedy(self) -> &'static str {
                match self {
                    $(DiscardReason::$reason => $remedy,)+
                }
            }
        }
    };
}

reasons! {
    /// Never written.
    NeverWritten = "nothing", "write or clear it before it is read";
    /// `vkCmdBindTileMemoryQCOM` did not cover them.
    LessBound = "an action command with less bound",
        "bind an object that covers it for every action command from the write to the read, also in each further command buffer";
    /// Where a render pass begins.
    Load = "a load operation DONT_CARE or an initial layout UNDEFINED",
        "load the attachment with LOAD, from the layout that it has, or use the contents before the render pass";
    /// Where a render pass ends.
    Store = "a store operation DONT_CARE", "store the attachment with STORE";
    /// A barrier.
    Transition = "a transition from UNDEFINED", "give the barrier the layout that the image has as oldLayout";
    /// Inside a render pass.
    Inheritance = "a secondary command buffer without the primary's tile memory",
        "chain VkTileMemoryBindInfoQCOM with the primary's object to the secondary's VkCommandBufferInheritanceInfo";
    /// Outside of one.
    Secondary = "a secondary command buffer with less bound",
        "bind the object in the secondary command buffer, too: outside render passes it inherits nothing";
    /// Without `queueSubmitBoundary`.
    BatchEnd = "the end of the batch",
        "write and read it in the same batch, or keep it in ordinary memory: this device has no queueSubmitBoundary";
    /// By a resource that interprets them otherwise.
    Overwritten = "a write to another resource in the same bytes", "give what lives at the same time bytes of its own";
    /// With `queueSubmitBoundary`.
    SubmitEnd = "the end of the submit", "write and read it in the same submit call, or keep it in ordinary memory";
}

/// Bytes `[first, end)` that become undefined, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Discard {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) reason: DiscardReason,
}

/// An event: a command, or the end of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// `None` at the end of a batch.
    pub(crate) at: Option<Position>,
    /// The resource.
    pub(crate) object: Option<Object>,
    /// `None` in a command buffer that was not submitted yet.
    pub(crate) submit: Option<Submit>,
    /// What is written: as [`super::resources::Place::contents`].
    pub(crate) contents: u64,
}

impl Event {
    /// An event of a command, on one resource if there is an object.
    pub(crate) fn of(at: Position, object: Option<Object>) -> Event {
        Event {
            at: Some(at),
            object,
            submit: None,
            contents: 0,
        }
    }

    fn submitted(self, submit: Submit) -> Event {
        let submit = self.submit.or(Some(submit));
        Event { submit, ..self }
    }
}

/// The history of some bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    /// The last write.
    written: Option<Event>,
    /// Why and where the contents were lost since.
    lost: Option<(DiscardReason, Event)>,
}

impl Fate {
    /// Applies a later history to this one.
    fn followed_by(self, later: Fate) -> Fate {
        match later.written {
            Some(_) => later,
            None => Fate {
                written: self.written,
                lost: self.lost.or(later.lost),
            },
        }
    }

    fn submitted(self, submit: Submit) -> Fate {
        Fate {
            written: self.written.map(|event| event.submitted(submit)),
            lost: self.lost.map(|(reason, event)| (reason, event.submitted(submit))),
        }
    }

    /// The remedy that would have kept the contents.
    pub(crate) fn remedy(self) -> Option<&'static str> {
        self.lost.map(|(reason, _)| reason.remedy())
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |event: Event| {
            event
                .object
                .map(|object| format!(" of {object}"))
                .unwrap_or_default()
        };
        let submit = |event: Event| {
            event
                .submit
                .map(|submit| format!(", in {submit}"))
                .unwrap_or_default()
        };
        match self.written {
            Some(event) => {
                let at = event.at.map(|at| format!(" by {at}")).unwrap_or_default();
                write!(f, "last write{}{at}{}", of(event), submit(event))?;
            }
            None if matches!(self.lost, Some((DiscardReason::Overwritten, _))) => {}
            None if self
                .lost
                .is_some_and(|(_, event)| event.submit.is_none() && event.at.is_some()) =>
            {
                write!(f, "no write before it in the command buffer")?;
            }
            None => write!(f, "no write before")?,
        }
        match self.lost {
            None | Some((DiscardReason::NeverWritten, _)) => Ok(()),
            Some((reason, event)) => {
                let at = event.at.map(|at| format!(": {at}")).unwrap_or_default();
                let separator = match reason {
                    DiscardReason::Overwritten => "",
                    _ => "; ",
                };
                write!(
                    f,
                    "{separator}contents lost by {}{}{at}{}",
                    reason.text(),
                    of(event),
                    submit(event)
                )
            }
        }
    }
}

/// The history of every byte: sorted, disjoint ranges `[first, end)`. Bytes in no range have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History(Vec<(u64, u64, Fate)>);

impl History {
    /// The history of a new heap.
    pub(crate) fn of_heap(size: u64) -> History {
        let mut history = History::default();
        history.lose(0, size, DiscardReason::NeverWritten, Event::default());
        history
    }

    /// Changes the history of `[first, end)`.
    fn change(&mut self, first: u64, end: u64, change: impl Fn(Fate) -> Fate) {
        if first >= end {
            return;
        }
        // Most accesses are to the same bytes as one before.
        if let Some(same) = self.0.iter_mut().find(|range| range.0 == first && range.1 == end) {
            same.2 = change(same.2);
            return;
        }
        let mut changed = Vec::with_capacity(self.0.len() + 2);
        let mut untouched = first;
        for &(from, to, fate) in &self.0 {
            let (inner, outer) = (from.max(first), to.min(end));
            if inner < outer {
                changed.push((untouched, inner, change(Fate::default())));
                changed.push((inner, outer, change(fate)));
                untouched = outer;
            }
            changed.push((from, to.min(first), fate));
            changed.push((from.max(end), to, fate));
        }
        changed.push((untouched, end, change(Fate::default())));
        changed.retain(|range| range.0 < range.1);
        changed.sort_unstable_by_key(|range| range.0);
        changed.dedup_by(|later, before| {
            let is_one = before.1 == later.0 && before.2 == later.2;
            if is_one {
                before.1 = later.1;
            }
            is_one
        });
        self.0 = changed;
    }

    /// `[first, end)` is written.
    pub(crate) fn write(&mut self, first: u64, end: u64, event: Event) {
        let written = Some(event);
        self.change(first, end, |_| Fate { written, lost: None });
    }

    /// `[first, end)` becomes undefined.
    pub(crate) fn lose(&mut self, first: u64, end: u64, reason: DiscardReason, event: Event) {
        let lost = Some((reason, event));
        self.change(first, end, |fate| fate.followed_by(Fate { written: None, lost }));
    }

    /// Applies the history of a command buffer, in a batch if it is submitted.
    pub(crate) fn follow(&mut self, later: &History, submit: Option<Submit>) {
        for &(first, end, fate) in &later.0 {
            let fate = submit.map_or(fate, |submit| fate.submitted(submit));
            self.change(first, end, |before| before.followed_by(fate));
        }
    }

    fn within(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, u64, Fate)> {
        let parts = self
            .0
            .iter()
            .map(move |range| (range.0.max(first), range.1.min(end), range.2));
        parts.filter(|range| range.0 < range.1)
    }

    /// The history of most of the bytes of `[first, end)`, if all of them are undefined.
    pub(crate) fn all_lost(&self, first: u64, end: u64) -> Option<Fate> {
        let lost = self.within(first, end).filter(|range| range.2.lost.is_some());
        let bytes: u64 = lost.map(|range| range.1 - range.0).sum();
        let largest = self.within(first, end).max_by_key(|range| range.1 - range.0);
        largest.filter(|_| bytes == end - first).map(|range| range.2)
    }

    /// The history of most of `[first, end)` that a resource with other contents has written, if any of it is.
    pub(crate) fn overwritten(&self, first: u64, end: u64, contents: u64) -> Option<Fate> {
        let other = |fate: Fate| {
            fate.written
                .filter(|event| event.contents != contents && fate.lost.is_none())
        };
        let parts = self.within(first, end).filter(|range| other(range.2).is_some());
        let largest = parts.max_by_key(|range| range.1 - range.0)?;
        let lost = other(largest.2).map(|event| (DiscardReason::Overwritten, event));
        Some(Fate { written: None, lost })
    }

    /// Whether any of `[first, end)` has a history.
    pub(crate) fn touches(&self, first: u64, end: u64) -> bool {
        self.within(first, end).next().is_some()
    }

    /// The first bytes of `[first, end)` that were written and not discarded since, and their last write.
    pub(crate) fn first_defined(&self, first: u64, end: u64) -> Option<(u64, u64, Fate)> {
        self.within(first, end).find(|range| range.2.lost.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(actions: u32) -> Event {
        let mut at = Position::default();
        at.actions = actions;
        Event::of(at, None)
    }

    /// Writes and losses in random ranges, beside an array of bytes; and the same in two halves, the second on top of the first.
    #[test]
    fn it_agrees_with_a_history_of_each_byte() {
        let mut naive = [Fate::default(); 64];
        let (mut whole, mut half, mut halves) = (History::default(), History::default(), History::default());
        let mut seed = 1u64;
        for step in 0..4000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (a, b, write) = (seed >> 33 & 63, seed >> 40 & 63, seed >> 50 & 1 == 0);
            let event = event(step);
            for history in [&mut whole, &mut half] {
                if write {
                    history.write(a, b, event);
                } else {
                    history.lose(a, b, DiscardReason::Store, event);
                }
            }
            if seed >> 52 & 7 == 0 {
                halves.follow(&std::mem::take(&mut half), None);
                assert_eq!(halves, whole);
            }
            for fate in &mut naive[a.min(b) as usize..b as usize] {
                if write {
                    (fate.written, fate.lost) = (Some(event), None);
                } else {
                    fate.lost = fate.lost.or(Some((DiscardReason::Store, event)));
                }
            }
            let (c, d) = (seed >> 20 & 31, 32 + (seed >> 26 & 31));
            let bytes = &naive[c as usize..d as usize];
            let all = bytes.iter().all(|fate| fate.lost.is_some());
            assert_eq!(whole.all_lost(c, d).is_some(), all);
            let any = bytes.iter().any(|fate| *fate != Fate::default());
            assert_eq!(whole.touches(c, d), any);
            let defined = bytes
                .iter()
                .position(|fate| fate.written.is_some() && fate.lost.is_none());
            let first = whole.first_defined(c, d).map(|(first, _, fate)| (first, fate));
            let expected = defined.map(|index| (c + index as u64, bytes[index]));
            assert_eq!(first, expected);
            let sorted = whole.0.windows(2).all(|pair| pair[0].1 <= pair[1].0);
            assert!(sorted, "{whole:?}");
        }
    }
}
