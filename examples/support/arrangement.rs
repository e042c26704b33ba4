//! Other arrangements of a frame: search, recording, and comparison with the frame as described.

use std::ops::ControlFlow;

use ash::vk;
use clap::ValueEnum;
use tileheap::arrange::{Arrangement, GroupMode, SearchOptions, search};
use tileheap::execute::{ExecutedFrame, Strip};
use tileheap::frame::{CommandBufferId, PassId};
use tileheap::plan::{Plan, PlanOptions, ResidencyStrategy};
use tileheap::runtime::{FrameRecorder, PassCommands};

use super::error::{Result, differ};
use super::picture::Rendered;

/// The arguments that select another arrangement.
#[derive(Clone, Debug, clap::Args)]
pub struct BestArgs {
    /// Searches for a better arrangement of the frame (passes in another order, merged, in fewer batches, in strips), and runs it
    #[arg(long)]
    pub best: bool,
    /// With --best: the allowed changes [default: all]
    #[arg(long, value_name = "CHANGE", value_delimiter = ',', requires = "best")]
    pub allow: Vec<Change>,
}

/// A change that a search for a better arrangement may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Change {
    Order,
    Merge,
    Fuse,
    Strips,
}

/// A run of a described pass within an executed pass.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The index of this run among all runs.
    pub number: usize,
    pub pass: PassId,
    pub described: PassId,
    /// The strip that this run renders: the whole image if the pass does not run in strips.
    pub strip: Strip,
}

/// The runs of described passes, in order of execution: a merged pass contains several. `whole` returns the whole output of a described pass.
pub fn runs(arranged: &ExecutedFrame, whole: impl Fn(PassId) -> Strip) -> impl Iterator<Item = Run> {
    let passes = arranged.frame().pass_ids();
    let each = passes.flat_map(|pass| arranged.described_passes(pass).map(move |run| (pass, run)));
    each.enumerate().map(move |(number, (pass, run))| Run {
        number,
        pass,
        described: run.pass,
        strip: run.strip.unwrap_or_else(|| whole(run.pass)),
    })
}

/// Records all runs: each declared command buffer into the one that `buffer` returns for it, each run with `draw`.
///
/// # Safety
/// As for [`FrameRecorder::record`].
pub unsafe fn record(
    recorder: &FrameRecorder<'_>,
    arranged: &ExecutedFrame,
    runs: &[Run],
    mut buffer: impl FnMut(CommandBufferId) -> vk::CommandBuffer,
    mut draw: impl FnMut(&PassCommands<'_>, &Run),
) -> Result<()> {
    let declared = |run: &Run| arranged.frame().pass(run.pass).command_buffer;
    for runs in runs.chunk_by(|one, next| declared(one) == declared(next)) {
        let declared = declared(&runs[0]);
        // SAFETY: the caller's duty.
        let mut recording = unsafe { recorder.record(buffer(declared), declared) }?;
        for runs in runs.chunk_by(|one, next| one.pass == next.pass) {
            recording.pass(runs[0].pass, |cmd| {
                for (number, run) in runs.iter().enumerate() {
                    if number > 0 {
                        cmd.next_subpass();
                    }
                    draw(cmd, run);
                }
            })?;
        }
        recording.finish()?;
    }
    Ok(())
}

/// The best arrangement of a planned frame; prints its changes and savings.
pub fn best(plan: &Plan, allow: &[Change]) -> Arrangement {
    let allows = |change| allow.is_empty() || allow.contains(&change);
    let allowed = SearchOptions {
        order: allows(Change::Order),
        merge: allows(Change::Merge),
        fuse: allows(Change::Fuse),
        strips: allows(Change::Strips),
        ..SearchOptions::default()
    };
    let found = search(plan, &allowed, &mut |_| ControlFlow::Continue(()));
    let [described, arranged] = [found.described, found.traffic].map(|traffic| traffic.share() * 100.0);
    println!("{described:.1} % of traffic on chip as described, {arranged:.1} % as arranged:");
    println!("{}", found.arrangement.in_words(plan.described()));
    found.arrangement
}

/// The same options, but with each resource in separate ordinary memory.
pub fn apart(options: PlanOptions) -> PlanOptions {
    PlanOptions {
        strategy: ResidencyStrategy::Off,
        aliasing: false,
        lazy: false,
        ..options
    }
}

/// Compares the picture of an arrangement with that of the frame as described.
///
/// # Errors
/// If texels differ: in strips, if more than a thousandth do, since draws at other origins may be rasterized with different rounding.
pub fn compare(arrangement: &Arrangement, rendered: &Rendered, plain: &Rendered) -> Result<()> {
    let (texels, of) = (rendered.different_texels(plain), rendered.texels.len() / 4);
    let mut groups = arrangement.groups();
    let has_strips = groups.any(|group| matches!(group.mode, GroupMode::Strips(_)));
    let limit = if has_strips { of / 1000 } else { 0 };
    println!("{texels} of {of} texels differ from the frame as described; at most {limit} may");
    match texels <= limit {
        true => Ok(()),
        false => Err(differ(texels, of)),
    }
}
