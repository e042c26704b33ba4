//! The verdict on allocations.

use std::collections::HashMap;

use super::overlaps::for_each_pair;
use super::packed::{Groups, arenas};
use super::types::{Allocations, Buffer, BufferFault, Fault, InPlace, JudgedAllocations, Overlap};
use crate::error::Result;
use crate::units::{Bytes, Span, Step};

/// Finds the overlaps and faults of allocations, and computes the memory use of each arena.
///
/// ```
/// use tileheap_tensor::judge::{SpanEnds, judge, read_table};
///
/// let table = "id,lower,upper,size,offset\na,0,3,8,0\nb,2,5,8,4\n";
/// let judged = judge(read_table(table, SpanEnds::Exclusive)?)?;
/// let overlap = &judged.overlaps[0];
/// assert_eq!((overlap.offset.0, overlap.bytes.0), (4, 4));
/// assert_eq!(judged.arenas[0].packed.0, 16);
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
///
/// # Errors
/// The sizes of an arena's buffers exceed 2^64 - 1 bytes.
pub fn judge(allocations: Allocations) -> Result<JudgedAllocations> {
    let buffers = &allocations.buffers;
    let permitted = Permitted::of(&allocations);
    let mut groups = Groups::new(buffers.len());
    let mut overlaps = Vec::new();
    let is_complete = for_each_pair(&allocations, |a, b| {
        let steps = common_steps(&buffers[a as usize], &buffers[b as usize]);
        if permitted.allows(buffers, (a, b), &steps) {
            groups.join(a, b);
        } else {
            overlaps.push(overlap(buffers, (a, b), steps));
        }
    });
    overlaps.sort_by_key(|overlap| (overlap.steps.first().map(|span| span.first), overlap.a, overlap.b));
    let mut faults = allocations.faults.clone();
    faults.extend((0..).zip(buffers).flat_map(|(index, buffer)| {
        let of_arena = faults_in(buffer, allocations.arenas[buffer.arena as usize].size);
        of_arena.map(move |fault| Fault { buffer: index, fault })
    }));
    faults.sort_by_key(|fault| fault.buffer);
    let arenas = arenas(&allocations, &mut groups)?;
    Ok(JudgedAllocations {
        overlaps,
        faults,
        has_more: !is_complete,
        arenas,
        allocations,
    })
}

/// The steps in which both buffers are live.
fn common_steps(a: &Buffer, b: &Buffer) -> Vec<Span> {
    let mut common = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(one), Some(two)) = (a.lifetimes.get(i), b.lifetimes.get(j)) {
        let span = Span {
            first: one.first.max(two.first),
            end: one.end.min(two.end),
        };
        if !span.is_empty() {
            common.push(span);
        }
        if one.end <= two.end {
            i += 1;
        } else {
            j += 1;
        }
    }
    common
}

fn overlap(buffers: &[Buffer], (a, b): (u32, u32), steps: Vec<Span>) -> Overlap {
    let first_step = |index: u32| buffers[index as usize].lifetimes.first().map(|span| span.first);
    let (a, b) = match first_step(b) < first_step(a) {
        true => (b, a),
        false => (a, b),
    };
    let (one, two) = (&buffers[a as usize], &buffers[b as usize]);
    let (offset, end) = (one.offset.max(two.offset), one.end().min(two.end()));
    Overlap {
        a,
        b,
        steps,
        offset,
        bytes: Bytes(end.0 - offset.0),
    }
}

fn faults_in(buffer: &Buffer, size: Option<Bytes>) -> impl Iterator<Item = BufferFault> {
    let end = buffer.end();
    let outside = size.filter(|&size| end > size);
    let outside = outside.map(|size| BufferFault::OutsideArena { end, size });
    let alignment = buffer.alignment;
    let misaligned = !buffer.offset.is_aligned(alignment) && buffer.size > Bytes::ZERO;
    let misaligned = misaligned.then_some(BufferFault::Misaligned { alignment });
    outside.into_iter().chain(misaligned)
}

/// Identifies the contents of a buffer: the data that it is a view of, or the buffer itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Contents {
    Data(u32),
    Buffer(u32),
}

/// Pairs that may share bytes.
struct Permitted {
    in_place: HashMap<(Contents, Contents), Vec<InPlace>>,
    /// For each buffer, or data that buffers share, the end of its last lifetime.
    ends: HashMap<Contents, Step>,
}

impl Permitted {
    fn of(allocations: &Allocations) -> Permitted {
        let mut in_place: HashMap<_, Vec<InPlace>> = HashMap::new();
        for &pair in &allocations.in_place {
            let [output, input] = [pair.output, pair.input].map(|of| contents(&allocations.buffers, of));
            in_place.entry((output, input)).or_default().push(pair);
        }
        let mut ends = HashMap::new();
        for (index, buffer) in (0..).zip(&allocations.buffers) {
            let end: &mut Step = ends.entry(contents(&allocations.buffers, index)).or_default();
            let lifetimes = buffer.lifetimes.iter().filter(|span| !span.is_empty());
            let last = lifetimes.map(|span| span.end).max();
            *end = (*end).max(last.unwrap_or_default());
        }
        Permitted { in_place, ends }
    }

    fn allows(&self, buffers: &[Buffer], (a, b): (u32, u32), steps: &[Span]) -> bool {
        let [one, two] = [a, b].map(|index| &buffers[index as usize]);
        if one.data().is_some_and(|data| two.data() == Some(data)) {
            return true;
        }
        let &[span] = steps else { return false };
        let of = [a, b].map(|index| contents(buffers, index));
        [(of[0], of[1]), (of[1], of[0])].iter().any(|key| {
            let pairs = self.in_place.get(key).into_iter().flatten();
            // A later reader of the input would read the output.
            let dies = self.ends.get(&key.1).is_some_and(|end| *end == span.end);
            let mut pairs = pairs.filter(|pair| dies && span.len() == 1 && span.first == pair.step);
            pairs.any(|pair| !pair.same_offset || one.offset == two.offset)
        })
    }
}

fn contents(buffers: &[Buffer], index: u32) -> Contents {
    let view = buffers[index as usize].view;
    view.map_or(Contents::Buffer(index), |view| Contents::Data(view.data))
}
