//! Tracks the contents of every image and buffer, step by step.

use super::checker::Checker;
use super::error::LoweringRule;
use super::parts::Part;
use super::sites::{Site, SiteSpace};
use crate::frame::PassId;
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::units::Bytes;

/// The state of the contents of an image or buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Last written by a pass; `None` for earlier work, the caller, or a clear before the first use.
    Holds(Option<PassId>),
    /// Undefined, for this reason.
    Lost(String),
}

/// The reason for initially missing contents.
const NEVER_WRITTEN: &str = "nothing in the frame has written them";

/// The contents of every part of every image and of every buffer; for tile memory, per queue.
pub(super) struct Contents {
    objects: Vec<ImageOrBuffer>,
    /// The state of each part on each queue; parts with the same texels share the state of the first.
    states: Vec<Vec<State>>,
    /// Per part, true if anything has written it, even if the contents have been lost since; parts with the same texels use the flag of the first.
    written: Vec<bool>,
}

impl Contents {
    /// The state before anything is written.
    pub(super) fn new(checker: &Checker<'_>) -> Contents {
        let queues = checker.lowering_desc.queues.len();
        Contents {
            objects: checker.objects().collect(),
            states: vec![vec![State::Lost(NEVER_WRITTEN.to_owned()); checker.parts.len()]; queues],
            written: vec![false; checker.parts.len()],
        }
    }

    /// The state of a part; outside tile memory, it is the same on every queue.
    fn state(&mut self, checker: &Checker<'_>, queue: DeviceQueueIndex, part: Part) -> &mut State {
        let tile = matches!(Site::of(checker, part.object, queue).place, SiteSpace::Tile(_));
        let queue = if tile { queue.0 as usize } else { 0 };
        &mut self.states[queue][checker.parts.with_same_texels(part).index]
    }

    /// Marks the contents as defined from here on, written by a pass or by work before the frame.
    pub(super) fn define(
        &mut self,
        checker: &Checker<'_>,
        queue: DeviceQueueIndex,
        part: Part,
        by: Option<PassId>,
    ) {
        *self.state(checker, queue, part) = State::Holds(by);
        self.written[checker.parts.with_same_texels(part).index] = true;
    }

    /// Returns true if a part has been written so far: by earlier work, the caller, a pass or a clear.
    pub(super) fn is_written(&self, checker: &Checker<'_>, part: Part) -> bool {
        self.written[checker.parts.with_same_texels(part).index]
    }

    /// Marks the contents as undefined from here on. The first of several losses is kept.
    pub(super) fn lose(&mut self, checker: &Checker<'_>, queue: DeviceQueueIndex, part: Part, loss: String) {
        let state = self.state(checker, queue, part);
        if !matches!(state, State::Lost(before) if before != NEVER_WRITTEN) {
            *state = State::Lost(loss);
        }
    }

    /// The reason why the contents are undefined, if they are.
    pub(super) fn loss(
        &mut self,
        checker: &Checker<'_>,
        queue: DeviceQueueIndex,
        part: Part,
    ) -> Option<String> {
        match self.state(checker, queue, part) {
            State::Holds(_) => None,
            State::Lost(loss) => Some(loss.clone()),
        }
    }

    /// Checks that a pass finds what `writer` wrote. Missing contents are reported once and treated as defined afterwards.
    pub(super) fn check_needed(
        &mut self,
        checker: &mut Checker<'_>,
        queue: DeviceQueueIndex,
        part: Part,
        pass: PassId,
        writer: Option<PassId>,
    ) {
        let loss = match self.state(checker, queue, part) {
            State::Holds(by) if *by == writer => return,
            State::Holds(Some(by)) => overwritten(checker, part.object, *by),
            State::Holds(None) => NEVER_WRITTEN.to_owned(),
            State::Lost(loss) => loss.clone(),
        };
        *self.state(checker, queue, part) = State::Holds(writer);
        let (pass, resource) = (checker.pass(pass), checker.name_of(part.object));
        let message = format!("pass `{pass}` needs the contents of `{resource}`: {loss}");
        checker.report(LoweringRule::Contents, message);
    }

    /// Applies an action command on `queue`: the contents of tile memory outside the bound object become undefined.
    pub(super) fn apply_action(
        &mut self,
        checker: &Checker<'_>,
        queue: DeviceQueueIndex,
        pass: PassId,
        bound: Option<Bytes>,
    ) {
        for object in self.objects.clone() {
            let site = Site::of(checker, object, queue);
            if site.place != SiteSpace::Tile(queue) {
                continue;
            }
            let pass = checker.pass(pass);
            let loss = match bound {
                None => format!("pass `{pass}` ran with no tile memory bound"),
                Some(bound) if site.end > bound.0 => {
                    let end = Bytes(site.end);
                    format!(
                        "pass `{pass}` ran with {bound} of tile memory bound, but the contents extend to {end}"
                    )
                }
                Some(_) => continue,
            };
            self.lose_held(checker, queue, object, &loss);
        }
    }

    /// Ends a discard window on `queue`.
    pub(super) fn end_window(&mut self, checker: &Checker<'_>, queue: DeviceQueueIndex, last: PassId) {
        for object in self.objects.clone() {
            let site = Site::of(checker, object, queue);
            if site.place == SiteSpace::Tile(queue) {
                let last = checker.pass(last);
                let loss = format!(
                    "the contents were in tile memory when the discard window ended after pass `{last}`"
                );
                self.lose_held(checker, queue, object, &loss);
            }
        }
    }

    /// Marks the contents of all parts of an object as lost; parts whose contents were lost before keep their earlier reason.
    fn lose_held(
        &mut self,
        checker: &Checker<'_>,
        queue: DeviceQueueIndex,
        object: ImageOrBuffer,
        loss: &str,
    ) {
        for part in checker.parts.of(object) {
            let state = self.state(checker, queue, part);
            if let State::Holds(_) = state {
                *state = State::Lost(loss.to_owned());
            }
        }
    }

    /// Marks the contents of all other objects that share memory with `writer` as lost when `writer` is written or changes its layout, and returns these
    /// objects. All their parts are lost, since the position of a part of an image within its bytes is not known.
    pub(super) fn overwrite(
        &mut self,
        checker: &Checker<'_>,
        queue: DeviceQueueIndex,
        writer: Part,
        pass: PassId,
    ) -> Vec<ImageOrBuffer> {
        let site = Site::of(checker, writer.object, queue);
        let granularity = checker.device.profile.limits.buffer_image_granularity;
        let mut victims = Vec::new();
        for object in self.objects.clone() {
            let other = Site::of(checker, object, queue);
            if checker.parts.first_alias(object) != checker.parts.first_alias(writer.object)
                && other.aliases(site, granularity)
            {
                for part in checker.parts.of(object) {
                    self.lose(checker, queue, part, overwritten(checker, writer.object, pass));
                }
                victims.push(object);
            }
        }
        victims
    }
}

fn overwritten(checker: &Checker<'_>, by: ImageOrBuffer, pass: PassId) -> String {
    let (by, pass) = (checker.name_of(by), checker.pass(pass));
    format!("`{by}` reused the bytes at pass `{pass}`")
}
