//! Rows of placements; strips of one image share a row.

use super::table::{counted, cut};
use crate::plan::words::printable;
use crate::plan::{Placement, PlacementReason, Plan};
use crate::units::Bytes;

/// Maximum length of a pass's name.
pub(super) const MAX_PASS_LENGTH: usize = 20;

/// A row of the report: one placement, or all placements of a tile resident with an image in several memory objects, which share offset, size and lifetime.
pub(super) struct Row<'a> {
    pub(super) placement: &'a Placement,
    /// The indices of the memory objects, in ascending order.
    pub(super) objects: Vec<usize>,
    /// The placements of further strips of the same image, which have no separate rows.
    strips: Vec<&'a Placement>,
}

impl<'a> Row<'a> {
    pub(super) fn new(placement: &'a Placement, object: usize) -> Row<'a> {
        Row {
            placement,
            objects: vec![object],
            strips: Vec::new(),
        }
    }
}

/// Merges the rows of strips of one image that have the same first pass into the first such row. The remaining rows keep their order.
pub(super) fn merge<'a>(plan: &Plan, rows: Vec<Row<'a>>) -> Vec<Row<'a>> {
    let mut merged: Vec<Row<'a>> = Vec::new();
    let mut seen = Vec::new();
    for row in rows {
        let placement = row.placement;
        let origin = plan.origins.resource(placement.resource);
        let first = plan.frame.pass_ids().nth(placement.span.first.0 as usize);
        let key = (origin.area.is_some() && !placement.span.is_empty()).then(|| {
            (
                origin.resource,
                origin.until.is_some(),
                first.map(|pass| plan.origins.described_pass(pass)),
            )
        });
        let known = key.and_then(|key| seen.iter().position(|other| *other == Some(key)));
        match known {
            Some(index) => {
                let of: &mut Row<'a> = &mut merged[index];
                of.objects.extend(row.objects);
                of.objects.sort_unstable();
                of.objects.dedup();
                of.strips.push(placement);
            }
            None => {
                merged.push(row);
                seen.push(key);
            }
        }
    }
    merged
}

impl Row<'_> {
    /// The cells of the row: name, size, offset, passes and reason. For several strips, the size is the largest one, the passes are those of the first strip,
    /// and the other cells summarize all strips.
    pub(super) fn in_words(&self, plan: &Plan) -> [String; 5] {
        let first = self.placement;
        if self.strips.is_empty() {
            return [
                printable(&plan.frame.resource(first.resource).name),
                first.size.to_string(),
                first.offset.to_string(),
                plan.span_in_words(first.span),
                plan.reason_text(first.resource),
            ];
        }
        let all = || [first].into_iter().chain(self.strips.iter().copied());
        let (least, most) = all().fold((first.size, first.size), |(least, most), strip| {
            (least.min(strip.size), most.max(strip.size))
        });
        let is_same = all().all(|strip| strip.offset == first.offset);
        let offset = if is_same {
            first.offset.to_string()
        } else {
            "varies".to_owned()
        };
        let name = |step: u32| {
            let pass = plan.frame.pass_ids().nth(step as usize);
            let described = pass.map(|pass| plan.described().pass(plan.origins.described_pass(pass)));
            let name = described.map_or_else(String::new, |pass| printable(&pass.name));
            cut(&name, MAX_PASS_LENGTH)
        };
        let ends = [first.span.first.0, first.span.end.0 - 1].map(name);
        let sizes = match least == most {
            true => String::new(),
            false => format!(" of {least} to {most}"),
        };
        [
            printable(
                &plan
                    .described()
                    .resource(plan.origins.resource(first.resource).resource)
                    .name,
            ),
            most.to_string(),
            offset,
            if ends[0] == ends[1] {
                ends[0].clone()
            } else {
                ends.join(" … ")
            },
            format!(
                "{}{sizes}: {}",
                counted(1 + self.strips.len(), "strip"),
                self.reason_of_strips(plan)
            ),
        ]
    }

    /// The bytes that all strips keep on chip and store, or the reason of the first strip if some strip is not in tile memory.
    fn reason_of_strips(&self, plan: &Plan) -> String {
        let (mut kept, mut stored) = (Bytes::ZERO, Bytes::ZERO);
        for strip in [self.placement].iter().chain(&self.strips) {
            let PlacementReason::Tile { savings } = plan.resources[strip.resource.index()].reason else {
                return plan.reason_text(self.placement.resource);
            };
            kept += savings;
            let stores = plan.stores().filter(|store| store.from == strip.resource);
            stored += stores.map(|store| plan.stored_bytes(&store)).sum();
        }
        let less = match stored {
            Bytes::ZERO => String::new(),
            stored => format!(", less {stored:#} stored"),
        };
        format!("keeps {kept:#} of traffic per frame on chip{less}")
    }
}
