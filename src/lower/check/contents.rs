//! Contents: what every image and buffer holds, step by step.

use super::checker::Checker;
use super::replay_errors::{ContentsError, ContentsLoss};
use super::sites::{Place, Site};
use crate::frame::PassId;
use crate::lower::tables::{DeviceQueueIndex, Object};
use crate::units::Bytes;

/// What an image or buffer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// What a pass wrote last; `None` for earlier work, the caller, or a clear before the first use.
    Holds(Option<PassId>),
    Lost(ContentsLoss),
}

/// What every image and buffer holds; of tile memory, on every queue.
pub(super) struct Contents {
    objects: Vec<Object>,
    /// Per queue and object.
    states: Vec<Vec<State>>,
    /// Per object, the first one of the same resource in the same bytes: they share their contents.
    shared: Vec<usize>,
}

impl Contents {
    /// Nothing is written yet.
    pub(super) fn new(checker: &Checker<'_>) -> Contents {
        let objects: Vec<Object> = checker.objects().collect();
        let site = |object| Site::of(checker, object, DeviceQueueIndex(0));
        let same = |a: usize, b: usize| {
            let (a, b) = (objects[a], objects[b]);
            let tile = matches!(site(a).place, Place::Tile(_));
            tile && checker.resource_of(a) == checker.resource_of(b) && site(a) == site(b)
        };
        let first = |index| (0..index).find(|&other| same(other, index)).unwrap_or(index);
        let queues = checker.situation.queues.len();
        Contents {
            states: vec![vec![State::Lost(ContentsLoss::NeverWritten); objects.len()]; queues],
            shared: (0..objects.len()).map(first).collect(),
            objects,
        }
    }

    fn index(&self, object: Object) -> usize {
        let index = self.objects.iter().position(|&other| other == object);
        self.shared[index.expect("every object is listed")]
    }

    /// Where the state of an object is: what is not in tile memory is the same on every queue.
    fn state(&mut self, site: Site, object: Object) -> &mut State {
        let queue = match site.place {
            Place::Tile(queue) => queue.0 as usize,
            Place::Memory(_) | Place::Caller(_) => 0,
        };
        let index = self.index(object);
        &mut self.states[queue][index]
    }

    /// Whether two objects share their contents: they are one, or images of one resource in the same bytes.
    fn share(&self, a: Object, b: Object) -> bool {
        self.index(a) == self.index(b)
    }

    /// The contents are whole from here on, written by a pass or by what came before the frame.
    pub(super) fn define(&mut self, site: Site, object: Object, by: Option<PassId>) {
        *self.state(site, object) = State::Holds(by);
    }

    /// The contents are undefined from here on. Of several losses the first is remembered.
    pub(super) fn lose(&mut self, site: Site, object: Object, loss: ContentsLoss) {
        let state = self.state(site, object);
        if let State::Holds(_) | State::Lost(ContentsLoss::NeverWritten) = state {
            *state = State::Lost(loss);
        }
    }

    /// Why the contents are undefined, if they are.
    pub(super) fn loss(&mut self, site: Site, object: Object) -> Option<ContentsLoss> {
        match self.state(site, object) {
            State::Holds(_) => None,
            State::Lost(loss) => Some(loss.clone()),
        }
    }

    /// A pass needs what `writer` wrote. What is missing is reported once and taken for whole afterwards.
    pub(super) fn need(
        &mut self,
        checker: &mut Checker<'_>,
        site: Site,
        object: Object,
        pass: PassId,
        writer: Option<PassId>,
    ) {
        let loss = match self.state(site, object) {
            State::Holds(by) if *by == writer => return,
            State::Holds(Some(by)) => ContentsLoss::Overwritten {
                by: checker.name_of(object),
                pass: checker.pass(*by),
            },
            State::Holds(None) => ContentsLoss::NeverWritten,
            State::Lost(loss) => loss.clone(),
        };
        *self.state(site, object) = State::Holds(writer);
        let (pass, resource) = (checker.pass(pass), checker.name_of(object));
        checker.report(ContentsError::Lost { pass, resource, loss });
    }

    /// An action command on `queue`: tile memory outside of what is bound forgets.
    pub(super) fn act(
        &mut self,
        checker: &Checker<'_>,
        queue: DeviceQueueIndex,
        pass: PassId,
        bound: Option<Bytes>,
    ) {
        for object in self.objects.clone() {
            let site = Site::of(checker, object, queue);
            if site.place != Place::Tile(queue) {
                continue;
            }
            let pass = checker.pass(pass);
            match bound {
                None => self.lose_held(site, object, ContentsLoss::Unbound { pass }),
                Some(bound) if site.end > bound.0 => {
                    let end = Bytes(site.end);
                    self.lose_held(site, object, ContentsLoss::BoundTooSmall { pass, bound, end });
                }
                Some(_) => {}
            }
        }
    }

    /// The end of a discard window on `queue`.
    pub(super) fn end_window(&mut self, checker: &Checker<'_>, queue: DeviceQueueIndex, last: PassId) {
        for object in self.objects.clone() {
            let site = Site::of(checker, object, queue);
            if site.place == Place::Tile(queue) {
                let last = checker.pass(last);
                self.lose_held(site, object, ContentsLoss::WindowEnded { last });
            }
        }
    }

    /// Loses what there is.
    fn lose_held(&mut self, site: Site, object: Object, loss: ContentsLoss) {
        let state = self.state(site, object);
        if let State::Holds(_) = state {
            *state = State::Lost(loss);
        }
    }

    /// The objects that lose their bytes when `writer` writes, or changes its layout.
    pub(super) fn overwrite(
        &mut self,
        checker: &Checker<'_>,
        queue: DeviceQueueIndex,
        writer: Object,
        pass: PassId,
    ) -> Vec<Object> {
        let site = Site::of(checker, writer, queue);
        let granularity = checker.device.profile.limits.buffer_image_granularity;
        let mut victims = Vec::new();
        for object in self.objects.clone() {
            let other = Site::of(checker, object, queue);
            if !self.share(object, writer) && other.aliases(site, granularity) {
                let (by, pass) = (checker.name_of(writer), checker.pass(pass));
                self.lose(other, object, ContentsLoss::Overwritten { by, pass });
                victims.push(object);
            }
        }
        victims
    }
}
