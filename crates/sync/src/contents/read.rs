//! Reads of contents that are undefined, or were written through another resource.

use tileheap_units::CompactSort;

use crate::finding::{Certainty, LossReason, LostContents, MemoryUse};
use crate::program::{AccessKind, ResourceId};
use crate::record::{Kind, LaterAccess};
use crate::region::Region;

use super::state::{Contents, State, Value, common};

/// A loss that a read may find.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    loss: LossReason,
    last: Option<MemoryUse>,
    bytes: (u64, u64),
    verdict: Certainty,
}

impl Contents {
    /// Returns a finding if all of the region that is read is undefined, or if some of it was overwritten or written through an alias, needs a transfer
    /// between queue families, or had bytes discarded.
    ///
    /// A region that is only partly unwritten, or discarded by accesses, is not reported: programs load and copy more than they need.
    /// A read of unknown elements cannot find defined ones in a region that is undefined everywhere.
    pub(super) fn read(&self, later: &LaterAccess, used: MemoryUse) -> Option<LostContents> {
        let region = later.touched.certain;
        let is_whole = self.within(region).all(|(_, state)| is_undefined(state));
        let whole = is_whole.then(|| self.least_certain_loss(region)).flatten();
        let part = self.most_certain_loss(region, later.kind, used.resource);
        let is_whole = whole.is_some_and(|whole| part.is_none_or(|part| part.verdict <= whole.verdict));
        let found = if is_whole { whole? } else { part? };
        Some(LostContents {
            reader: used,
            loss: found.loss,
            last: found.last,
            bytes: found.bytes,
            is_partial: !is_whole,
            verdict: found.verdict,
        })
    }

    /// Returns the least certain loss in a region that is undefined everywhere; on a tie, one of contents that were written.
    fn least_certain_loss(&self, region: Region) -> Option<Candidate> {
        let losses = self.within(region).filter_map(|(part, state)| match state.value {
            Value::Lost { loss, verdict, last } => Some((part, loss, verdict, last)),
            _ => {
                let loss = LossReason::Discarded(state.release()?);
                Some((part, loss, Certainty::Certain, state.last_write()))
            }
        });
        let (part, loss, verdict, last) = losses.min_by_key(|lost| (lost.2, lost.3.is_none()))?;
        let bytes = self.merged(part, region, is_undefined);
        Some(Candidate {
            loss,
            last,
            bytes,
            verdict,
        })
    }

    /// Returns the most certain loss in any part of a region, for a read through a resource.
    fn most_certain_loss(&self, region: Region, kind: Kind, reader: ResourceId) -> Option<Candidate> {
        let reads_all = matches!(kind, Kind::Access(AccessKind::Whole | AccessKind::Load))
            && (!self.is_optimal || region.contains(self.whole));
        let if_all_is_read = |verdict: Certainty| match reads_all {
            true => verdict,
            false => Certainty::Possible,
        };
        let undefined = self.undefined_bytes(region);
        let mut worst: Option<Candidate> = None;
        for (part, state) in self.within(region) {
            let lost = |state: &State| matches!(state.value, Value::Lost { .. });
            let through = |state: &State| matches!(state.value, Value::WrittenThrough { .. });
            let found = match state.value {
                Value::Lost { loss, verdict, last } => {
                    let verdict = match loss {
                        // Programs bind views of more subresources than they use.
                        LossReason::MemoryDiscarded { .. } if self.is_optimal => Some(Certainty::Possible),
                        LossReason::MemoryDiscarded { .. } => Some(if_all_is_read(verdict)),
                        LossReason::Overwritten(_) | LossReason::NotTransferred { .. } => {
                            Some(Certainty::Possible)
                        }
                        _ => None,
                    };
                    let bytes = || self.merged(part, region, lost);
                    verdict.map(|verdict| (loss, last, bytes(), verdict))
                }
                // Contents written through the reader's own resource were replaced. Without any, the read can only be meant for those of the other resource.
                Value::WrittenThrough { by, last } => last.map(|_| {
                    let bytes = self.merged(part, region, through);
                    (LossReason::WrittenThrough(by), last, bytes, Certainty::Possible)
                }),
                // An image that interprets the bytes in the same way shares this state.
                Value::Written { by, replaced, .. } => {
                    let last = replaced.filter(|last| last.resource == reader && by.resource != reader);
                    let bytes = || self.merged(part, region, through);
                    last.map(|_| (LossReason::WrittenThrough(by), last, bytes(), Certainty::Possible))
                }
                Value::Unknown => None,
            };
            let discarded = state.discarded.as_ref().map(|discarded| {
                let certain = undefined
                    .first()
                    .map(|bytes| (*bytes, if_all_is_read(Certainty::Certain)));
                let (bytes, verdict) = certain.unwrap_or((discarded.bytes[0], Certainty::Possible));
                (discarded.loss, discarded.last, bytes, verdict)
            });
            // Shaders and copies may use only the other contents.
            let released = state.release().map(|by| {
                let bytes = self.merged(part, region, |state| state.release().is_some());
                (
                    LossReason::Discarded(by),
                    state.last_write(),
                    bytes,
                    Certainty::Possible,
                )
            });
            for (loss, last, bytes, verdict) in found.into_iter().chain(discarded).chain(released) {
                if worst.is_none_or(|known| verdict > known.verdict) {
                    worst = Some(Candidate {
                        loss,
                        last,
                        bytes,
                        verdict,
                    });
                }
            }
        }
        worst
    }

    /// Returns the bytes of an image whose contents are undefined wherever the texels of a region are located.
    fn undefined_bytes(&self, region: Region) -> Vec<(u64, u64)> {
        let all = self.range();
        let states = self.within(region).filter(|_| self.is_optimal);
        let each = states.map(|(_, state)| state.undefined_bytes(all));
        each.reduce(|one, other| common(&one, &other)).unwrap_or_default()
    }

    /// Returns the bytes of a part of a region, merged with adjacent bytes that meet a condition.
    fn merged(&self, part: Region, region: Region, meets: impl Fn(&State) -> bool) -> (u64, u64) {
        let mut bytes = self.bytes_of(part);
        if self.is_optimal {
            return bytes;
        }
        let others = self.within(region).filter(|(_, state)| meets(state));
        let mut others: Vec<(u64, u64)> = others.map(|(part, _)| part.bytes()).collect();
        others.compact_sort();
        for other in &others {
            if other.0 == bytes.1 {
                bytes.1 = other.1;
            }
        }
        for other in others.iter().rev() {
            if other.1 == bytes.0 {
                bytes.0 = other.0;
            }
        }
        bytes
    }
}

fn is_undefined(state: &State) -> bool {
    matches!(state.value, Value::Lost { .. }) || state.release().is_some()
}
