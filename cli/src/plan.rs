//! `tileheap plan`: a frame and a device in, a plan out.

use std::sync::Arc;

use ash::vk;
use tileheap::frame::import::{self, Imported};
use tileheap::plan::{NotTile, Plan, PlanOptions, Reason, WindowRule};
use tileheap::profile::{estimate, raw};
use tileheap::units::Bytes;

use crate::arguments::{PlanArguments, Sizes};
use crate::failure::Failure;
use crate::input::{self, read_text, shown};
use crate::output::Output;

pub(crate) fn run(arguments: &PlanArguments) -> Result<(), Failure> {
    let mut profile = input::profile(&arguments.profile)?;
    if let Some(size) = arguments.heap {
        profile = profile.with_tile_heap_size(size)?;
    }
    let imported = read_frame(&arguments.frame, arguments.size)?;
    let profile = Arc::new(profile);
    let frame = &imported.frame;
    let (needs, options) = match arguments.sizes {
        Sizes::Profile => {
            let options = PlanOptions {
                strategy: arguments.strategy,
                ..PlanOptions::default()
            };
            (estimate(frame, &profile)?, options)
        }
        Sizes::Raw => {
            let options = PlanOptions {
                strategy: arguments.strategy,
                windows: WindowRule::WholeFrame,
                aliasing: true,
                lazy: false,
                bin_cost: Bytes::ZERO,
                ..PlanOptions::default()
            };
            (
                raw(frame, &profile, &imported.claims, &imported.raw_texel_bytes)?,
                options,
            )
        }
    };
    let plan = tileheap::plan::plan(frame, &Arc::new(needs), &profile, &options)?;
    let output = Output::to(arguments.output.clone());
    if arguments.json {
        return output.write(&plan.to_json());
    }
    let mut report = plan.to_string();
    append_list(&mut report, "Guessed or ignored in the file", &imported.notes);
    if arguments.sizes == Sizes::Profile {
        append_list(
            &mut report,
            "Claims of the file that the rules do not bear out",
            &wrong_claims(&imported, &plan),
        );
    }
    output.write_report(&report)
}

/// The frame in a file, native or loose, at another extent if one is given.
pub(crate) fn read_frame(path: &std::path::Path, extent: Option<(u32, u32)>) -> Result<Imported, Failure> {
    let text = read_text(path, "frame")?;
    let extent = extent.map(|(width, height)| vk::Extent2D { width, height });
    import::read(&text, extent).map_err(|error| Failure::of(shown(path), error))
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
        NotTile::NoTileHeap | NotTile::OnePass { .. } => None,
        NotTile::TooLarge { .. } | NotTile::NoRoom { .. } => Some(true),
        _ => Some(false),
    }
}
