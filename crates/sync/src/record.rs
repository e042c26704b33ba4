//! Records: accesses that later ones may conflict with.

use ash::vk::AccessFlags2;
use tileheap_device::ffi;
use tileheap_units::{CompactSort, IdMap};

use crate::finding::{Certainty, MemoryUse, MissingDependency};
use crate::log::{Log, Summary};
use crate::operation::{Bytes, Limit, Operation, padded};
use crate::program::{AccessKind, QueueId, ResourceId};
use crate::reach::missing::MissingScope;
use crate::reach::signals::CheckedWait;
use crate::reach::{Origin, Reach};
use crate::region::Region;
use crate::usage::Usage;

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Access(AccessKind),
    /// A layout transition of a barrier or a render pass.
    Transition,
    /// A queue family ownership transfer.
    Transfer,
}

/// Counts of the operations that were applied to records, and of those that were skipped because they could not change a record's state; each counts once
/// per record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordWork {
    pub(crate) followed: u64,
    pub(crate) skipped: u64,
    /// Number of decisions; skipping several operations counts once.
    pub(crate) decisions: u64,
    /// Number of records that later accesses were compared with.
    pub(crate) compared: u64,
}

/// A region with a uniform history, and its synchronization state.
#[derive(Clone, Debug)]
struct Piece {
    region: Region,
    /// True if the access touches the region only by the letter of the specification.
    is_by_letter: bool,
    reach: Reach,
}

/// The overlapping regions of two accesses in the same memory, in terms of their own resources.
struct Overlap {
    own: Region,
    later: Region,
    is_by_letter: bool,
}

/// An access, a transition or a queue family ownership transfer.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) used: MemoryUse,
    pub(crate) origin: Origin,
    pub(crate) kind: Kind,
    /// The command's number on the device.
    pub(crate) command: u64,
    /// The region that the access certainly touches.
    certain: Region,
    /// The pieces that no later access has superseded.
    pieces: Vec<Piece>,
    /// For images with optimal tiling, the whole resource: a texel may occupy any byte of it.
    pub(crate) whole: Option<Region>,
    /// True if `bufferImageGranularity` applies to the accessed resource.
    has_pages: bool,
    /// The position in the log up to which operations were applied.
    position: u64,
    /// Number of operations on the device before the record was added.
    pub(crate) added_at: u64,
}

/// The region that an access touches, and the region that it touches by the letter of the specification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TouchedRegion {
    pub(crate) certain: Region,
    pub(crate) by_letter: Option<Region>,
}

/// A later access, in the form in which it is compared with records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaterAccess {
    pub(crate) origin: Origin,
    pub(crate) kind: Kind,
    /// The queue family; `None` for the host and the presentation engine.
    pub(crate) family: Option<u32>,
    pub(crate) touched: TouchedRegion,
    pub(crate) command: u64,
    pub(crate) whole: Option<Region>,
    pub(crate) has_pages: bool,
}

/// The dependency that is missing between two accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) verdict: Certainty,
    pub(crate) missing: MissingDependency,
    /// The bytes that both accesses touch.
    pub(crate) bytes: (u64, u64),
}

impl Conflict {
    /// Returns the worst conflict, with the first bytes that have it; adjacent ranges are merged.
    fn worst(mut all: Vec<Conflict>) -> Option<Conflict> {
        let order = |one: &Conflict| (std::cmp::Reverse(one.verdict), one.missing);
        let worst = all.iter().map(order).min()?;
        all.retain(|one| order(one) == worst);
        all.compact_sort_by_key(|one| one.bytes);
        all.into_iter().reduce(|mut first, one| {
            if one.bytes.0 <= first.bytes.1 {
                first.bytes.1 = first.bytes.1.max(one.bytes.1);
            }
            first
        })
    }
}

impl Record {
    /// Creates the record of an access; operations from `position` on are still to be applied.
    pub(crate) fn new(later: &LaterAccess, used: MemoryUse, reach: &Reach, position: u64) -> Record {
        let piece = |region, is_by_letter| Piece {
            region,
            is_by_letter,
            reach: reach.clone(),
        };
        let certain = later.touched.certain;
        let rest = later
            .touched
            .by_letter
            .map_or(Vec::new(), |all| all.without(certain));
        let rest = rest.into_iter().map(|region| piece(region, true));
        Record {
            used,
            origin: later.origin,
            kind: later.kind,
            command: later.command,
            certain,
            pieces: std::iter::once(piece(certain, false)).chain(rest).collect(),
            whole: later.whole,
            has_pages: later.has_pages,
            position,
            added_at: position,
        }
    }

    pub(crate) fn writes(&self) -> bool {
        self.origin.usage.writes()
    }

    /// Returns true if no later access can conflict with any part of the record.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Merges the states of subpasses whose instances have ended: no later command belongs to them.
    pub(crate) fn compact(&mut self, last_instance: &IdMap<QueueId, u64>) {
        for piece in &mut self.pieces {
            piece.reach.compact(last_instance);
        }
    }

    /// Returns true if the host knows that all of the access has completed.
    pub(crate) fn is_complete(&self) -> bool {
        self.pieces.iter().all(|piece| piece.reach.is_complete())
    }

    /// Returns `true` if no work that is submitted from now on can conflict with the record: the host knows that the access is complete and
    /// available.
    pub(crate) fn is_settled(&self) -> bool {
        self.pieces.iter().all(|piece| match self.writes() {
            true => piece.reach.is_complete_and_available(),
            false => piece.reach.is_complete(),
        })
    }

    /// Applies the operations of a log up to its end; `first` is the position of the log's first operation.
    pub(crate) fn advance(&mut self, log: &Log, first: u64, work: &mut RecordWork) {
        let mut index =
            usize::try_from(self.position - first).expect("the log contains all operations not yet applied");
        while let Some(operation) = log.operations().get(index) {
            work.decisions += 1;
            let changes = |piece: &Piece, one: &Summary| piece.reach.may_change_by(&self.origin, one);
            let may_change = |all: &[Summary]| {
                let mut pieces = self.pieces.iter();
                pieces.any(|piece| all.iter().any(|one| changes(piece, one)))
            };
            let skipped = log.summaries(index).find(|(_, all)| !may_change(all));
            if let Some((count, _)) = skipped {
                work.skipped += count as u64;
                index += count;
                continue;
            }
            index += 1;
            let may_change = |piece: &Piece| piece.reach.may_change(&self.origin, operation);
            if !self.pieces.iter().any(may_change) {
                work.skipped += 1;
                continue;
            }
            work.followed += 1;
            self.split(operation);
            for piece in &mut self.pieces {
                piece.reach.follow(&self.origin, piece.region, operation);
            }
        }
        self.position = first + log.len() as u64;
    }

    /// Drops the state of resources that are no longer known.
    pub(crate) fn forget_classes(&mut self, is_known: &impl Fn(ResourceId) -> bool) {
        for piece in &mut self.pieces {
            piece.reach.forget_classes(is_known);
        }
    }

    /// Splits pieces that the part of a barrier only partly covers.
    fn split(&mut self, operation: &Operation) {
        let Operation::Dependencies { edges, .. } = operation else {
            return;
        };
        for edge in edges {
            let Limit::Part(part) = &edge.limit else { continue };
            if part.class != self.origin.class {
                continue;
            }
            for index in 0..self.pieces.len() {
                let region = self.pieces[index].region;
                let Some(inside) = region
                    .intersection(part.region)
                    .filter(|inside| *inside != region)
                else {
                    continue;
                };
                let outside = region.without(part.region).into_iter().map(|region| Piece {
                    region,
                    ..self.pieces[index].clone()
                });
                let outside: Vec<Piece> = outside.collect();
                self.pieces[index].region = inside;
                self.pieces.extend(outside);
            }
        }
    }

    /// Returns the bytes of each piece and, for each wait, true if it covers the piece.
    pub(crate) fn outstanding(&self, waits: &[CheckedWait]) -> Vec<((u64, u64), Vec<bool>)> {
        let pieces = self.pieces.iter().map(|piece| {
            let bytes = match self.whole {
                Some(_) => (self.origin.bytes.first, self.origin.bytes.end),
                None => piece.region.bytes(),
            };
            let is_before = |wait: &CheckedWait| piece.reach.is_before(&self.origin, piece.region, wait);
            (bytes, waits.iter().map(is_before).collect())
        });
        pieces.collect()
    }

    /// Returns true if a later access must be ordered after the record, and no implicit ordering guarantee does so.
    pub(crate) fn needs_order(&self, later: &LaterAccess, granularity: u64) -> bool {
        let is_read = !self.writes() && !later.origin.usage.writes();
        !is_read && self.may_overlap(later, granularity) && !self.is_implicitly_before(later)
    }

    /// Returns true if the two resources have bytes or pages in common, or are the same.
    fn may_overlap(&self, later: &LaterAccess, granularity: u64) -> bool {
        let (own, other) = (self.origin.bytes, later.origin.bytes);
        let pages = [(own.first, own.end), (other.first, other.end)].map(|bytes| padded(bytes, granularity));
        self.origin.class == later.origin.class || pages[0].0 < pages[1].1 && pages[1].0 < pages[0].1
    }

    /// Returns the worst missing dependency of all pieces before a later access; `judge` returns the dependency that is missing before an access to a region
    /// of a piece.
    pub(crate) fn conflict(
        &self,
        later: &LaterAccess,
        granularity: u64,
        judge: impl Fn(&Reach, Region) -> Option<MissingScope>,
    ) -> Option<Conflict> {
        let some = Kind::Access(AccessKind::Partial);
        let are_some = [self.kind, later.kind].map(|kind| kind == some);
        let is_transitions =
            [self.kind, later.kind] == [Kind::Transition; 2] && self.origin.queue == later.origin.queue;
        let mut found: Vec<Conflict> = Vec::new();
        // For an access to unknown elements: the rest of its part that does not race.
        let mut rest = match are_some {
            [true, false] => vec![self.certain],
            [false, true] => vec![later.touched.certain],
            _ => Vec::new(),
        };
        for piece in &self.pieces {
            for overlap in self.overlaps(piece, later, granularity) {
                let Some(MissingScope { missing, regions }) = judge(&piece.reach, overlap.later) else {
                    continue;
                };
                let verdict = if overlap.is_by_letter || is_transitions {
                    Certainty::Pedantic
                } else {
                    Certainty::Certain
                };
                found.extend(regions.iter().map(|region| Conflict {
                    verdict,
                    missing,
                    bytes: self.common_bytes(overlap.own, *region, later, granularity),
                }));
                // Bytes of linear resources are identical bytes.
                let is_linear = self.whole.is_none() && later.whole.is_none();
                let racing = match are_some[0] && !is_linear {
                    true => vec![overlap.own],
                    false => regions,
                };
                for racing in racing {
                    rest = rest.iter().flat_map(|region| region.without(racing)).collect();
                }
            }
        }
        // Unknown elements certainly race if all of them do.
        if are_some == [true, true] || !rest.is_empty() {
            found.iter_mut().for_each(|one| one.verdict = Certainty::Possible);
        }
        Conflict::worst(found)
    }

    /// Returns the bytes, or the pages, that regions of two accesses have in common.
    fn common_bytes(&self, own: Region, racing: Region, later: &LaterAccess, granularity: u64) -> (u64, u64) {
        let all = |bytes: Bytes| (bytes.first, bytes.end);
        let own = match self.whole {
            Some(_) => all(self.origin.bytes),
            None => own.bytes(),
        };
        let racing = match later.whole {
            Some(_) => all(later.origin.bytes),
            None => racing.bytes(),
        };
        let page = self.page(later, granularity);
        let [own, racing] = [own, racing].map(|bytes| padded(bytes, page));
        (own.0.max(racing.0), own.1.min(racing.1))
    }

    /// Returns the granularity at which two resources alias.
    fn page(&self, later: &LaterAccess, granularity: u64) -> u64 {
        let has_pages = self.has_pages && later.has_pages;
        let is_mixed = has_pages && self.whole.is_some() != later.whole.is_some();
        if is_mixed { granularity } else { 1 }
    }

    /// Returns the regions in which a later access overlaps a piece.
    fn overlaps(&self, piece: &Piece, later: &LaterAccess, granularity: u64) -> Vec<Overlap> {
        let touched = later.touched;
        if self.origin.class == later.origin.class {
            let certain = piece.region.intersection(touched.certain);
            let certain = certain.map(|region| (region, piece.is_by_letter));
            let by_letter = touched
                .by_letter
                .into_iter()
                .flat_map(|all| all.without(touched.certain))
                .filter_map(|rest| piece.region.intersection(rest))
                .map(|region| (region, true));
            let both = certain.into_iter().chain(by_letter);
            let overlap = |(region, is_by_letter)| Overlap {
                own: region,
                later: region,
                is_by_letter,
            };
            return both.map(overlap).collect();
        }
        // Any byte of an image may hold any of its subresources ("Memory Aliasing").
        let bytes = |region: Region, whole: Option<Region>, all: (u64, u64)| match whole {
            Some(_) => all,
            None => region.bytes(),
        };
        let all = |origin: &Origin| (origin.bytes.first, origin.bytes.end);
        let own = bytes(piece.region, self.whole, all(&self.origin));
        let other = bytes(touched.certain, later.whole, all(&later.origin));
        let page = self.page(later, granularity);
        let pages = [own, other].map(|bytes| padded(bytes, page));
        let common = (pages[0].0.max(pages[1].0), pages[0].1.min(pages[1].1));
        if common.0 >= common.1 {
            return Vec::new();
        }
        // For linear resources, the bytes in these pages.
        let within = |region: Region, whole: Option<Region>| match whole {
            Some(_) => region,
            None => region
                .intersection(Region::of_bytes(common.0, common.1))
                .unwrap_or(region),
        };
        vec![Overlap {
            own: within(piece.region, self.whole),
            later: within(touched.certain, later.whole),
            is_by_letter: piece.is_by_letter,
        }]
    }

    /// Returns true if implicit ordering guarantees order the record before a later access.
    fn is_implicitly_before(&self, later: &LaterAccess) -> bool {
        use AccessKind::{Attachment, Load, Resolve, Store};
        let (before, after) = (&self.origin, &later.origin);
        let is_one_class = before.class == after.class;
        if self.kind == Kind::Transition && later.kind == Kind::Transition {
            // "Image Layout Transitions": in submission order relative to each other.
            return is_one_class && before.queue == after.queue;
        }
        let (Kind::Access(first), Kind::Access(second)) = (self.kind, later.kind) else {
            return false;
        };
        let (Some(own), Some(other)) = (before.place, after.place) else {
            return false;
        };
        if own.instance != other.instance {
            return false;
        }
        let is_of_attachment = |kind: AccessKind, usage: Usage| {
            let by_shaders = AccessFlags2::INPUT_ATTACHMENT_READ
                | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM
                | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM;
            let is_by_shaders = !usage.access().is_empty() && by_shaders.contains(usage.access());
            is_by_shaders || matches!(kind, Attachment | Load | Store | Resolve)
        };
        // "Render Pass Load Operations", "Render Pass Store Operations": before and after other accesses to the attachment.
        let is_loaded = first == Load && is_of_attachment(second, after.usage);
        let is_stored = second == Store && is_of_attachment(first, before.usage);
        // "Rasterization Order", and resolves at the end of a subpass.
        let is_drawn = own == other && first == Attachment && matches!(second, Attachment | Resolve);
        is_loaded || is_stored || is_drawn
    }

    /// Removes the pieces that a later access supersedes.
    pub(crate) fn supersede(&mut self, later: &LaterAccess, resource: ResourceId) {
        if later.origin.usage.is_unknown() || later.command == self.command {
            return;
        }
        let partial = Kind::Access(AccessKind::Partial);
        let is_same = self.used.resource == resource
            && (self.origin.queue, self.origin.place, self.origin.usage, self.kind)
                == (
                    later.origin.queue,
                    later.origin.place,
                    later.origin.usage,
                    later.kind,
                );
        // Dependencies that include the later of two equal reads, or writes of unknown elements, also include the earlier one.
        let is_repeated = is_same && (!self.writes() || self.kind == partial);
        let is_overwritten = later.origin.usage.writes() && later.kind != partial;
        let hidden = if is_repeated || is_overwritten {
            self.superseded_region(later)
        } else {
            None
        };
        let Some(hidden) = hidden else { return };
        if !self
            .pieces
            .iter()
            .any(|piece| piece.region.intersection(hidden).is_some())
        {
            return;
        }
        for piece in std::mem::take(&mut self.pieces) {
            let rest = piece.region.without(hidden);
            self.pieces.extend(rest.into_iter().map(|region| Piece {
                region,
                ..piece.clone()
            }));
        }
    }

    /// Returns the region of the record that a later access certainly covers.
    fn superseded_region(&self, later: &LaterAccess) -> Option<Region> {
        let certain = later.touched.certain;
        if self.origin.class == later.origin.class {
            return Some(certain);
        }
        let (own, other) = (self.origin.bytes, later.origin.bytes);
        let (first, end) = match later.whole {
            Some(whole) => certain.contains(whole).then_some((other.first, other.end))?,
            None => certain.bytes(),
        };
        match self.whole {
            // Regardless of the location of its texels.
            Some(whole) => (first <= own.first && own.end <= end).then(|| whole.subresources()),
            None => Some(Region::of_bytes(first, end)),
        }
    }
}
