//! Reads and plans a frame as the options specify.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ash::vk;
use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum, ValueHint};
use tileheap::Checked;
use tileheap::execute::ExecutedFrame;
use tileheap::frame::import::{self, ImportedFrame};
use tileheap::frame::weights::Weights;
use tileheap::frame::{Frame, Persistence, ReachAssumptions, ResourceId};
use tileheap::measure::{estimate, estimate_unpadded};
use tileheap::plan::{DEFAULT_BUDGET, Ladder, Plan, PlanOptions, ResidencyStrategy, WindowRule};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

use super::profile;
use crate::error::{Error, Result};
use crate::input::{is_stdin, read_text, shown};
use crate::progress::Progress;
use crate::values::{Budget, named, parse_bytes, parse_extent};

/// A frame, and how it is planned.
#[derive(Clone, Debug, Args)]
pub(crate) struct FrameArguments {
    /// The frame as JSON: a document with "format": "tileheap-frame", or the loose form that the guide describes (docs/guide/frame_json.md); - for
    /// standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) frame: PathBuf,
    #[command(flatten)]
    pub(crate) options: FrameOptions,
}

/// Options for planning a frame for a device.
#[derive(Clone, Debug, Args)]
pub(crate) struct FrameOptions {
    /// The device: a name (see `tileheap profile --help`) or a profile as JSON [default: adreno-830]
    #[arg(long, value_name = "NAME|FILE", hide_possible_values = true, value_parser = profile::NameOrFile)]
    pub(crate) profile: Option<String>,
    /// The device if `profile` is `None`: that of a baseline.
    #[arg(skip)]
    pub(crate) default_profile: Option<DeviceProfile>,
    /// The size of the tile heap, instead of the device's: 8355840, 18MiB, 8.5MB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_negative_numbers = true)]
    pub(crate) heap: Option<Bytes>,
    /// The base extent, which determines the size of scaled images, instead of the frame's own
    #[arg(long, value_name = "WxH", value_parser = parse_extent)]
    pub(crate) size: Option<(u32, u32)>,
    /// Strategy that chooses the resources in tile memory
    #[arg(long, default_value = ResidencyStrategy::Optimal.name(), value_parser = strategies())]
    pub(crate) strategy: ResidencyStrategy,
    /// Source of the sizes of resources
    #[arg(long, value_enum, default_value_t)]
    pub(crate) sizes: Sizes,
    /// Limit the search to a number of steps; `none` searches until the plan is proved optimal
    #[arg(long, value_name = "STEPS|none", default_value_t = Budget(DEFAULT_BUDGET))]
    pub(crate) steps: Budget,
    /// Cost of each additional bin in a render pass, in bytes of traffic per frame; by default the profile's measured cost or else the model's, which is
    /// 0 with --sizes raw
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) bin_cost: Option<Bytes>,
    /// When to use a ladder: several tile memory objects of different sizes, of which each pass binds one that is just large enough [default: auto; with --sizes raw, always]
    #[arg(long, value_parser = ladders())]
    pub(crate) ladder: Option<Ladder>,
    /// Split lifetimes: keep the first part in tile memory if that saves more than storing the resource afterwards costs; only with --strategy optimal
    #[arg(long)]
    pub(crate) split: bool,
    /// Use measured savings per pass and resource from a JSON file ("format": "tileheap-weights"), instead of the model's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) weights: Option<PathBuf>,
    /// Plan the frame even if the device cannot run it, and list the rules that it breaks
    #[arg(long)]
    pub(crate) ignore_unsupported: bool,
    #[command(flatten)]
    pub(crate) assumed: AssumedReach,
    /// Place a resource in tile memory, or fail with the rule that forbids it; may be repeated
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) pin: Vec<String>,
    /// Never place a resource in tile memory; may be repeated
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) exclude: Vec<String>,
}

/// Assumptions about a frame's reads.
#[derive(Clone, Debug, Args)]
pub(crate) struct AssumedReach {
    /// Read assumptions from a JSON file: how far from its own pixel each read reaches, which buffers hold a list for each tile, and the cost of repeating each pass. The file covers one frame,
    /// or several by file name. Every pass can then run in strips
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    assume_reach: Option<PathBuf>,
}

impl AssumedReach {
    /// Applies the assumptions for the frame of a file, which are found by the file's name or, for standard input, by the frame's own name.
    pub(crate) fn apply(&self, file: &Path, imported: &mut ImportedFrame) -> Result<()> {
        let Some(path) = &self.assume_reach else {
            return Ok(());
        };
        let name = match file.file_name() {
            Some(name) if !is_stdin(file) => name.to_string_lossy().into_owned(),
            _ => imported.frame.name().to_owned(),
        };
        let reaches = ReachAssumptions::from_json(&read_text(path, "assumed reach")?, &name);
        let assumed = reaches.and_then(|reaches| imported.frame.with_reaches(&reaches));
        imported.frame = assumed.map_err(|error| Error::of(shown(path), error))?;
        Ok(())
    }
}

/// The source of the sizes of resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sizes {
    /// The device profile's estimates
    #[default]
    Profile,
    /// Width x height x bytes per texel, with the file's own eligibility and the whole frame as one discard window; only for comparison with published results
    Raw,
}

impl FrameArguments {
    pub(crate) fn plan(&self) -> Result<(ImportedFrame, Checked<Plan>)> {
        let imported = self.frame_from(&read_text(&self.frame, "frame")?, self.options.size)?;
        let profile = self.options.read_profile()?;
        let _progress = Progress::new("planning", 0);
        let plan = self.options.plan(&imported, &profile)?;
        Ok((imported, plan))
    }

    /// Reads the frame from its file's text, and applies the options to it; `extent`, if given, replaces its base extent.
    pub(crate) fn frame_from(&self, text: &str, extent: Option<(u32, u32)>) -> Result<ImportedFrame> {
        let profile = self.options.profile.as_deref().unwrap_or_default();
        if is_stdin(&self.frame) && is_stdin(Path::new(profile)) {
            return Err(Error::usage(
                "frame and profile cannot both come from standard input: give one as a file",
            ));
        }
        let mut imported = frame_from(&self.frame, text, extent)?;
        self.options.assumed.apply(&self.frame, &mut imported)?;
        self.options.apply(imported)
    }
}

/// The device that frames are planned for by default.
const DEFAULT_PROFILE: &str = "adreno-830";

impl FrameOptions {
    pub(crate) fn read_profile(&self) -> Result<DeviceProfile> {
        let profile = match (&self.profile, &self.default_profile) {
            (Some(given), _) => profile::read(given)?,
            (None, Some(default)) => default.clone(),
            (None, None) => profile::read(DEFAULT_PROFILE)?,
        };
        let Some(size) = self.heap else {
            return Ok(profile);
        };
        let least = profile
            .tile
            .map_or(Bytes::ZERO, |tile| Bytes(tile.block.bytes.get()));
        if size > Bytes::ZERO && size < least {
            return Err(Error::usage(format!(
                "--heap {size}: the tile heap of `{}` must have at least {least}: a number without a unit is in bytes; write, for example, 8MiB",
                profile.name
            )));
        }
        Ok(profile.with_tile_heap_size(size)?)
    }

    /// The rules that a frame breaks on the device, if it is planned despite them (`--ignore-unsupported`); otherwise none.
    pub(crate) fn ignored_rules(&self, frame: &Frame) -> Result<Vec<String>> {
        if !self.ignore_unsupported {
            return Ok(Vec::new());
        }
        let broken = frame.violations_on(&self.read_profile()?);
        Ok(broken.iter().map(ToString::to_string).collect())
    }

    /// Plans a frame after separating the values of its resources (see [`with_values`]). Fails if the frame breaks rules on the device, unless
    /// `--ignore-unsupported` is given.
    pub(crate) fn plan(&self, imported: &ImportedFrame, profile: &DeviceProfile) -> Result<Checked<Plan>> {
        reject_unsupported(&imported.frame, &self.frame_limits(profile))?;
        let executed = with_values(&imported.frame, &self.frame_limits(profile))?;
        self.plan_executed(&executed, imported, profile)
    }

    /// The device profile, without its limits on frames if `--ignore-unsupported` is given.
    fn frame_limits(&self, profile: &DeviceProfile) -> DeviceProfile {
        match self.ignore_unsupported {
            true => profile.clone().without_frame_limits(),
            false => profile.clone(),
        }
    }

    /// Plans `executed`, a rewritten frame; `imported` contains the frame as described.
    pub(super) fn plan_executed(
        &self,
        executed: &ExecutedFrame,
        imported: &ImportedFrame,
        profile: &DeviceProfile,
    ) -> Result<Checked<Plan>> {
        let (frame, profile) = (executed.frame(), &self.frame_limits(profile));
        let options = PlanOptions {
            strategy: self.strategy,
            budget: self.steps.0,
            split: self.split,
            ..PlanOptions::default()
        };
        let (needs, options) = match self.sizes {
            Sizes::Profile => (estimate(frame, profile)?, options),
            Sizes::Raw => {
                let options = PlanOptions {
                    windows: WindowRule::WholeFrame,
                    lazy: false,
                    bin_cost: Bytes::ZERO,
                    ladder: Ladder::Always,
                    ..options
                };
                let claims = of_parts(executed, &imported.claims);
                let texel_bytes = of_parts(executed, &imported.raw_texel_bytes);
                let needs = estimate_unpadded(frame, profile, &claims, &texel_bytes)?;
                (needs, options)
            }
        };
        let measured = profile.costs.and_then(|costs| costs.bin);
        let options = PlanOptions {
            bin_cost: self.bin_cost.or(measured).unwrap_or(options.bin_cost),
            ladder: self.ladder.unwrap_or(options.ladder),
            ..options
        };
        let profile = Arc::new(profile.clone());
        let plan = tileheap::plan::plan(executed, &Arc::new(needs), &profile, &options)?;
        plan.check().map_err(tileheap::Error::from)?;
        Ok(plan)
    }

    /// Applies weights, `--pin` and `--exclude` to a frame.
    fn apply(&self, mut imported: ImportedFrame) -> Result<ImportedFrame> {
        if let Some(path) = &self.weights {
            let weights = Weights::from_json(&read_text(path, "weights")?);
            let weighed = weights.and_then(|weights| imported.frame.with_weights(&weights));
            imported.frame = weighed.map_err(|error| Error::of(shown(path), error))?;
        }
        let find_all = |option: &str, names: &[String]| -> Result<Vec<ResourceId>> {
            let find = |name: &String| {
                let known = imported.frame.resource_named(name);
                known.ok_or_else(|| {
                    let whole = name.rsplit_once(" (value ").map(|(whole, _)| whole);
                    let whole = whole.filter(|whole| imported.frame.resource_named(whole).is_some());
                    Error::usage(match whole {
                        Some(whole) => format!(
                            "{option} {name}: {option} applies to whole resources; {option} {whole} keeps all values of \
                             `{whole}` in one place"
                        ),
                        None => format!("{option} {name}: the frame has no such resource"),
                    })
                })
            };
            names.iter().map(find).collect()
        };
        let pinned = find_all("--pin", &self.pin)?;
        let excluded = find_all("--exclude", &self.exclude)?;
        if let Some(name) = self.pin.iter().find(|name| self.exclude.contains(name)) {
            let message = format!("`{name}` cannot have both --pin and --exclude");
            return Err(Error::usage(message));
        }
        imported.frame = imported.frame.with_pinned(&pinned).with_excluded(&excluded);
        Ok(imported)
    }
}

/// The frame in which each value of a resource is separate, if the device has a tile heap and can run that frame; otherwise only transient resources are
/// divided.
///
/// The divided values of an external or history resource need memory in addition to the resource's own, so it is divided only if they may be on chip.
pub(crate) fn with_values(frame: &Frame, profile: &DeviceProfile) -> Result<ExecutedFrame> {
    let itself = ExecutedFrame::as_described(frame);
    let is_transient = |id: ResourceId| frame.resource(id).persistence == Persistence::Transient;
    let all = itself.separate_values_of(|id| profile.tile.is_some() || is_transient(id))?;
    if all.frame().violations_on(profile).is_empty() {
        return Ok(all);
    }
    Ok(itself.separate_values_of(is_transient)?)
}

/// Returns the facts about each resource of the executed frame: those about the described resource that it is a part of.
pub(super) fn of_parts<T: Clone + Default>(executed: &ExecutedFrame, described: &[T]) -> Vec<T> {
    let parts = executed.frame().resource_ids();
    let origins = parts.map(|id| executed.origins().resource(id).resource);
    origins
        .map(|id| described.get(id.index()).cloned().unwrap_or_default())
        .collect()
}

/// Maximum number of broken rules in a message.
const MAX_LISTED_RULES: usize = 4;

/// Fails if a frame breaks rules on a device; the error lists the first few of them, each with the first resource or pass that breaks it.
fn reject_unsupported(frame: &Frame, profile: &DeviceProfile) -> Result<()> {
    let broken = frame.violations_on(profile);
    if broken.is_empty() {
        return Ok(());
    }
    let mut rules = BTreeSet::new();
    let first_of_rule = broken.iter().filter(|usage| rules.insert(usage.row));
    let told: Vec<String> = first_of_rule
        .take(MAX_LISTED_RULES)
        .map(ToString::to_string)
        .collect();
    let more = match broken.len() - told.len() {
        0 => String::new(),
        more => format!("; and {more} more violations, which --ignore-unsupported lists"),
    };
    Err(Error::new(format!(
        "`{}` cannot run the frame: {}{more}: use another --profile, or plan it anyway with --ignore-unsupported",
        profile.name,
        told.join("; ")
    )))
}

/// Reads a native or loose frame description from text; `extent`, if given, replaces its base extent.
pub(crate) fn frame_from(path: &Path, text: &str, extent: Option<(u32, u32)>) -> Result<ImportedFrame> {
    let extent = extent.map(|(width, height)| vk::Extent2D { width, height });
    import::read(text, extent).map_err(|error| Error::of(shown(path), error))
}

fn ladders() -> impl TypedValueParser<Value = Ladder> {
    let description = |ladder| match ladder {
        Ladder::Off => "One object for each run of overlapping lifetimes",
        Ladder::Auto => {
            "Several objects if the model estimates a lower binning cost; only with --strategy optimal"
        }
        Ladder::Always => "Several objects wherever that binds fewer bytes",
    };
    named(Ladder::ALL, Ladder::name, Some(description))
}

fn strategies() -> impl TypedValueParser<Value = ResidencyStrategy> {
    let description = |strategy| match strategy {
        ResidencyStrategy::Optimal => {
            "Maximum savings, by a search that proves optimality or reports a bound"
        }
        ResidencyStrategy::Greedy => {
            "The best of several greedy orders, such as by savings per byte and step"
        }
        ResidencyStrategy::Fast => "A single greedy order: by savings per byte and step",
        ResidencyStrategy::FirstCome => {
            "As in Qualcomm's sample: in declaration order, with the whole heap always bound"
        }
        ResidencyStrategy::Off => "No tile memory",
    };
    named(ResidencyStrategy::ALL, ResidencyStrategy::name, Some(description))
}
