//! Arrangements: frames rearranged to keep more traffic on chip, found by a search or read from JSON.

use ash::vk;
use std::ffi::c_void;
use std::ops::ControlFlow;

use tileheap::arrange::{self, Arrangement, ArrangementCosts, SearchOptions, SearchResult};
use tileheap::execute::ExecutedFrame;
use tileheap::plan::Plan;
use tileheap::units::{Bytes, Run};

use crate::boundary::run;
use crate::enums::{FromNumber, ReportFormat, SearchFlag, known_bits};
use crate::frame::FrameObject;
use crate::handles::{Handle, object};
use crate::opaque::*;
use crate::origins::DescribedPass;
use crate::status::{Fault, Status};
use crate::strings::{StringView, needed_text};
use crate::structs::{self, begin, put, read_optional, sized, write};
use crate::text::put_text;
use crate::vulkan::{ReportFormatValue, SearchFlags};
use tileheap::frame::Frame;

sized! { Input: SearchDesc to user_data; }
sized! { Output: ArrangementInfo to steps; ArrangementArrays to resources; }

object!(ArrangementT, ArrangementObject: Arrangement);

/// An arrangement that a search found, or that a document describes.
pub struct ArrangementObject {
    pub(crate) described: Frame,
    pub(crate) rows: ArrangementRows,
}

/// Called with the traffic of the best arrangement so far, on the searching thread. Returning `VK_FALSE` ends the search, which then returns that
/// arrangement. The callback must neither throw nor `longjmp`.
pub type SearchCallback =
    Option<unsafe extern "C" fn(traffic: *const Traffic, data: *mut c_void) -> vk::Bool32>;

/// Limits on a search. All zeros are the defaults.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SearchDesc {
    /// `sizeof(ThSearchDesc)`.
    pub struct_size: u32,
    /// Bits of `ThSearchFlag`; 0 for order, merge, fuse and strips.
    pub allow: SearchFlags,
    /// The maximum number of computed texels, as a multiple of the number in the described frame; 0 for 1.5.
    pub shaded: f64,
    /// The cost of one more execution of a pass, in bytes of traffic, which replaces the costs of the passes and of the profile; 0 to use their costs.
    pub repeat_bytes: u64,
    /// The maximum number of frames to evaluate; 0 for 20,000.
    pub steps: u64,
    /// Called with the best traffic so far before each arrangement is evaluated; or null.
    pub progress: SearchCallback,
    /// The second argument of `progress`.
    pub user_data: *mut c_void,
}

/// Memory traffic of a frame, in bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Traffic {
    /// The traffic of all resources of the described frame with nothing in tile memory.
    pub described: u64,
    /// The traffic that remains off chip, without the costs below.
    pub moved: u64,
    /// The cost of repeated passes.
    pub repeats: u64,
    /// The traffic of the halos of strips.
    pub halos: u64,
    /// The cost of merged passes.
    pub merges: u64,
    /// The number of computed texels, as a multiple of the number in the described frame.
    pub shaded: f64,
    /// The share of `described` that stays on chip, after deducting the costs; 1 for all of it.
    pub share: f64,
}

/// The traffic of a frame as described and as arranged, and the result of the search.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArrangementInfo {
    /// `sizeof(ThArrangementInfo)`.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// The traffic of the frame as described.
    pub described: Traffic,
    /// The traffic of the arranged frame.
    pub arranged: Traffic,
    /// An upper bound on `share` for strips: passes that read anywhere in an image cannot run in strips with the passes that write it.
    pub cap: f64,
    /// The number of frames that the search evaluated.
    pub steps: u64,
}

/// A pass of the arranged frame.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArrangedPass {
    /// The described passes that the pass runs, a run of `ThArrangementArrays::described`: several if passes were merged, none if it copies an image
    /// into a strip or out of one, which is a store in the tables.
    pub described: Run,
    /// The index of the strip that the pass computes; also 0 if it computes all of its image.
    pub strip: u32,
    /// The number of strips; 1 if the pass computes all of its image.
    pub strip_count: u32,
    /// The area that the pass computes, halo included, in texels of the described image; empty for all of its image.
    pub area: vk::Rect2D,
    /// The texel of the described image that is texel (0, 0) of the images that the pass writes.
    pub origin: vk::Offset2D,
    /// The distance that the area reaches beyond the strip's own part, in texels.
    pub halo: u32,
}

/// A resource of the arranged frame.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArrangedResource {
    /// The index of the resource in the described frame.
    pub described: u32,
    /// The position of this resource's first texel in the described resource, in texels.
    pub origin: vk::Offset2D,
}

/// Maps the arranged frame back to the described one, as arrays that are valid until the arrangement is destroyed.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArrangementArrays {
    /// `sizeof(ThArrangementArrays)`.
    pub struct_size: u32,
    /// The number of elements of `passes`.
    pub pass_count: u32,
    /// Per pass of the arranged frame, the described passes that it runs.
    pub passes: *const ArrangedPass,
    /// The number of elements of `described`.
    pub described_count: u32,
    /// The number of elements of `resources`.
    pub resource_count: u32,
    /// Described passes; each row of `passes` has a run of them.
    pub described: *const DescribedPass,
    /// Per resource of the arranged frame, its origin in the described frame.
    pub resources: *const ArrangedResource,
}

/// An arrangement, its frame, and the arrays that C reads.
pub struct ArrangementRows {
    found: SearchResult,
    arranged: ExecutedFrame,
    passes: Vec<ArrangedPass>,
    described: Vec<DescribedPass>,
    resources: Vec<ArrangedResource>,
}

impl ArrangementRows {
    fn of(found: SearchResult, arranged: ExecutedFrame) -> ArrangementRows {
        let (mut passes, mut described) = (Vec::new(), Vec::new());
        for pass in arranged.frame().pass_ids() {
            let first = described.len() as u32;
            described.extend(arranged.described_passes(pass).map(|run| DescribedPass {
                pass: run.pass.index() as u32,
                subpass: run.subpass,
            }));
            let strip = arranged.strip(pass);
            passes.push(ArrangedPass {
                described: Run::new(first, described.len() as u32),
                strip: strip.map_or(0, |strip| strip.number),
                strip_count: strip.map_or(1, |strip| strip.count),
                area: strip.map_or(vk::Rect2D::default(), |strip| strip.area),
                origin: strip.map_or(vk::Offset2D::default(), |strip| strip.origin),
                halo: strip.map_or(0, |strip| strip.halo),
            });
        }
        let resources = arranged.frame().resource_ids().map(|resource| ArrangedResource {
            described: arranged.origins().resource(resource).resource.index() as u32,
            origin: arranged.first_texel(resource),
        });
        ArrangementRows {
            resources: resources.collect(),
            found,
            arranged,
            passes,
            described,
        }
    }
}

impl Traffic {
    fn of(traffic: &tileheap::plan::Traffic) -> Traffic {
        Traffic {
            described: traffic.described.0,
            moved: traffic.moved.0,
            repeats: traffic.repeats.0,
            halos: traffic.halos.0,
            merges: traffic.merges.0,
            shaded: traffic.shaded,
            share: traffic.share(),
        }
    }
}

unsafe fn create(to: *mut ArrangementHandle, plan: &Plan, found: SearchResult) -> Result<(), Fault> {
    let described = plan.input.frame().clone();
    let arranged = found.apply(plan)?;
    let rows = ArrangementRows::of(found, arranged);
    let handle = ArrangementHandle::create(ArrangementObject { described, rows })?;
    // SAFETY: null or writable.
    unsafe { put(to, handle, "arrangement") }
}

/// Searches for an arrangement of a planned frame that keeps more of its traffic on chip: passes in another order, merged passes, fused batches and
/// strips. `plan` is a plan of the described frame. The arranged frame (`thCreateArrangedFrame`) is planned like any other.
///
/// The search takes milliseconds to seconds; `ThSearchDesc::progress` can end it. `desc` may be null for the defaults.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateArrangement")]
pub unsafe extern "C" fn create_arrangement(
    plan: PlanHandle,
    desc: *const SearchDesc,
    arrangement: *mut ArrangementHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateArrangement", error, || {
        // SAFETY: null or writable.
        unsafe { begin(arrangement, "arrangement") }?;
        let plan = &plan.get("plan")?.plan;
        // SAFETY: null, or the caller's structure.
        let desc = unsafe { read_optional(desc) }?;
        let mut allowed = SearchOptions {
            costs: ArrangementCosts::of(&plan.profile),
            ..SearchOptions::default()
        };
        if let Some(desc) = &desc {
            allow(&mut allowed, desc).map_err(|fault| fault.within("ThSearchDesc"))?;
        }
        let progress = desc.and_then(|desc| Some((desc.progress?, desc.user_data)));
        let found = arrange::search(plan, &allowed, &mut |traffic| {
            let goes_on = progress.is_none_or(|(progress, user_data)| {
                // SAFETY: the caller's function, with its own data.
                unsafe { progress(&Traffic::of(traffic), user_data) != vk::FALSE }
            });
            if goes_on {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        // SAFETY: not null; the caller lets it be written.
        unsafe { create(arrangement, plan, found) }
    })
}

fn allow(allowed: &mut SearchOptions, desc: &SearchDesc) -> Result<(), Fault> {
    use SearchFlag::*;
    let all = [Order, Merge, Fuse, Strips, Format, Extent, Usage]
        .iter()
        .fold(0, |all, flag| all | *flag as u32);
    known_bits(desc.allow, all, "ThSearchFlag", "allow")?;
    if desc.allow != 0 {
        let has = |flag: SearchFlag| desc.allow & flag as u32 != 0;
        (allowed.order, allowed.merge, allowed.fuse) = (has(Order), has(Merge), has(Fuse));
        (allowed.strips, allowed.format, allowed.extent) = (has(Strips), has(Format), has(Extent));
        allowed.usage = has(Usage);
    }
    match desc.shaded {
        0.0 => {}
        shaded if shaded >= 1.0 && shaded.is_finite() => allowed.shaded = shaded,
        shaded => {
            let message = format!("is {shaded}: it must be 0 or at least 1");
            return Err(Fault::argument(message).within("shaded"));
        }
    }
    if desc.repeat_bytes > 0 {
        allowed.costs.repeat = Some(Bytes(desc.repeat_bytes));
    }
    if desc.steps > 0 {
        allowed.steps = desc.steps;
    }
    Ok(())
}

/// Reads an arrangement from JSON, as `thCreateArrangementText` and `tileheap plan --save-arrangement` write it.
///
/// Fails with `TH_STATUS_ERROR_INVALID_DOCUMENT` if the text is not an arrangement, and with `TH_STATUS_ERROR_CANNOT_ARRANGE` if the frame cannot
/// run this way.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateArrangementFromJson")]
pub unsafe extern "C" fn create_arrangement_from_json(
    plan: PlanHandle,
    json: StringView,
    arrangement: *mut ArrangementHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateArrangementFromJson", error, || {
        // SAFETY: null or writable.
        unsafe { begin(arrangement, "arrangement") }?;
        let plan = &plan.get("plan")?.plan;
        // SAFETY: the caller's text.
        let text = unsafe { needed_text(json, "json") }?;
        let read = Arrangement::from_json(text, plan.input.frame())?;
        let found = SearchResult::of(plan, read, ArrangementCosts::of(&plan.profile))?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { create(arrangement, plan, found) }
    })
}

/// Returns the traffic of the described and of the arranged frame.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetArrangementInfo")]
pub unsafe extern "C" fn get_arrangement_info(
    arrangement: ArrangementHandle,
    info: *mut ArrangementInfo,
    error: ErrorHandle,
) -> Status {
    run("thGetArrangementInfo", error, || {
        let object = arrangement.get("arrangement")?;
        let found = &object.rows.found;
        let value = ArrangementInfo {
            struct_size: 0,
            reserved: 0,
            described: Traffic::of(&found.described),
            arranged: Traffic::of(&found.traffic),
            cap: found.cap(),
            steps: found.steps,
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(info, value) }
    })
}

/// Creates the arranged frame, to be measured and planned; destroy it with `thDestroyFrame`. Its first resources are the described ones.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateArrangedFrame")]
pub unsafe extern "C" fn create_arranged_frame(
    arrangement: ArrangementHandle,
    frame: *mut FrameHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateArrangedFrame", error, || {
        // SAFETY: null or writable.
        unsafe { begin(frame, "frame") }?;
        let object = arrangement.get("arrangement")?;
        let handle = FrameHandle::create(FrameObject::new(object.rows.arranged.clone()))?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(frame, handle, "frame") }
    })
}

/// Returns the arrays that map the arranged frame back to the described one. They are valid until the arrangement is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetArrangement")]
pub unsafe extern "C" fn get_arrangement(
    arrangement: ArrangementHandle,
    arrays: *mut ArrangementArrays,
    error: ErrorHandle,
) -> Status {
    run("thGetArrangement", error, || {
        let object = arrangement.get("arrangement")?;
        let rows = &object.rows;
        let value = ArrangementArrays {
            struct_size: 0,
            pass_count: rows.passes.len() as u32,
            passes: structs::rows(&rows.passes),
            described: structs::rows(&rows.described),
            described_count: rows.described.len() as u32,
            resource_count: rows.resources.len() as u32,
            resources: structs::rows(&rows.resources),
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(arrays, value) }
    })
}

/// Writes an arrangement as text, which lists the batches and their groups of passes, or as JSON. Destroy the text with `thDestroyText`.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateArrangementText")]
pub unsafe extern "C" fn create_arrangement_text(
    arrangement: ArrangementHandle,
    format: ReportFormatValue,
    text: *mut TextHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateArrangementText", error, || {
        let object = arrangement.get("arrangement")?;
        let format = ReportFormat::from_number(format, "format")?;
        let arrangement = &object.rows.found.arrangement;
        let written = || {
            Ok(match format {
                ReportFormat::Text => arrangement.in_words(&object.described),
                ReportFormat::Json => arrangement.to_json(&object.described),
            })
        };
        // SAFETY: null or writable.
        unsafe { put_text(text, written) }
    })
}

/// Destroys an arrangement. Its frame stays valid. A null handle is ignored.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyArrangement")]
pub extern "C" fn destroy_arrangement(arrangement: ArrangementHandle) -> Status {
    run("thDestroyArrangement", std::ptr::null_mut(), || {
        arrangement.destroy()
    })
}
