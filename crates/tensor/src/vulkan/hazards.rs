//! Barriers of a network, found as it is recorded: hazards, image layouts, and bytes that change hands.
//!
//! ```text
//! a ████▒▒▒▒          write, read
//! b     ····████      bytes of a: its first write waits for the last read of a, and its image comes from UNDEFINED
//! ```
//! One barrier serves all that came before it: accesses are numbered by epochs, each barrier begins a new one, and only
//! what happened in the present epoch can still be a hazard. Contents are followed too: to read what other bytes took the
//! place of is an error, whatever the plan says.

use std::ops::Range;

use ash::vk;

/// Something whose accesses have to be ordered.
#[derive(Clone, Debug)]
struct Object {
    bytes: (Space, Range<u64>),
    /// Of an image, its layout now.
    layout: Option<vk::ImageLayout>,
    holds_contents: bool,
    read: Option<u64>,
    written: Option<u64>,
}

/// An address space: bytes of different ones are never the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Space {
    /// A planned memory.
    Memory(u32),
    /// A buffer of the caller's.
    Given(u64),
    /// Something that shares its bytes with nothing.
    Own(u32),
}

/// An object of a [`Tracker`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ObjectId(u32);

/// An access that is about to be recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) object: ObjectId,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// The layout that an image has to be in.
    pub(super) layout: vk::ImageLayout,
}

/// What has to be recorded before some accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needed {
    /// A barrier for all memory.
    pub(super) barrier: bool,
    /// Images with their old and new layouts.
    pub(super) transitions: Vec<(ObjectId, vk::ImageLayout, vk::ImageLayout)>,
}

/// Follows every object's accesses and contents.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracker {
    objects: Vec<Object>,
    epoch: u64,
}

impl Tracker {
    /// An object over some bytes; `layout` of an image, with whether it holds contents already.
    pub(super) fn add(
        &mut self,
        space: Space,
        bytes: Range<u64>,
        layout: Option<vk::ImageLayout>,
        holds_contents: bool,
    ) -> ObjectId {
        let mut object = Object {
            bytes: (space, bytes),
            layout,
            holds_contents,
            read: None,
            written: None,
        };
        // A buffer has the contents of those it is a part of, or that are a part of it.
        let shared =
            |other: &Object| other.layout.is_none() && other.holds_contents && overlap(&object, other);
        object.holds_contents |= layout.is_none() && self.objects.iter().any(shared);
        self.objects.push(object);
        ObjectId(self.objects.len() as u32 - 1)
    }

    /// An object's contents are given up: nothing may read them any more.
    pub(super) fn forget(&mut self, object: ObjectId) {
        self.objects[object.0 as usize].holds_contents = false;
    }

    /// An object was filled by others.
    pub(super) fn filled(&mut self, object: ObjectId) {
        self.objects[object.0 as usize].holds_contents = true;
    }

    /// What the accesses of one command need before it; they count as made afterwards.
    ///
    /// # Errors
    /// The place among `touches` of one that reads what is not there.
    pub(super) fn touch(&mut self, touches: &[Touch]) -> Result<Needed, usize> {
        let mut needed = Needed::default();
        for (index, touch) in touches.iter().enumerate() {
            let object = &self.objects[touch.object.0 as usize];
            // Also what the same command writes over, but for an object in its own place.
            let overwritten = touch.reads
                && touches.iter().any(|other| {
                    other.writes
                        && other.object != touch.object
                        && overlap(object, &self.objects[other.object.0 as usize])
                });
            if touch.reads && !object.holds_contents || overwritten {
                return Err(index);
            }
            let now = Some(self.epoch);
            needed.barrier |= object.written == now || touch.writes && object.read == now;
            // Bytes that this object takes over, or contents that it shares as a part of a buffer.
            needed.barrier |= (touch.writes || touch.reads)
                && self
                    .overlapping(touch.object)
                    .any(|other| other.written == now || touch.writes && other.read == now);
            let known = object.layout.filter(|layout| *layout != touch.layout);
            if let Some(layout) = known {
                // What held no contents, or gives them up, comes from nothing.
                let old = if touch.reads {
                    layout
                } else {
                    vk::ImageLayout::UNDEFINED
                };
                if !needed
                    .transitions
                    .iter()
                    .any(|(other, ..)| *other == touch.object)
                {
                    needed.transitions.push((touch.object, old, touch.layout));
                }
            } else if object.layout.is_some() && touch.writes && !object.holds_contents {
                let general = (touch.object, vk::ImageLayout::UNDEFINED, touch.layout);
                needed.transitions.push(general);
            }
        }
        needed.barrier |= !needed.transitions.is_empty();
        self.epoch += u64::from(needed.barrier);
        for touch in touches {
            self.apply(touch);
        }
        Ok(needed)
    }

    fn apply(&mut self, touch: &Touch) {
        let epoch = Some(self.epoch);
        if touch.writes {
            let taken = self.objects[touch.object.0 as usize].clone();
            for (index, other) in self.objects.iter_mut().enumerate() {
                let shares = index != touch.object.0 as usize && overlap(&taken, other);
                // Buffers are parts of one another's contents; an image's bytes mean nothing to others.
                if shares && (taken.layout.is_some() || other.layout.is_some()) {
                    other.holds_contents = false;
                } else if shares {
                    other.holds_contents = true;
                }
            }
        }
        let object = &mut self.objects[touch.object.0 as usize];
        if touch.reads {
            object.read = epoch;
        }
        if touch.writes {
            object.written = epoch;
            object.holds_contents = true;
        }
        if object.layout.is_some() {
            object.layout = Some(touch.layout);
        }
    }

    fn overlapping(&self, object: ObjectId) -> impl Iterator<Item = &Object> {
        let me = &self.objects[object.0 as usize];
        let others = self.objects.iter().enumerate();
        others
            .filter(move |(index, other)| *index != object.0 as usize && overlap(me, other))
            .map(|(_, other)| other)
    }
}

fn overlap(a: &Object, b: &Object) -> bool {
    a.bytes.0 == b.bytes.0 && a.bytes.1.start < b.bytes.1.end && b.bytes.1.start < a.bytes.1.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::ImageLayout as L;

    fn write(object: ObjectId) -> Touch {
        Touch {
            object,
            reads: false,
            writes: true,
            layout: L::GENERAL,
        }
    }

    fn read(object: ObjectId) -> Touch {
        Touch {
            object,
            reads: true,
            writes: false,
            layout: L::SHADER_READ_ONLY_OPTIMAL,
        }
    }

    fn image(tracker: &mut Tracker, bytes: Range<u64>) -> ObjectId {
        tracker.add(Space::Memory(0), bytes, Some(L::UNDEFINED), false)
    }

    fn buffer(tracker: &mut Tracker, bytes: Range<u64>) -> ObjectId {
        tracker.add(Space::Memory(0), bytes, None, false)
    }

    #[test]
    fn an_alias_waits_for_the_last_read_and_comes_from_undefined() {
        let mut tracker = Tracker::default();
        let (a, b) = (image(&mut tracker, 0..100), image(&mut tracker, 50..150));
        let c = image(&mut tracker, 200..300);
        tracker.touch(&[write(a)]).unwrap();
        let read_a = tracker.touch(&[read(a), write(c)]).unwrap();
        assert_eq!(
            read_a.transitions[0],
            (a, L::GENERAL, L::SHADER_READ_ONLY_OPTIMAL)
        );
        let take = tracker.touch(&[read(c), write(b)]).unwrap();
        assert!(take.barrier);
        assert!(take.transitions.contains(&(b, L::UNDEFINED, L::GENERAL)));
        // The bytes of `a` are gone.
        assert_eq!(tracker.touch(&[write(c), read(a)]), Err(1));
        // Nor can one command read `b` and write over it.
        assert_eq!(tracker.touch(&[read(b), write(a)]), Err(0));
        // `a` comes from UNDEFINED again, although its layout is known.
        let again = tracker.touch(&[write(a)]);
        assert_eq!(again.unwrap().transitions, [(a, L::UNDEFINED, L::GENERAL)]);
    }

    #[test]
    fn buffers_need_barriers_only_for_hazards() {
        let mut tracker = Tracker::default();
        let (a, b, c) = (
            buffer(&mut tracker, 0..100),
            buffer(&mut tracker, 100..200),
            buffer(&mut tracker, 200..300),
        );
        assert!(!tracker.touch(&[write(a)]).unwrap().barrier);
        assert!(!tracker.touch(&[write(b)]).unwrap().barrier);
        assert!(tracker.touch(&[read(a), read(b), write(c)]).unwrap().barrier);
        // Reads of what the same barrier made visible.
        assert!(!tracker.touch(&[read(a)]).unwrap().barrier);
        // Write after read.
        assert!(tracker.touch(&[read(b), write(a)]).unwrap().barrier);
    }

    #[test]
    fn an_image_over_a_buffer_takes_its_contents_and_waits() {
        let mut tracker = Tracker::default();
        let (a, b) = (buffer(&mut tracker, 0..100), image(&mut tracker, 0..100));
        tracker.touch(&[write(a)]).unwrap();
        assert!(tracker.touch(&[write(b)]).unwrap().barrier);
        assert_eq!(tracker.touch(&[read(a)]), Err(0));
    }

    #[test]
    fn a_part_of_a_buffer_has_its_contents() {
        let mut tracker = Tracker::default();
        let a = buffer(&mut tracker, 0..100);
        tracker.touch(&[write(a)]).unwrap();
        let part = buffer(&mut tracker, 20..40);
        assert!(tracker.touch(&[read(part)]).unwrap().barrier);
    }

    #[test]
    fn a_command_cannot_write_over_what_it_reads_but_in_its_own_place() {
        let mut tracker = Tracker::default();
        let (a, b) = (buffer(&mut tracker, 0..100), buffer(&mut tracker, 50..150));
        tracker.touch(&[write(a)]).unwrap();
        assert_eq!(tracker.touch(&[read(a), write(b)]), Err(0));
        assert!(tracker.touch(&[read(a), write(a)]).is_ok());
    }

    #[test]
    fn what_was_never_written_cannot_be_read() {
        let mut tracker = Tracker::default();
        let a = buffer(&mut tracker, 0..100);
        assert_eq!(tracker.touch(&[read(a)]), Err(0));
    }
}
