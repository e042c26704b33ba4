//! Hazard tracking while a network is recorded: barriers, image layouts, aliasing.
//!
//! ```text
//! a ████▒▒▒▒          write, read
//! b     ····████      aliases a: its first write waits for the last read of a, and its image transitions from UNDEFINED
//! ```
//! A barrier covers all earlier accesses: each begins a new epoch, and only accesses of the current epoch can be hazards. Contents are
//! tracked too: reading overwritten bytes is an error, regardless of the plan.

use std::ops::Range;

use ash::vk;

/// An image or a range of a buffer.
#[derive(Clone, Debug)]
struct Object {
    bytes: (Space, Range<u64>),
    /// The current layout of an image; `None` for buffers.
    layout: Option<vk::ImageLayout>,
    is_defined: bool,
    read: Option<u64>,
    written: Option<u64>,
}

/// An address space: ranges in different ones never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Space {
    /// A planned memory, by index.
    Memory(u32),
    /// A caller's buffer, by handle.
    External(u64),
    /// An object that shares its bytes with no other object.
    Own(u32),
}

/// An object of a [`Tracker`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ObjectId(u32);

/// An access that is about to be recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectAccess {
    pub(super) object: ObjectId,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// The layout that an image must be in.
    pub(super) layout: vk::ImageLayout,
}

/// The barrier that must precede a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequiredBarrier {
    /// True if a global memory barrier is needed.
    pub(super) needs_barrier: bool,
    /// Images with their old and new layouts.
    pub(super) transitions: Vec<(ObjectId, vk::ImageLayout, vk::ImageLayout)>,
}

/// Tracks the accesses and contents of objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracker {
    objects: Vec<Object>,
    epoch: u64,
}

impl Tracker {
    /// Adds an object. `layout` is `None` for buffers. `is_defined` is true if the object already has contents; a buffer also has contents if it
    /// overlaps a buffer that does.
    pub(super) fn add(
        &mut self,
        space: Space,
        bytes: Range<u64>,
        layout: Option<vk::ImageLayout>,
        is_defined: bool,
    ) -> ObjectId {
        let mut object = Object {
            bytes: (space, bytes),
            layout,
            is_defined,
            read: None,
            written: None,
        };
        // Overlapping buffers share their contents.
        let shared = |other: &Object| other.layout.is_none() && other.is_defined && overlap(&object, other);
        object.is_defined |= layout.is_none() && self.objects.iter().any(shared);
        self.objects.push(object);
        ObjectId(self.objects.len() as u32 - 1)
    }

    /// Discards an object's contents: reads are errors until it is written.
    pub(super) fn discard(&mut self, object: ObjectId) {
        self.objects[object.0 as usize].is_defined = false;
    }

    /// Marks an object's contents as defined by the caller.
    pub(super) fn define(&mut self, object: ObjectId) {
        self.objects[object.0 as usize].is_defined = true;
    }

    /// Records the accesses of one command; returns the barrier that must precede it.
    ///
    /// # Errors
    /// The index of an access that reads undefined contents.
    pub(super) fn access(&mut self, accesses: &[ObjectAccess]) -> Result<RequiredBarrier, usize> {
        let mut required = RequiredBarrier::default();
        for (index, access) in accesses.iter().enumerate() {
            let object = &self.objects[access.object.0 as usize];
            // The same command may overwrite it through another object.
            let overwritten = access.reads
                && accesses.iter().any(|other| {
                    other.writes
                        && other.object != access.object
                        && overlap(object, &self.objects[other.object.0 as usize])
                });
            if access.reads && !object.is_defined || overwritten {
                return Err(index);
            }
            let now = Some(self.epoch);
            required.needs_barrier |= object.written == now || access.writes && object.read == now;
            // Aliased bytes, or contents that overlapping buffers share.
            required.needs_barrier |= (access.writes || access.reads)
                && self
                    .overlapping(access.object)
                    .any(|other| other.written == now || access.writes && other.read == now);
            let known = object.layout.filter(|layout| *layout != access.layout);
            if let Some(layout) = known {
                // Contents that are not read need not be preserved.
                let old = if access.reads {
                    layout
                } else {
                    vk::ImageLayout::UNDEFINED
                };
                let mut others = required.transitions.iter();
                if others.all(|(other, ..)| *other != access.object) {
                    required.transitions.push((access.object, old, access.layout));
                }
            } else if object.layout.is_some() && access.writes && !object.is_defined {
                let general = (access.object, vk::ImageLayout::UNDEFINED, access.layout);
                required.transitions.push(general);
            }
        }
        required.needs_barrier |= !required.transitions.is_empty();
        self.epoch += u64::from(required.needs_barrier);
        for access in accesses {
            self.apply(access);
        }
        Ok(required)
    }

    fn apply(&mut self, access: &ObjectAccess) {
        let epoch = Some(self.epoch);
        if access.writes {
            let writer = self.objects[access.object.0 as usize].clone();
            for (index, other) in self.objects.iter_mut().enumerate() {
                let shares = index != access.object.0 as usize && overlap(&writer, other);
                // Overlapping buffers share contents; images share theirs with no other object.
                if shares {
                    other.is_defined = writer.layout.is_none() && other.layout.is_none();
                }
            }
        }
        let object = &mut self.objects[access.object.0 as usize];
        if access.reads {
            object.read = epoch;
        }
        if access.writes {
            object.written = epoch;
            object.is_defined = true;
        }
        if object.layout.is_some() {
            object.layout = Some(access.layout);
        }
    }

    fn overlapping(&self, object: ObjectId) -> impl Iterator<Item = &Object> {
        let me = &self.objects[object.0 as usize];
        let others = self.objects.iter();
        others.filter(move |&other| !std::ptr::eq(me, other) && overlap(me, other))
    }
}

fn overlap(a: &Object, b: &Object) -> bool {
    a.bytes.0 == b.bytes.0 && a.bytes.1.start < b.bytes.1.end && b.bytes.1.start < a.bytes.1.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::ImageLayout as L;

    fn access(object: ObjectId, writes: bool) -> ObjectAccess {
        ObjectAccess {
            object,
            reads: !writes,
            writes,
            layout: if writes {
                L::GENERAL
            } else {
                L::SHADER_READ_ONLY_OPTIMAL
            },
        }
    }

    fn write(object: ObjectId) -> ObjectAccess {
        access(object, true)
    }

    fn read(object: ObjectId) -> ObjectAccess {
        access(object, false)
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
        tracker.access(&[write(a)]).unwrap();
        let read_a = tracker.access(&[read(a), write(c)]).unwrap().transitions;
        assert_eq!(read_a[0], (a, L::GENERAL, L::SHADER_READ_ONLY_OPTIMAL));
        let take = tracker.access(&[read(c), write(b)]).unwrap();
        assert!(take.needs_barrier);
        assert!(take.transitions.contains(&(b, L::UNDEFINED, L::GENERAL)));
        // The bytes of `a` were overwritten.
        assert_eq!(tracker.access(&[write(c), read(a)]), Err(1));
        // A command may not read `b` and overwrite it through `a`.
        assert_eq!(tracker.access(&[read(b), write(a)]), Err(0));
        // `a` transitions from UNDEFINED again, although its layout is known.
        let again = tracker.access(&[write(a)]);
        assert_eq!(again.unwrap().transitions, [(a, L::UNDEFINED, L::GENERAL)]);
    }

    #[test]
    fn buffers_need_barriers_only_for_hazards() {
        let mut tracker = Tracker::default();
        let [a, b, c] = [0..100, 100..200, 200..300].map(|bytes| buffer(&mut tracker, bytes));
        assert!(!tracker.access(&[write(a)]).unwrap().needs_barrier);
        assert!(!tracker.access(&[write(b)]).unwrap().needs_barrier);
        assert!(
            tracker
                .access(&[read(a), read(b), write(c)])
                .unwrap()
                .needs_barrier
        );
        // Reads made visible by the same barrier need no other one.
        assert!(!tracker.access(&[read(a)]).unwrap().needs_barrier);
        // Write after read.
        assert!(tracker.access(&[read(b), write(a)]).unwrap().needs_barrier);
    }

    #[test]
    fn contents_are_shared_by_overlapping_buffers_and_taken_by_images() {
        let mut tracker = Tracker::default();
        let a = buffer(&mut tracker, 0..100);
        assert_eq!(tracker.access(&[read(a)]), Err(0), "never written");
        tracker.access(&[write(a)]).unwrap();
        let part = buffer(&mut tracker, 20..40);
        assert!(tracker.access(&[read(part)]).unwrap().needs_barrier);
        let over = image(&mut tracker, 0..100);
        assert!(tracker.access(&[write(over)]).unwrap().needs_barrier);
        assert_eq!(tracker.access(&[read(a)]), Err(0), "taken");
    }

    #[test]
    fn a_command_cannot_write_over_what_it_reads_but_in_its_own_place() {
        let mut tracker = Tracker::default();
        let (a, b) = (buffer(&mut tracker, 0..100), buffer(&mut tracker, 50..150));
        tracker.access(&[write(a)]).unwrap();
        assert_eq!(tracker.access(&[read(a), write(b)]), Err(0));
        assert!(tracker.access(&[read(a), write(a)]).is_ok());
    }
}
