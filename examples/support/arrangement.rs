//! Other arrangements of a frame: searched for, recorded, and compared with the frame as described.

use std::ops::ControlFlow;

use ash::vk;
use clap::ValueEnum;
use tileheap::arrange::{Allowed, Arrangement, Way, search};
use tileheap::execute::{Executed, Strip};
use tileheap::frame::{CommandBufferId, PassId};
use tileheap::plan::{Plan, PlanOptions, Strategy};
use tileheap::runtime::{FrameRecorder, PassCommands};

use super::error::{Result, differ};
use super::picture::Rendered;

/// The arguments that ask for another arrangement.
#[derive(Clone, Debug, clap::Args)]
pub struct BestArgs {
    /// Searches for a better arrangement of the frame (passes in another order, merged, in fewer batches, in strips), and runs that
    #[arg(long)]
    pub best: bool,
    /// With --best: what may change, all unless something is named
    #[arg(long, value_name = "CHANGE", value_delimiter = ',', requires = "best")]
    pub allow: Vec<Change>,
}

/// What a search for a better arrangement may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Change {
    Order,
    Merge,
    Fuse,
    Strips,
}

/// A described pass in a pass of the frame that runs.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Its place among all.
    pub number: usize,
    pub pass: PassId,
    pub described: PassId,
    /// Of the whole image, where the pass does not run in strips.
    pub strip: Strip,
}

/// What runs, in order; merged passes have several. `whole` is all of what a described pass computes.
pub fn runs(arranged: &Executed, whole: impl Fn(PassId) -> Strip) -> impl Iterator<Item = Run> {
    let passes = arranged.frame().pass_ids();
    let each = passes.flat_map(|pass| arranged.described_passes(pass).map(move |run| (pass, run)));
    each.enumerate().map(move |(number, (pass, run))| Run {
        number,
        pass,
        described: run.pass,
        strip: run.strip.unwrap_or_else(|| whole(run.pass)),
    })
}

/// Records all that runs: each declared command buffer into the one that `buffer` gives for it, each run by `draw`.
///
/// # Safety
/// As for [`FrameRecorder::record`].
pub unsafe fn record(
    recorder: &FrameRecorder<'_>,
    arranged: &Executed,
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

/// The best arrangement of a planned frame; prints what runs otherwise, and what that brings.
pub fn best(plan: &Plan, allow: &[Change]) -> Arrangement {
    let allows = |change| allow.is_empty() || allow.contains(&change);
    let allowed = Allowed {
        order: allows(Change::Order),
        merge: allows(Change::Merge),
        fuse: allows(Change::Fuse),
        strips: allows(Change::Strips),
        ..Allowed::default()
    };
    let found = search(plan, &allowed, &mut |_| ControlFlow::Continue(()));
    let [described, arranged] = [found.described, found.traffic].map(|traffic| traffic.share() * 100.0);
    println!("{described:.1} % of traffic on chip as described, {arranged:.1} % as arranged:");
    println!("{}", found.arrangement.in_words(plan.described()));
    found.arrangement
}

/// The same options with every resource in ordinary memory of its own.
pub fn apart(options: PlanOptions) -> PlanOptions {
    PlanOptions {
        strategy: Strategy::Off,
        aliasing: false,
        lazy: false,
        ..options
    }
}

/// Compares what an arrangement rendered with the frame as described.
///
/// # Errors
/// If texels differ: more than a thousandth of them in strips, which draw at other origins, where rasterization may round otherwise.
pub fn compare(arrangement: &Arrangement, rendered: &Rendered, plain: &Rendered) -> Result<()> {
    let (texels, of) = (rendered.different_texels(plain), rendered.texels.len() / 4);
    let mut groups = arrangement.groups();
    let has_strips = groups.any(|group| matches!(group.way, Way::Strips(_)));
    let limit = if has_strips { of / 1000 } else { 0 };
    println!("{texels} of {of} texels differ from the frame as described; at most {limit} may");
    match texels <= limit {
        true => Ok(()),
        false => Err(differ(texels, of)),
    }
}
