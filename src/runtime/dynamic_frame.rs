//! A frame whose description may change every time; existing objects are reused.

use std::sync::Arc;

use ash::vk;

use super::bound_frame::{BoundFrame, KeptHistories};
use super::device::Device;
use super::error::RuntimeRule;
use super::progress::FrameNumber;
use super::selected_frame::SelectedFrame;
use super::series::Series;
use super::use_stamp::UseStamp;
use crate::execute::ExecutedFrame;
use crate::frame::{BuiltDescription, FrameBuilder, ResourceId};
use crate::lower::Parity;
use crate::plan::{Plan, PlanOptions};
use crate::units::Bytes;
use crate::{Checked, Result};

/// Number of frames after which a description that was not selected again is dropped.
const IDLE_FRAMES: u64 = 1024;

/// The interval, in frames, at which unused descriptions and objects are collected.
const COLLECT_EVERY: u64 = 64;

/// A frame whose description may change every time: passes are added and removed, images change their size.
///
/// Each description is planned and bound once. All of them share the same blocks of memory, since their frames run one after another, and images and
/// buffers that are identical; a new description creates only objects that none before had. Histories are identified by name: one that the new
/// description declares in the same way as an older one keeps its contents, whatever other descriptions were used in between (its usage and queue
/// families have to be the same or fewer; [`ImageDesc::usage`](crate::frame::ImageDesc::usage) may declare more than a description needs).
///
/// With [`Capabilities::DEBUG_UTILS`](super::Capabilities::DEBUG_UTILS), objects that several descriptions share have the names of the most recently
/// selected description, so that a capture of a frame shows the names of that frame.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::frame::FrameBuilder;
/// # use tileheap::plan::PlanOptions;
/// # use tileheap::runtime::*;
/// # fn describe(builder: &mut FrameBuilder, shadows: bool) {}
/// # fn f(tile: &Device, extent: vk::Extent2D, shadows: bool) -> tileheap::Result<()> {
/// let mut frames = tile.dynamic_frame(PlanOptions::default())?;
/// let mut builder = FrameBuilder::default();
/// loop {
///     builder.reset("main", extent);
///     describe(&mut builder, shadows);
///     let bound = frames.select(&builder)?;
///     // SAFETY: nothing is imported.
///     let recorder = unsafe { bound.begin(&Imports::default()) }?;
///     // … record …
///     // SAFETY: no other thread uses the queues at the same time.
///     let number = unsafe { recorder.submit() }?;
///     frames.wait(number, u64::MAX)?; // before its command buffers are used again
/// }
/// # }
/// ```
pub struct DynamicFrame {
    pub(super) device: Device,
    options: PlanOptions,
    pub(super) series: Arc<Series>,
    cached: Vec<CachedFrame>,
    /// The device queue of the first bound frame; without timelines, all others run there too.
    queue: Option<vk::Queue>,
    /// Number of times that a frame was selected.
    selections: u64,
    /// The number of the bound frame whose debug names the shared objects have.
    named_frame: u64,
    /// The most recently selected bound frame: `last_index` is its index in `cached`, `last_number` its number, and `selected_stamp` the stamp of the selection.
    last_index: usize,
    last_number: Option<u64>,
    pub(super) selected_stamp: UseStamp,
}

/// A frame to select.
#[derive(Clone, Copy)]
enum Source<'a> {
    Described(&'a FrameBuilder),
    Executed(&'a ExecutedFrame),
}

/// A frame that was selected.
enum CachedSource {
    Described(Box<BuiltDescription>),
    Executed(ExecutedFrame),
}

/// A description, its plan, and its bound frame. A description with several histories may occur twice, with the copies of some of them swapped.
struct CachedFrame {
    digest: u64,
    source: CachedSource,
    options: PlanOptions,
    plan: Arc<Checked<Plan>>,
    /// The bound frame; `None` after a larger block has replaced one of its blocks, until the description is selected again.
    bound: Option<BoundFrame>,
    /// The frame's histories while it is not bound.
    histories: Option<KeptHistories>,
    /// The value of `selections` when the frame was last selected.
    last_selection: u64,
}

impl Device {
    /// A frame whose description may change every time; see [`DynamicFrame`].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn dynamic_frame(&self, options: PlanOptions) -> Result<DynamicFrame> {
        Ok(DynamicFrame {
            device: self.clone(),
            options,
            series: self.series()?,
            cached: Vec::new(),
            queue: None,
            selections: 0,
            named_frame: 0,
            last_index: 0,
            last_number: None,
            selected_stamp: UseStamp::default(),
        })
    }
}

impl Source<'_> {
    /// A number that is the same for equal frames.
    fn digest(self) -> u64 {
        match self {
            Source::Described(description) => description.digest(),
            Source::Executed(executed) => executed.frame().accesses().len() as u64,
        }
    }

    fn is_like(self, known: &CachedSource) -> bool {
        match (self, known) {
            (Source::Described(description), CachedSource::Described(known)) => known.is_like(description),
            (Source::Executed(executed), CachedSource::Executed(known)) => known == executed,
            _ => false,
        }
    }

    fn to_executed(self) -> Result<ExecutedFrame> {
        Ok(match self {
            Source::Described(description) => ExecutedFrame::as_described(&description.to_frame()?),
            Source::Executed(executed) => executed.clone(),
        })
    }

    /// The source of a planned frame, for comparison with others.
    fn to_cached(self, plan: &Plan) -> CachedSource {
        match self {
            Source::Described(description) => {
                let built = BuiltDescription::new(description, plan.input.described());
                CachedSource::Described(Box::new(built))
            }
            Source::Executed(executed) => CachedSource::Executed(executed.clone()),
        }
    }
}

impl CachedFrame {
    fn is_for(&self, digest: u64, source: Source<'_>, options: &PlanOptions) -> bool {
        self.digest == digest && self.options == *options && source.is_like(&self.source)
    }
}

impl DynamicFrame {
    /// Changes the options for planning descriptions from now on; frames bound with other options stay known.
    pub fn set_options(&mut self, options: PlanOptions) {
        self.options = options;
    }

    /// Drops the bound frame of a description, so that it is planned and bound again when it is next selected: for example, because [`Device::plan`]
    /// has found a better plan meanwhile. Its memory and objects stay in the pool for a while.
    pub fn forget(&mut self, description: &FrameBuilder) {
        self.forget_source(Source::Described(description));
    }

    /// Like [`DynamicFrame::forget`], for a frame that was selected with [`DynamicFrame::select_executed`].
    pub fn forget_executed(&mut self, executed: &ExecutedFrame) {
        self.forget_source(Source::Executed(executed));
    }

    fn forget_source(&mut self, source: Source<'_>) {
        let digest = source.digest();
        self.cached
            .retain(|known| !known.is_for(digest, source, &self.options));
    }

    /// Discards cached objects of an external image view, before the caller destroys the view: like [`BoundFrame::forget_view`], for all descriptions.
    ///
    /// # Safety
    /// No frame that uses the view is in flight.
    pub unsafe fn forget_view(&mut self, view: vk::ImageView) {
        for bound in self.cached.iter_mut().filter_map(|known| known.bound.as_mut()) {
            // SAFETY: the caller's duty.
            unsafe { bound.forget_view(view) };
        }
    }

    /// Returns the bound frame of a description: reuses it, or plans ([`Device::plan`]) and binds the description.
    ///
    /// Finding one to reuse takes a comparison, and allocates nothing. When a frame needs a larger block of memory than all before, the smaller block
    /// is released with everything bound to it: each of its frames is bound in the larger block when it is next selected, and then has a new
    /// [`BoundFrame::number`].
    ///
    /// Selecting a different description than last time may change debug names, and `vkSetDebugUtilsObjectNameEXT` requires that no other
    /// thread uses the object meanwhile. So if debug names are enabled, other threads must not use objects of its bound frames to record
    /// commands, create objects or update descriptors during this call.
    ///
    /// # Errors
    /// Like [`FrameBuilder::build`], [`Device::plan`] and [`Device::bind`]; existing bound frames are kept.
    pub fn select(&mut self, description: &FrameBuilder) -> Result<SelectedFrame<'_>> {
        self.select_source(Source::Described(description), false)
    }

    /// Like [`DynamicFrame::select`], but an unknown description is planned immediately ([`Device::plan_now`]).
    ///
    /// # Errors
    /// Same as [`DynamicFrame::select`].
    pub fn select_now(&mut self, description: &FrameBuilder) -> Result<SelectedFrame<'_>> {
        self.select_source(Source::Described(description), true)
    }

    /// Like [`DynamicFrame::select`], but for an existing frame, such as an [arrangement](crate::arrange) of a described one. Its
    /// passes are those to record, except for copies at the border of strips, which are recorded with them.
    ///
    /// A clone of a frame that was selected before is recognized without comparing its contents.
    ///
    /// # Errors
    /// As [`Device::plan`] and [`Device::bind`]; existing bound frames are kept.
    pub fn select_executed(&mut self, executed: &ExecutedFrame) -> Result<SelectedFrame<'_>> {
        self.select_source(Source::Executed(executed), false)
    }

    /// Like [`DynamicFrame::select_executed`], but an unknown frame is planned immediately ([`Device::plan_now`]).
    ///
    /// # Errors
    /// Same as [`DynamicFrame::select_executed`].
    pub fn select_executed_now(&mut self, executed: &ExecutedFrame) -> Result<SelectedFrame<'_>> {
        self.select_source(Source::Executed(executed), true)
    }

    /// Selects a frame. An unknown frame is planned exactly or, if `now` is true, without waiting for the search.
    fn select_source(&mut self, source: Source<'_>, now: bool) -> Result<SelectedFrame<'_>> {
        self.selections += 1;
        self.last_number = None;
        if self.selections % COLLECT_EVERY == 0 {
            self.cached
                .retain(|known| known.last_selection + IDLE_FRAMES > self.selections);
            self.device.collect()?;
        }
        let digest = source.digest();
        let (mut found, mut planned) = (None, None);
        for (index, known) in self.cached.iter().enumerate() {
            if known.is_for(digest, source, &self.options) {
                let bound = known.bound.as_ref();
                if let Some(parity) = bound.and_then(BoundFrame::parity_for_histories) {
                    found = Some((index, parity));
                    break;
                }
                planned = Some(known.plan.clone());
            }
        }
        let (index, parity) = match (found, planned) {
            (Some(found), _) => found,
            (None, Some(plan)) => self.bind(digest, source, plan)?,
            (None, None) => {
                let executed = source.to_executed()?;
                let plan = match now {
                    true => self.device.plan_now(&executed, &self.options),
                    false => self.device.plan(&executed, &self.options),
                }?;
                self.bind(digest, source, plan)?
            }
        };
        let known = &mut self.cached[index];
        let bound = known.bound.as_mut().expect("the frame was found or bound above");
        (known.last_selection, bound.next_parity) = (self.selections, parity);
        (self.last_index, self.last_number) = (index, Some(bound.number));
        bound.stamp = UseStamp::next();
        self.selected_stamp = bound.stamp;
        if self.named_frame != bound.number {
            bound.name_objects();
            self.named_frame = bound.number;
        }
        Ok(bound.into())
    }

    /// Binds a description that is unknown, or known only with its histories in a different state.
    fn bind(&mut self, digest: u64, source: Source<'_>, plan: Arc<Checked<Plan>>) -> Result<(usize, Parity)> {
        // Binding renames the borrowed objects, even if it fails later.
        self.named_frame = 0;
        let mut bound = self.device.bind_for(&plan, &self.series, &[])?;
        let parity = match bound.parity_for_histories() {
            Some(parity) => parity,
            None => {
                let swapped: Vec<ResourceId> = bound.histories_for(Parity::Odd).collect();
                bound = self.device.bind_for(&plan, &self.series, &swapped)?;
                bound.parity_for_histories().unwrap_or_default()
            }
        };
        let queue = bound.queues.first().map(|queue| queue.handle);
        let counted = self.device.state().functions.timeline_semaphore.is_some();
        if !counted && self.queue.is_some() && queue != self.queue {
            return Err(RuntimeRule::QueuesWithoutTimelines.broken(format!(
                "frame `{}` would run on a different device queue than earlier frames: enable timeline semaphores, or use the same queue",
                plan.frame.name()
            )));
        }
        self.queue = queue;
        for known in &mut self.cached {
            if let Some(bound) = known.bound.take_if(|bound| bound.is_superseded()) {
                known.histories = bound.keep_histories();
                // Releases the smaller block; the device may use it until its last frame is complete.
                bound.retire();
            }
        }
        let options = self.options;
        self.cached
            .retain(|known| known.bound.is_some() || !known.is_for(digest, source, &options));
        self.cached.push(CachedFrame {
            digest,
            source: source.to_cached(bound.plan()),
            options,
            plan: bound.plan().clone(),
            bound: Some(bound),
            histories: None,
            last_selection: self.selections,
        });
        Ok((self.cached.len() - 1, parity))
    }

    /// The most recently selected bound frame; `None` before the first selection, after one that failed, and once its description is
    /// [forgotten](DynamicFrame::forget).
    pub fn last_selected(&self) -> Option<&BoundFrame> {
        let number = self.last_number?;
        let is_it = |bound: &&BoundFrame| bound.number == number;
        let there = self
            .cached
            .get(self.last_index)
            .and_then(|known| known.bound.as_ref());
        there.filter(is_it).or_else(|| self.bound().find(is_it))
    }

    pub(super) fn last_bound_mut(&mut self) -> Option<&mut BoundFrame> {
        let number = self.last_number?;
        let is_it = |known: &CachedFrame| known.bound.as_ref().is_some_and(|bound| bound.number == number);
        let index = match self.cached.get(self.last_index) {
            Some(known) if is_it(known) => self.last_index,
            _ => self.cached.iter().position(is_it)?,
        };
        self.cached[index].bound.as_mut()
    }

    /// Removes and returns all bound frames; drops all other cached data.
    pub(super) fn take_bound(&mut self) -> impl Iterator<Item = BoundFrame> {
        std::mem::take(&mut self.cached)
            .into_iter()
            .filter_map(|known| known.bound)
    }

    /// All bound frames.
    pub fn bound(&self) -> impl Iterator<Item = &BoundFrame> {
        self.cached.iter().filter_map(|known| known.bound.as_ref())
    }

    /// Bytes of ordinary memory that the descriptions of this dynamic frame share.
    pub fn bytes(&self) -> Bytes {
        let borrower = Some(self.series.borrower.number);
        self.device.state().pool.lock().bytes(borrower)
    }

    /// The newest frame that is complete on the device, whatever its description, along with all frames before it; `None` before the first.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn completed(&self) -> Result<Option<FrameNumber>> {
        self.series.progress().completed(self.device.state())
    }

    /// Waits until `frame` is complete on the device, for at most `timeout` nanoseconds; false if time ran out.
    ///
    /// # Errors
    /// When the device is lost, or the frame was not submitted.
    pub fn wait(&self, frame: FrameNumber, timeout: u64) -> Result<bool> {
        self.series
            .shared_progress()
            .wait(self.device.state(), frame, timeout)
    }
}
