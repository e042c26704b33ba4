//! Random frames from a seed: plausible, always valid, the same on every machine. For benchmarks and property tests.
//!
//! ```text
//! batch        graphics                      compute                graphics
//! passes       render0 render1 transfer2     compute3 compute4      render5 … render last
//! writes       4 colors, depth  …           storage                the swapchain image
//! reads             └── recent, unread and sometimes old results of earlier passes ──┘
//! ```
//! Every pass reads a few results of earlier passes and makes up to five new resources, such that the total numbers match the description. With
//! several queues, a pass reads only what semaphores order before it.

mod desc;
mod draft;
mod generator;
mod passes;

use super::*;
pub use desc::SyntheticDesc;
use generator::Generator;

/// A plausible frame generated from `seed`.
///
/// It has render, compute and transfer passes; G-buffers with depth, chains, resolves, input attachments, blending, storage
/// images and buffers, history, externals; several command buffers, batches and submits; semaphores between queues.
///
/// # Panics
/// If the frame is not valid, which would be a bug here or in the validation.
pub fn synthetic(seed: u64, desc: SyntheticDesc) -> Frame {
    let desc = SyntheticDesc {
        passes: desc.passes.max(2),
        resources: desc.resources.max(4),
        batches: desc.batches.clamp(1, desc.passes.max(2)),
        queues: desc.queues.max(1),
        ..desc
    };
    let mut generator = Generator::new(seed, desc);
    let mut passes = 0;
    for batch in 0..desc.batches {
        let end = desc.passes * (batch + 1) / desc.batches;
        generator.batch(batch, passes..end);
        passes = end;
    }
    let frame = generator.frame.build();
    frame.unwrap_or_else(|fault| {
        panic!("synthetic frames are valid, but seed {seed} with {desc:?} is not: {fault}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tables::HistoryVersion;
    use crate::units::{Span, Step};

    #[test]
    fn frames_have_everything_that_planners_meet() {
        let desc = SyntheticDesc {
            passes: 256,
            resources: 400,
            batches: 12,
            queues: 2,
            ..SyntheticDesc::default()
        };
        let frame = synthetic(1, desc);
        for kind in AccessKind::ALL {
            // Nothing here writes indices or storage texels, shades tiles, or has a density map.
            let absent = matches!(
                kind,
                AccessKind::IndexBuffer
                    | AccessKind::StorageTexelBuffer
                    | AccessKind::TileAttachment
                    | AccessKind::FragmentDensityMap
            );
            let used = frame.accesses().iter().any(|access| access.kind == kind);
            assert_eq!(used, !absent, "{kind:?}");
        }
        assert!(!frame.semaphores().is_empty());
        assert!(frame.submits().iter().any(|submit| submit.batches.len() > 1));
        assert!(
            frame
                .batches()
                .iter()
                .any(|batch| batch.command_buffers.len() > 1)
        );
        assert!(
            frame
                .resources()
                .iter()
                .any(|resource| resource.persistence == Persistence::History)
        );
        assert!(
            frame
                .accesses()
                .iter()
                .any(|access| access.version == HistoryVersion::Previous)
        );
        let lifetimes = frame.resource_ids().map(|id| frame.lifetime_of(id));
        let lifetimes: Vec<Span> = lifetimes.collect();
        let live = |step| {
            lifetimes
                .iter()
                .filter(|lifetime| lifetime.contains(Step(step)))
                .count()
        };
        let peak = (0..256).map(live).max().unwrap();
        assert!((20..=120).contains(&peak), "{peak} alive at once");
    }
}
