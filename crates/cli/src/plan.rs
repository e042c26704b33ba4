//! `tileheap plan`: a frame and a device in, a plan out.

use std::sync::Arc;

use ash::vk;
use tileheap::frame::import::{self, Imported};
use tileheap::frame::{ResourceId, Weights};
use tileheap::measure::{estimate, raw};
use tileheap::plan::{Ladder, NotTile, Plan, PlanOptions, Reason, WindowRule};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

use crate::arguments::{PlanArguments, Sizes, What};
use crate::failure::Failure;
use crate::input::{self, read_text, shown};
use crate::output::Output;
use crate::progress::Progress;

pub(crate) fn run(arguments: &PlanArguments) -> Result<(), Failure> {
    let imported = frame_of(&arguments.what, arguments.what.how.size)?;
    let profile = read_profile(&arguments.what)?;
    let progress = Progress::new("planning", 0);
    let plan = plan_of(&arguments.what, &imported, &profile)?;
    let output = Output::to(arguments.output.clone());
    if arguments.json {
        let document = if arguments.advice {
            progress.say("trying what would help");
            format!("{:#}\n", crate::advise::with_advice(&plan)?)
        } else {
            plan.to_json()
        };
        drop(progress);
        return output.write(&document);
    }
    drop(progress);
    let mut report = plan.to_string();
    append_list(&mut report, "Guessed or ignored in the file", &imported.notes);
    if arguments.what.how.sizes == Sizes::Profile {
        append_list(
            &mut report,
            "Claims of the file that the rules do not bear out",
            &wrong_claims(&imported, &plan),
        );
    }
    output.write_report(&report)
}

/// The device that is planned for.
pub(crate) fn read_profile(what: &What) -> Result<DeviceProfile, Failure> {
    let profile = input::profile(&what.how.profile)?;
    Ok(match what.how.heap {
        Some(size) => profile.with_tile_heap_size(size)?,
        None => profile,
    })
}

/// The plan of a frame as the command line wants it.
pub(crate) fn plan_of(what: &What, imported: &Imported, profile: &DeviceProfile) -> Result<Plan, Failure> {
    let frame = &imported.frame;
    let options = PlanOptions {
        strategy: what.how.strategy,
        budget: what.how.budget.0,
        ..PlanOptions::default()
    };
    let (needs, options) = match what.how.sizes {
        Sizes::Profile => (estimate(frame, profile)?, options),
        Sizes::Raw => {
            let options = PlanOptions {
                windows: WindowRule::WholeFrame,
                lazy: false,
                bin_cost: Bytes::ZERO,
                ladder: Ladder::Always,
                ..options
            };
            (
                raw(frame, profile, &imported.claims, &imported.raw_texel_bytes)?,
                options,
            )
        }
    };
    let options = PlanOptions {
        bin_cost: what.how.bin_cost.unwrap_or(options.bin_cost),
        ladder: what.how.ladder.unwrap_or(options.ladder),
        split: what.how.split,
        ..options
    };
    let profile = Arc::new(profile.clone());
    Ok(tileheap::plan::plan(frame, &Arc::new(needs), &profile, &options)?)
}

/// The frame as the command line wants it: weighed, and with what must be on chip.
pub(crate) fn frame_of(what: &What, extent: Option<(u32, u32)>) -> Result<Imported, Failure> {
    frame_weighed(what, read_frame(&what.frame, extent)?)
}

/// The same of a frame that is read already.
pub(crate) fn frame_weighed(what: &What, mut imported: Imported) -> Result<Imported, Failure> {
    if let Some(path) = &what.how.weights {
        let weights = Weights::from_json(&read_text(path, "weights")?);
        let weighed = weights.and_then(|weights| imported.frame.weighed(&weights));
        imported.frame = weighed.map_err(|error| Failure::of(shown(path), error))?;
    }
    let find_all = |option: &str, names: &[String]| -> Result<Vec<ResourceId>, Failure> {
        let find = |name: &String| {
            let known = imported.frame.resource_named(name);
            known
                .ok_or_else(|| Failure::bad_input(format!("{option} {name}: the frame has no such resource")))
        };
        names.iter().map(find).collect()
    };
    let (pinned, kept_off) = (
        find_all("--pin", &what.how.pin)?,
        find_all("--keep-off", &what.how.keep_off)?,
    );
    if let Some(both) = what.how.pin.iter().find(|name| what.how.keep_off.contains(name)) {
        let why = format!("--pin {both} --keep-off {both}: it cannot be both in tile memory and off it");
        return Err(Failure::bad_input(why));
    }
    imported.frame = imported.frame.with_pinned(&pinned).with_kept_off(&kept_off);
    Ok(imported)
}

/// The frame in a file, native or loose, at another extent if one is given.
pub(crate) fn read_frame(path: &std::path::Path, extent: Option<(u32, u32)>) -> Result<Imported, Failure> {
    frame_from(path, &read_text(path, "frame")?, extent)
}

/// The same from a file's text.
pub(crate) fn frame_from(
    path: &std::path::Path,
    text: &str,
    extent: Option<(u32, u32)>,
) -> Result<Imported, Failure> {
    let extent = extent.map(|(width, height)| vk::Extent2D { width, height });
    import::read(text, extent).map_err(|error| Failure::of(shown(path), error))
}

fn append_list(report: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    *report += &format!("\n{title}\n");
    for line in lines {
        *report += &format!("  {line}\n");
    }
}

/// Where the file says `tile_eligible` and the rules say no, or the other way round.
fn wrong_claims(imported: &Imported, plan: &Plan) -> Vec<String> {
    let frame = &imported.frame;
    let claims = frame.resource_ids().zip(frame.resources()).zip(&imported.claims);
    let wrong = claims.filter_map(|((id, resource), claim)| {
        let ruled = ruled_eligible(plan.resources[id.index()].reason)?;
        let claim = (*claim)?;
        let why = plan.reason_in_words(id);
        match (claim, ruled) {
            (true, false) => Some(format!("`{}` is claimed to be eligible: {why}", resource.name)),
            (false, true) => Some(format!(
                "`{}` is claimed not to be eligible, and the rules admit it",
                resource.name
            )),
            _ => None,
        }
    });
    wrong.collect()
}

/// Whether the rules admit a resource to tile memory; `None` where they were not asked.
fn ruled_eligible(reason: Reason) -> Option<bool> {
    let why = match reason {
        // Better than tile memory: inside one render pass.
        Reason::Unused | Reason::Lazy { .. } => return None,
        Reason::Tile { .. } => return Some(true),
        Reason::External => return Some(false),
        Reason::Arena(why) | Reason::Dedicated(why) => why,
    };
    match why {
        NotTile::NoTileHeap | NotTile::OnePass { .. } | NotTile::Stored { .. } => None,
        NotTile::TooLarge { .. }
        | NotTile::KeptOff { .. }
        | NotTile::NoRoom { .. }
        | NotTile::NotWorth { .. } => Some(true),
        _ => Some(false),
    }
}
