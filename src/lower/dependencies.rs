//! Dependencies: every barrier of the frame, and the waits of its batches.
//!
//! ```text
//!                     one device queue                          two device queues
//! inside the frame    a barrier before the later use            the frame's semaphores, and a barrier that chains to them
//! earlier work        a barrier: submission order covers it     a wait for the queue's timeline semaphore, and a barrier
//! ```

use bumpalo::collections::Vec;
use tileheap_units::CompactSort;

use super::chains::Chains;
use super::error::LowerError;
use super::placed::Placed;
use super::resolver::{Dependencies, Resolver};
use super::sharing::Shared;
use super::state::MemoryState;

/// Computes every dependency into `found`, which it clears first, and the state after the frame into `after`, which must be empty.
pub(super) fn dependencies(
    placed: &Placed<'_>,
    shared: &Shared<'_>,
    chains: &Chains,
    before: &MemoryState,
    found: &mut Dependencies,
    after: &mut MemoryState,
) -> Result<(), LowerError> {
    found.barriers.clear();
    found.queue_dependencies.clear();
    found.waits.clear();
    found.clears.clear();
    // One before each epoch, and some after the last.
    let expected = chains.epochs.len() + chains.chains.len() / 4;
    found.barriers.reserve(expected);
    let mut resolver = Resolver {
        placed,
        shared,
        chains,
        before,
        untouched: Vec::new_in(placed.scratch),
        kept_sources: Vec::new_in(placed.scratch),
        found,
        after,
    };
    for chain in &chains.chains {
        resolver.chain_dependencies(chain);
    }
    resolver.first_uses();
    let mut kept = std::mem::replace(&mut resolver.kept_sources, Vec::new_in(placed.scratch));
    kept.compact_sort_by_key(|(chain, _)| *chain);
    let mut kept = kept.into_iter().peekable();
    let mut contents = Vec::from_iter_in(&before.contents, placed.scratch);
    contents.compact_sort_by_key(|state| state.object);
    for (index, chain) in chains.chains.iter().enumerate() {
        resolver.external(chain);
        if let Some((_, source)) = kept.next_if(|(kept, _)| *kept == index) {
            resolver.previous(chain, source, &contents)?;
        }
    }
    resolver.kept_contents();
    Ok(())
}
