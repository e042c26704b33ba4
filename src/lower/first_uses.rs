//! Dependencies of the first uses of bytes: earlier users of the bytes, in this frame or in earlier work, must have finished.

use ash::vk::AccessFlags2 as A;
use bumpalo::Bump;
use bumpalo::collections::Vec;
use tileheap_units::CompactSort;

use super::chains::Epoch;
use super::resolver::{Barrier, Resolver, Source, Wait, WaitFor};
use super::sources::{HeldBytes, Holder, Holders};
use super::state::{AddressSpace, AddressSpaceKind, ByteUse, LastUse};
use super::tables::commands::BarrierCause;
use crate::plan::{MemoryKind, Placement};
use crate::units::Bytes;

/// The bytes of a placement, and the step from which it uses them.
#[derive(Clone, Copy)]
struct PlacedBytes {
    /// The first step of the placement.
    step: u32,
    offset: Bytes,
    placement: u32,
    space: AddressSpace,
}

/// Sorts elements by `number`, which must be below `count`, in linear time; elements with equal numbers keep their order.
fn by_number<'a>(
    all: &[u32],
    count: usize,
    number: impl Fn(u32) -> usize,
    scratch: &'a Bump,
) -> Vec<'a, u32> {
    // Per number, the position of its next element.
    let mut next = bumpalo::vec![in scratch; 0; count + 1];
    for &one in all {
        next[number(one) + 1] += 1;
    }
    for index in 0..count {
        next[index + 1] += next[index];
    }
    let mut sorted = bumpalo::vec![in scratch; 0; all.len()];
    for &one in all {
        let place = &mut next[number(one)];
        sorted[*place] = one;
        *place += 1;
    }
    sorted
}

impl Resolver<'_> {
    /// Adds the barriers before the first uses of bytes: walks every address space from the state that earlier work left to the state that the frame leaves.
    pub(super) fn first_uses(&mut self) {
        let (placed, before) = (self.placed, self.before);
        let scratch = placed.scratch;
        let entries = (0..).zip(&before.bytes);
        let entries = entries.map(|(index, one)| (one.space, one.first.0, one.end, index));
        // By space; then earlier uses by address, and the frame's placements by time.
        let mut used: Vec<'_, (AddressSpace, u64, Bytes, u32)> = Vec::from_iter_in(entries, scratch);
        let mut taken: Vec<'_, PlacedBytes> = Vec::with_capacity_in(placed.plan.placements.len(), scratch);
        for (index, placement) in (0..).zip(&placed.plan.placements) {
            // Aliases of one resident share the same bytes.
            let first = || placed.placements_of(placement.resource).first == index;
            if placement.memory != MemoryKind::Tile || first() {
                let bytes = placed.bytes_of(index);
                taken.extend(self.space_of(bytes).map(|space| PlacedBytes {
                    step: bytes.span.first.0,
                    offset: bytes.offset,
                    placement: index,
                    space,
                }));
            }
        }
        // No two are equal, and sorting allocates nothing.
        used.sort_unstable();
        let queues = placed.queues.len();
        let number = |space: AddressSpace| match space.kind {
            AddressSpaceKind::Tile => space.index as usize,
            AddressSpaceKind::Memory => queues + space.index as usize,
        };
        let one = |index: u32| &taken[index as usize];
        let all = Vec::from_iter_in(0..taken.len() as u32, scratch);
        let passes = placed.plan.frame.passes().len();
        let by_step = by_number(&all, passes, |index| one(index).step as usize, scratch);
        let spaces = queues + placed.plan.objects.len();
        let mut order = by_number(&by_step, spaces, |index| number(one(index).space), scratch);
        let when = |index: u32| (one(index).space, one(index).step);
        for at_once in order.chunk_by_mut(|&a, &b| when(a) == when(b)) {
            at_once.compact_sort_by_key(|&index| (one(index).offset, one(index).placement));
        }
        self.after.bytes.reserve(taken.len() + used.len());
        let (mut used, mut order) = (used.as_slice(), order.as_slice());
        let mut holders = Holders::new(scratch);
        let (mut earlier, mut last) = (Vec::new_in(scratch), Vec::new_in(scratch));
        loop {
            let next = order.first().map(|&index| one(index).space);
            let spaces = [used.first().map(|one| one.0), next];
            let Some(space) = spaces.into_iter().flatten().min() else {
                break;
            };
            let (here, rest) = used.split_at(used.partition_point(|one| one.0 == space));
            used = rest;
            holders.begin(&before.bytes, here.iter().map(|one| one.3));
            let (here, rest) = order.split_at(order.partition_point(|&index| one(index).space == space));
            order = rest;
            for index in here.iter().map(|&index| one(index).placement) {
                let placement = self.placed.bytes_of(index);
                earlier.clear();
                holders.take(index, placement.offset, placement.size, |holder| {
                    if !earlier.contains(&holder) {
                        earlier.push(holder);
                    }
                });
                let chains = self.chains.of_placement[index as usize];
                if chains
                    .of(&self.chains.chains)
                    .iter()
                    .any(|chain| chain.epochs.is_empty())
                {
                    // Some of its bytes are still in the state that earlier work left.
                    self.untouched
                        .extend(earlier.iter().map(|&holder| (index, holder)));
                }
                for chain in chains.indices() {
                    self.first_use(chain, &earlier);
                }
            }
            self.untouched.compact_sort_by_key(|(placement, _)| *placement);
            self.leave(space, holders.held(), &mut last);
            self.untouched.clear();
        }
    }

    /// The address space of a placement's bytes; `None` for the caller's memory.
    fn space_of(&self, placed: &Placement) -> Option<AddressSpace> {
        let object = placed.object?;
        Some(match placed.memory {
            MemoryKind::Tile => {
                AddressSpace::tile(self.placed.queue_of(crate::frame::PassId(placed.span.first.0)))
            }
            _ => AddressSpace::memory(object.index() as u32),
        })
    }

    /// Adds the barriers before the first use in a chain; `earlier` are the previous holders of its bytes. For the previous version of a history, only records
    /// what its barriers wait for.
    fn first_use(&mut self, index: usize, earlier: &[Holder]) {
        let chain = &self.chains.chains[index];
        let Some(first) = self.chains.first_of(chain) else {
            return;
        };
        let source = self.source_of(first, earlier);
        if chain.is_previous {
            // Its contents are kept: see `previous`.
            self.kept_sources.push((index, source));
            return;
        }
        // Earlier work may have written the bytes through any image or buffer.
        let own = |holder: &Holder| match *holder {
            Holder::Placement(other) => other == chain.placement,
            Holder::Earlier(index) => self.before.bytes[index as usize].last.writes.is_empty(),
        };
        let cause = match (earlier.iter().all(own), chain.is_ladder) {
            (false, _) => BarrierCause::Aliasing,
            (true, true) => BarrierCause::Ladder,
            (true, false) => BarrierCause::EarlierFrame,
        };
        let to = self.chains.uses_of(first)[0];
        let barrier = self.barrier(chain, &to, first, source, cause);
        self.found.barriers.push(barrier);
        if chain.is_ladder && self.placed.plan.frame.resource(chain.resource).is_image() {
            // All aliases are transitioned to their layout now: a later transition would discard the contents of another alias.
            for alias in self.placed.placements_of(chain.resource).indices().skip(1) {
                let object = self.placed.object(alias as u32);
                self.found.barriers.push(Barrier { object, ..barrier });
            }
        }
        self.follow(chain, first, cause);
    }

    /// The source of an epoch's first use on its queue; adds the waits for other queues to its batch.
    fn source_of(&mut self, first: &Epoch, earlier: &[Holder]) -> Source {
        let to = self.chains.uses_of(first)[0];
        let mut source = Source::default();
        for &holder in earlier {
            match holder {
                Holder::Placement(other) => {
                    let chains = self.chains;
                    for last in chains
                        .of_placement(other)
                        .iter()
                        .filter_map(|chain| chains.last_of(chain))
                    {
                        let more = self.source_in_frame(chains.uses_of(last), last.writes, &to);
                        source.add(more.stages, more.access);
                    }
                }
                Holder::Earlier(index) => {
                    let last = self.before.bytes[index as usize].last;
                    if last.queue == to.queue {
                        source.add(last.stages, last.writes);
                    } else {
                        source.add(to.stages, A::NONE);
                        self.found.waits.push(Wait {
                            batch: self.placed.batch_of(to.first),
                            queue: last.queue,
                            on: WaitFor::Earlier(last.value),
                            stages: to.stages,
                        });
                    }
                }
            }
        }
        source
    }

    /// Records the holders of an address space's bytes at the end of the frame. `uses` is scratch memory.
    fn leave(&mut self, space: AddressSpace, held: &[HeldBytes], uses: &mut Vec<'_, LastUse>) {
        for one in held {
            uses.clear();
            self.last_uses(space, one.holder, uses);
            self.after.bytes.extend(uses.iter().map(|&last| ByteUse {
                space,
                first: Bytes(one.first),
                end: Bytes(one.end),
                last,
            }));
        }
    }

    /// Collects the last uses by a holder of bytes, one for each queue.
    fn last_uses(&self, space: AddressSpace, holder: Holder, uses: &mut Vec<'_, LastUse>) {
        let mut add = |mut last: LastUse| {
            if self.is_local(space) {
                last.value = 0;
            }
            // Waiting for a later batch is correct too.
            match uses.iter_mut().find(|known| known.queue == last.queue) {
                Some(known) => {
                    known.value = known.value.max(last.value);
                    known.stages |= last.stages;
                    known.writes |= last.writes;
                }
                None => uses.push(last),
            }
        };
        match holder {
            Holder::Earlier(index) => {
                let mut last = self.before.bytes[index as usize].last;
                // A later value than necessary is correct: a state that is no longer used stops changing.
                last.age(self.placed.batches_on(last.queue));
                add(last);
            }
            Holder::Placement(placement) => {
                let chains = self.chains.of_placement(placement).iter();
                for last in chains.filter_map(|chain| self.chains.last_of(chain)) {
                    for one in self.chains.uses_of(last) {
                        add(LastUse {
                            queue: one.queue,
                            value: self.placed.value_of(one.last) - self.placed.batches_on(one.queue),
                            stages: one.stages,
                            writes: last.writes,
                        });
                    }
                }
                let first = self.untouched.partition_point(|(other, _)| *other < placement);
                let earlier = self.untouched[first..].iter();
                for &(_, holder) in earlier.take_while(|(other, _)| *other == placement) {
                    self.last_uses(space, holder, uses);
                }
            }
        }
    }

    /// Returns true if only one queue can use an address space: barriers order its uses, whichever batch they are in.
    fn is_local(&self, space: AddressSpace) -> bool {
        space.is_tile() || self.placed.queues.len() == 1
    }
}
