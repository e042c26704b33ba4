//! Infers lifetimes of resources from the accesses of a frame in order, and from the next frame's use of the remaining contents.
//!
//! ```text
//! clear ─ write ─ read            transient: nothing of the previous frame is read
//!         read ─ … ─ write        history: the contents that are read are replaced later
//!         read and write          external: updated in place, or written elsewhere
//! ```

use crate::document::{InferredLifetime, LifetimeEvidence};

/// One use of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResourceUse {
    pub(crate) pass: usize,
    /// The accessed cells of the resource: a range of indices `[first, end)` in each dimension.
    pub(crate) cells: [(u32, u32); 3],
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// True for a write that keeps the contents that it does not replace.
    pub(crate) keeps: bool,
    /// True unless the resource is accessed as an attachment: shaders and transfer commands can read another version of the resource instead.
    pub(crate) movable: bool,
    /// True if the written contents are not stored.
    pub(crate) discards: bool,
}

/// The first access of the next frame to the contents that this frame leaves, with the name of the accessing pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextPass {
    Unknown,
    Reads(String),
    Replaces(String),
}

/// The inferred lifetime, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inference {
    pub(crate) inferred: InferredLifetime,
    pub(crate) decided: LifetimeEvidence,
    pub(crate) reason: String,
    /// For each use, true if the lifetime is `History` and the use reads the contents that the previous frame left.
    pub(crate) previous: Vec<bool>,
    /// For each use, true if earlier passes of the frame wrote all of its cells.
    pub(crate) rewrites: Vec<bool>,
}

/// Infers the lifetime of a resource of `size` cells. `attached` is true if it can only be used as an attachment, and `outside` is the reason why it is also
/// accessible from outside the frame, if it is. Takes O(uses x cells) time.
pub(crate) fn infer(
    uses: &[ResourceUse],
    size: [u32; 3],
    attached: bool,
    outside: Option<&str>,
    next: &NextPass,
    pass: impl Fn(usize) -> String,
) -> Inference {
    let count = size.iter().map(|side| *side as usize).product::<usize>();
    let (mut written, mut read_since) = (vec![false; count], vec![true; count]);
    let mut previous = vec![false; uses.len()];
    let mut rewrites = vec![false; uses.len()];
    let (mut early, mut in_place) = (None, None);
    let mut needed = vec![false; count];
    let mut index = 0;
    for of_pass in uses.chunk_by(|a, b| a.pass == b.pass) {
        // A pass sees the contents that earlier passes left.
        for one in of_pass {
            let cells = cells_of(one, size);
            let known = cells.iter().filter(|cell| written[**cell]).count();
            rewrites[index] = known == cells.len();
            if known < cells.len() && (one.reads || one.writes && one.keeps) {
                early.get_or_insert(one.pass);
                if one.writes || !one.movable || known > 0 {
                    in_place.get_or_insert(one.pass);
                }
                previous[index] = true;
                cells.iter().for_each(|cell| needed[*cell] = true);
            }
            index += 1;
        }
        for one in of_pass {
            for cell in cells_of(one, size) {
                if one.writes {
                    written[cell] = true;
                    read_since[cell] = one.discards;
                } else if one.reads {
                    read_since[cell] = true;
                }
            }
        }
    }
    let replaced = needed
        .iter()
        .zip(&written)
        .all(|(needed, written)| !needed || *written);
    let last_write = uses.iter().rev().find(|one| one.writes).map(|one| one.pass);
    let is_read = read_since.iter().all(|read| *read);
    let by = uses.iter().find(|one| one.writes).map(|one| one.pass);
    let (inferred, reason) = match (outside, last_write, early) {
        (Some(why), ..) => (InferredLifetime::External, why.to_owned()),
        (None, None, _) => (
            InferredLifetime::External,
            "nothing in the frame writes it".to_owned(),
        ),
        (None, Some(last), Some(first)) => match in_place {
            None if replaced => (
                InferredLifetime::History,
                format!(
                    "pass `{}` reads it before pass `{}` writes it",
                    pass(first),
                    pass(last)
                ),
            ),
            None => (
                InferredLifetime::External,
                format!(
                    "pass `{}` reads parts of it that the frame does not write",
                    pass(first)
                ),
            ),
            Some(first) => (
                InferredLifetime::External,
                format!(
                    "pass `{}` updates in place what the previous frame left",
                    pass(first)
                ),
            ),
        },
        (None, Some(last), None) => {
            written_first(next, [by.unwrap_or(last), last], (is_read, attached), &pass)
        }
    };
    let decided = match (outside, last_write, early, next) {
        (Some(_), ..) | (None, None, ..) => LifetimeEvidence::Frame,
        (_, _, Some(_), NextPass::Reads(_)) | (_, _, None, NextPass::Reads(_) | NextPass::Replaces(_)) => {
            LifetimeEvidence::NextFrame
        }
        _ => LifetimeEvidence::Assumed,
    };
    if inferred != InferredLifetime::History {
        previous.fill(false);
    }
    Inference {
        inferred,
        decided,
        reason,
        previous,
        rewrites,
    }
}

/// Infers the lifetime of a resource that the frame writes before it reads it. `first` and `last` are the first and the last pass that write it.
fn written_first(
    next: &NextPass,
    [first, last]: [usize; 2],
    (is_read, attached): (bool, bool),
    pass: impl Fn(usize) -> String,
) -> (InferredLifetime, String) {
    let (first, last) = (pass(first), pass(last));
    match next {
        NextPass::Reads(reader) => (
            InferredLifetime::External,
            format!("pass `{reader}` of the next frame reads what pass `{last}` leaves"),
        ),
        NextPass::Replaces(writer) => (
            InferredLifetime::Transient,
            format!(
                "pass `{first}` writes it before anything reads it, and pass `{writer}` of the next frame replaces it"
            ),
        ),
        NextPass::Unknown if is_read => (
            InferredLifetime::Transient,
            format!("pass `{first}` writes it before anything reads it"),
        ),
        NextPass::Unknown if attached => (
            InferredLifetime::Transient,
            format!(
                "pass `{first}` writes it before anything reads it, and its usage allows only attachments; its last contents are stored but not read"
            ),
        ),
        NextPass::Unknown => (
            InferredLifetime::External,
            format!(
                "nothing in the frame reads what pass `{last}` writes: it may be needed outside the frame"
            ),
        ),
    }
}

fn cells_of(one: &ResourceUse, size: [u32; 3]) -> Vec<usize> {
    let mut cells = Vec::new();
    let within = |dimension: usize| {
        let (first, end) = one.cells[dimension];
        first..end.min(size[dimension])
    };
    for a in within(0) {
        for b in within(1) {
            cells.extend(within(2).map(|c| ((a * size[1] + b) * size[2] + c) as usize));
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: ResourceUse = ResourceUse {
        pass: 0,
        cells: [(0, 1), (0, 2), (0, 1)],
        reads: true,
        writes: false,
        keeps: false,
        movable: true,
        discards: false,
    };
    const CLEAR: ResourceUse = ResourceUse {
        reads: false,
        writes: true,
        movable: false,
        ..READ
    };
    const UPDATE: ResourceUse = ResourceUse {
        writes: true,
        keeps: true,
        movable: false,
        ..READ
    };

    fn level(of: ResourceUse, level: u32) -> ResourceUse {
        ResourceUse {
            cells: [(0, 1), (level, level + 1), (0, 1)],
            ..of
        }
    }

    fn found(uses: &[ResourceUse], attached: bool) -> Inference {
        let uses: Vec<_> = uses
            .iter()
            .enumerate()
            .map(|(pass, one)| ResourceUse { pass, ..*one })
            .collect();
        infer(&uses, [1, 2, 1], attached, None, &NextPass::Unknown, |pass| {
            pass.to_string()
        })
    }

    #[test]
    fn the_next_frame_decides_what_this_one_does_not_show() {
        use InferredLifetime::{External, History, Transient};
        let [reads, replaces] = [NextPass::Reads, NextPass::Replaces].map(|of| of("next".to_owned()));
        for (uses, next, inferred, decided) in [
            // A stored depth buffer: the next frame clears it.
            (
                &[CLEAR][..],
                &NextPass::Unknown,
                External,
                LifetimeEvidence::Assumed,
            ),
            (&[CLEAR], &replaces, Transient, LifetimeEvidence::NextFrame),
            (&[CLEAR], &reads, External, LifetimeEvidence::NextFrame),
            (
                &[CLEAR, READ],
                &NextPass::Unknown,
                Transient,
                LifetimeEvidence::Assumed,
            ),
            (&[CLEAR, READ], &replaces, Transient, LifetimeEvidence::NextFrame),
            (&[CLEAR, READ], &reads, External, LifetimeEvidence::NextFrame),
            (&[READ, CLEAR], &reads, History, LifetimeEvidence::NextFrame),
            (&[UPDATE, READ], &replaces, External, LifetimeEvidence::Assumed),
            (&[READ], &NextPass::Unknown, External, LifetimeEvidence::Frame),
        ] {
            let numbered = uses.iter().enumerate();
            let numbered: Vec<_> = numbered.map(|(pass, one)| ResourceUse { pass, ..*one }).collect();
            let found = infer(&numbered, [1, 2, 1], false, None, next, |pass| pass.to_string());
            assert_eq!(
                (found.inferred, found.decided),
                (inferred, decided),
                "{uses:?} {next:?}"
            );
        }
    }

    #[test]
    fn lifetimes_follow_from_the_order_of_reads_and_writes() {
        use InferredLifetime::{External, History, Transient};
        let discarded = ResourceUse {
            discards: true,
            ..CLEAR
        };
        for (uses, attached, expected) in [
            (&[CLEAR, READ][..], false, Transient),
            (&[discarded], false, Transient),
            (&[CLEAR], true, Transient),
            (&[CLEAR], false, External),
            (&[CLEAR, READ, CLEAR], false, External),
            (&[READ], false, External),
            (&[READ, CLEAR], false, History),
            (&[READ, CLEAR, READ], false, History),
            (&[UPDATE, READ], false, External),
            (&[CLEAR, UPDATE, READ], false, Transient),
            // One level is written, the other is read.
            (&[level(CLEAR, 0), READ], false, External),
            (&[level(CLEAR, 0), level(READ, 0)], false, Transient),
            (
                &[level(CLEAR, 0), level(READ, 0), level(CLEAR, 1), level(READ, 1)],
                false,
                Transient,
            ),
            (
                &[level(READ, 1), level(CLEAR, 0), level(READ, 0)],
                false,
                External,
            ),
            (&[level(READ, 1), CLEAR, level(READ, 0)], false, History),
        ] {
            assert_eq!(found(uses, attached).inferred, expected, "{uses:?}");
        }
    }

    #[test]
    fn a_history_says_which_reads_are_of_the_frame_before() {
        let found = found(&[READ, CLEAR, READ], false);
        assert_eq!(found.previous, [true, false, false]);
        assert_eq!(found.rewrites, [false, false, true]);
        assert_eq!(found.reason, "pass `0` reads it before pass `1` writes it");
    }

    #[test]
    fn what_others_have_is_external_whatever_the_frame_does() {
        let found = infer(
            &[CLEAR, READ],
            [1, 2, 1],
            true,
            Some("an image of a swapchain"),
            &NextPass::Unknown,
            |_| String::new(),
        );
        assert_eq!(
            (found.inferred, &*found.reason),
            (InferredLifetime::External, "an image of a swapchain")
        );
    }
}
