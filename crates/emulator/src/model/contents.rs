//! Which bytes of tile memory have defined contents: what a command buffer discards, writes and reads.
//!
//! ```text
//! begin  bind A(8)  pass -> 0..8   bind B(4)  dispatch: reads 0..4      bind A  pass loads 4..8: dead
//!                   entry = 8                 discards 4..8
//! ```
//! What was in tile memory before a command buffer is known when it is submitted, so reads that nothing in it precedes are
//! kept and judged then.

use ash::vk;

use super::finding::{Finding, Object};
use super::ranges::Ranges;
use super::resources::{Place, Resource};
use crate::tables::messages::MessageId;

/// What running a command buffer does to tile memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Bytes bound at the first action command: what lies above is discarded there. `None` without action commands.
    pub(crate) entry: Option<u64>,
    /// Bytes that can be live after the last action command; nothing where there is none.
    pub(crate) live: u64,
    /// Bytes that are undefined at the end, whatever was there before.
    dead: Ranges,
    written: Ranges,
    /// Reads of what was there before.
    reads: Vec<Read>,
    /// Losses of what was there before.
    losses: Vec<Loss>,
    discards: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Read {
    object: Object,
    first: u64,
    end: u64,
}

/// Bytes that a secondary command buffer discards although its primary has them bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Loss {
    secondary: Object,
    first: u64,
    end: u64,
}

impl Contents {
    /// The next action command runs with `reserved` bytes bound: the range that it discards within this command buffer.
    pub(crate) fn act(&mut self, reserved: u64) -> Option<(u64, u64)> {
        let discarded = match self.entry {
            None => {
                self.entry = Some(reserved);
                None
            }
            Some(_) => (reserved < self.live).then_some((reserved, self.live)),
        };
        if let Some((first, end)) = discarded {
            self.discard(first, end);
        }
        self.live = reserved;
        discarded
    }

    /// `[first, end)` becomes undefined.
    pub(crate) fn discard(&mut self, first: u64, end: u64) {
        self.discards += 1;
        self.dead.add(first, end);
    }

    /// What was checked before has to be checked again.
    pub(crate) fn invalidate_checks(&mut self) {
        self.discards += 1;
    }

    /// How often bytes became undefined. While it stays the same, repeated accesses need no second check.
    pub(crate) fn discards(&self) -> u64 {
        self.discards
    }

    /// Notes a write.
    pub(crate) fn write(&mut self, place: &Place) {
        self.dead.remove(place.first, place.end);
        if !self.written.covers(place.first, place.end) {
            self.written.add(place.first, place.end);
        }
    }

    /// Notes a read: a finding, if its contents are known to be undefined.
    pub(crate) fn read(&mut self, resource: &Resource, place: &Place) -> Option<Finding> {
        let read = Read {
            object: resource.object,
            first: place.first,
            end: place.end,
        };
        self.read_of(read)
    }

    fn read_of(&mut self, read: Read) -> Option<Finding> {
        if self.dead.covers(read.first, read.end) {
            return Some(finding(&read));
        }
        let known =
            self.written.intersects(read.first, read.end) || self.dead.intersects(read.first, read.end);
        if !known && !self.reads.contains(&read) {
            self.reads.push(read);
        }
        None
    }

    /// A secondary command buffer inside a render pass discards `[first, end)`: a finding, if something is known to be there. What
    /// was there before this command buffer is judged when it is submitted.
    pub(crate) fn lose(&mut self, secondary: Object, first: u64, end: u64) -> Option<Finding> {
        let loss = Loss {
            secondary,
            first,
            end,
        };
        if let Some(lost) = defined(&self.written, &self.dead, first, end).first() {
            return Some(inheritance_missing(&loss, lost));
        }
        self.losses.push(loss);
        None
    }

    /// A secondary command buffer runs here.
    pub(crate) fn run(&mut self, secondary: &Contents) -> Vec<Finding> {
        let findings = secondary
            .reads
            .iter()
            .filter_map(|read| self.read_of(*read))
            .collect();
        for (first, end) in secondary.written.iter() {
            self.dead.remove(first, end);
            self.written.add(first, end);
        }
        for (first, end) in secondary.dead.iter() {
            self.discard(first, end);
        }
        findings
    }
}

/// Tile memory of a queue while command buffers of one window run.
pub(crate) struct Window {
    /// Bytes that can be live.
    pub(crate) live: u64,
    heap: u64,
    dead: Ranges,
}

impl Window {
    /// The beginning of a window: everything is undefined.
    pub(crate) fn new(heap: u64) -> Window {
        Window {
            live: 0,
            heap,
            dead: Ranges::of(0, heap),
        }
    }

    /// Runs a command buffer: the first live byte that it discards, if any, and its reads of undefined contents.
    pub(crate) fn run(&mut self, contents: &Contents) -> (Option<u64>, Vec<Finding>) {
        let Some(entry) = contents.entry else {
            return (None, Vec::new());
        };
        let discards = (entry < self.live).then_some(entry);
        self.dead.add(entry, self.heap);
        let undefined = contents
            .reads
            .iter()
            .filter(|read| self.dead.covers(read.first, read.end));
        let mut findings: Vec<_> = undefined.map(finding).collect();
        let everything = Ranges::of(0, self.heap);
        findings.extend(contents.losses.iter().filter_map(|loss| {
            let lost = defined(&everything, &self.dead, loss.first, loss.end).first()?;
            Some(inheritance_missing(loss, lost))
        }));
        for (first, end) in contents.written.iter() {
            self.dead.remove(first, end);
        }
        for (first, end) in contents.dead.iter() {
            self.dead.add(first, end);
        }
        self.live = contents.live;
        (discards, findings)
    }
}

/// The bytes of `[first, end)` that were written and are not dead.
fn defined(written: &Ranges, dead: &Ranges, first: u64, end: u64) -> Ranges {
    let mut defined = written.within(first, end);
    dead.iter().for_each(|(first, end)| defined.remove(first, end));
    defined
}

fn inheritance_missing(loss: &Loss, lost: (u64, u64)) -> Finding {
    Finding {
        id: MessageId::InheritanceMissing,
        object: loss.secondary,
        text: format!(
            "a secondary command buffer runs inside a render pass with {} B of tile memory inherited while the primary \
             has {} B bound: its first action command discards [{}, {}), of which [{}, {}) has contents; chain \
             VkTileMemoryBindInfoQCOM with the primary's object to its VkCommandBufferInheritanceInfo",
            loss.first, loss.end, loss.first, loss.end, lost.0, lost.1
        ),
    }
}

fn finding(read: &Read) -> Finding {
    let kind = if read.object.0 == vk::ObjectType::IMAGE {
        "image"
    } else {
        "buffer"
    };
    Finding {
        id: MessageId::ReadsDiscarded,
        object: read.object,
        text: format!(
            "tile {kind} 0x{:x} is read at [{}, {}) of the tile heap, where nothing is defined: it was not written in this \
             window, or discarded since by an action command with less or nothing bound, by an operation DONT_CARE, by a \
             transition from UNDEFINED, or by an alias",
            read.object.1, read.first, read.end
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(first: u64, end: u64) -> Place {
        Place {
            memory: 1,
            object_size: 100,
            first,
            end,
        }
    }

    fn read(contents: &mut Contents, first: u64, end: u64) -> bool {
        let read = Read {
            object: (vk::ObjectType::IMAGE, 7),
            first,
            end,
        };
        contents.read_of(read).is_some()
    }

    #[test]
    fn a_smaller_binding_discards_above_itself() {
        let mut contents = Contents::default();
        assert_eq!(contents.act(8), None);
        contents.write(&place(0, 8));
        assert!(!read(&mut contents, 4, 8));
        assert_eq!(contents.act(4), Some((4, 8)));
        assert_eq!(contents.act(8), None, "more is bound: nothing is lost");
        assert!(read(&mut contents, 4, 8) && !read(&mut contents, 0, 4));
        contents.write(&place(4, 8));
        assert!(!read(&mut contents, 4, 8));
        assert_eq!(contents.act(0), Some((0, 8)));
    }

    #[test]
    fn reads_of_what_was_there_are_judged_when_submitted() {
        let mut writer = Contents::default();
        writer.act(8);
        writer.write(&place(0, 8));
        let mut reader = Contents::default();
        reader.act(8);
        assert!(!read(&mut reader, 0, 8));
        let mut unbound = Contents::default();
        unbound.act(0);

        let mut window = Window::new(100);
        assert!(window.run(&writer).1.is_empty());
        assert_eq!(window.run(&reader).1.len(), 0);
        assert_eq!(window.run(&unbound).0, Some(0));
        assert_eq!(
            window.run(&reader).1.len(),
            1,
            "the unbound command buffer discarded it"
        );
        assert_eq!(Window::new(100).run(&reader).1.len(), 1, "another window");
    }

    /// A primary's loss by a secondary: at once, and when it is submitted behind `before`.
    fn lost(writes: bool, before: &Contents) -> (bool, usize) {
        let mut primary = Contents::default();
        primary.act(8);
        if writes {
            primary.write(&place(4, 6));
        }
        let at_once = primary.lose((vk::ObjectType::COMMAND_BUFFER, 1), 2, 8).is_some();
        let mut window = Window::new(100);
        window.run(before);
        (at_once, window.run(&primary).1.len())
    }

    #[test]
    fn nothing_is_lost_where_nothing_was_written() {
        let mut before = Contents::default();
        assert_eq!(lost(false, &before), (false, 0));
        before.act(8);
        before.write(&place(0, 2));
        assert_eq!(lost(false, &before), (false, 0), "below what is discarded");
        before.write(&place(0, 4));
        assert_eq!(lost(false, &before), (false, 1), "by the command buffer before");
        assert_eq!(lost(true, &Contents::default()), (true, 0));
        before.discard(0, 8);
        assert_eq!(lost(false, &before), (false, 0), "discarded before it was lost");
    }

    #[test]
    fn a_smaller_entry_discards_above_itself() {
        let mut large = Contents::default();
        large.act(8);
        let mut small = Contents::default();
        small.act(4);
        let mut window = Window::new(100);
        assert_eq!(window.run(&large).0, None);
        assert_eq!(window.run(&small).0, Some(4));
        assert_eq!(window.live, 4);
        assert_eq!(window.run(&large).0, None);
        assert_eq!(
            window.run(&Contents::default()).0,
            None,
            "no action command, no discard"
        );
    }

    #[test]
    fn secondaries_read_and_write_in_place() {
        let mut secondary = Contents::default();
        secondary.act(8);
        assert!(!read(&mut secondary, 0, 4));
        secondary.write(&place(4, 8));
        let mut primary = Contents::default();
        primary.act(8);
        primary.discard(0, 8);
        assert_eq!(primary.run(&secondary).len(), 1);
        assert!(!read(&mut primary, 4, 8));
    }
}
