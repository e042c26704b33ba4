//! Batches in the order in which they can run: one that waits for a value that nothing submitted so far signals is kept until then,
//! with all behind it on its queue.

use std::collections::{HashMap, VecDeque};

use ash::vk;
use tileheap_layer::batches::SemaphoreUse;

use super::record::{Hazard, Point};
use super::scopes::first_scope;
use super::state::{Logs, Running, State};
use crate::model::position::Submit;

/// A batch of the application.
#[derive(Debug)]
pub(crate) struct OrderedBatch {
    pub(crate) submit: Submit,
    pub(crate) family: u32,
    /// Contents do not survive it.
    pub(crate) window: u64,
    pub(crate) waits: Vec<SemaphoreUse>,
    pub(crate) logs: Logs,
    pub(crate) signals: Vec<SemaphoreUse>,
    pub(crate) fence: vk::Fence,
}

impl OrderedBatch {
    /// One without command buffers.
    pub(crate) fn empty(submit: Submit) -> OrderedBatch {
        OrderedBatch {
            submit,
            family: 0,
            window: submit.number << 16,
            waits: Vec::new(),
            logs: Vec::new(),
            signals: Vec::new(),
            fence: vk::Fence::null(),
        }
    }
}

/// How many batches of a queue wait for a value before they are taken as they are: it may come from elsewhere.
const KEPT: usize = 64;

/// How many values of a semaphore are told apart.
const VALUES: usize = 64;

/// The order of all that a device does.
#[derive(Debug, Default)]
pub(crate) struct Order {
    state: State,
    /// The values of timeline semaphores that were signaled or will be, in order; none of other semaphores.
    timelines: HashMap<vk::Semaphore, Vec<u64>>,
    kept: Vec<(vk::Queue, VecDeque<OrderedBatch>)>,
}

impl Order {
    /// A timeline semaphore with its initial value.
    pub(crate) fn create_timeline(&mut self, semaphore: vk::Semaphore, value: u64) {
        self.timelines.insert(semaphore, vec![value]);
    }

    /// The handle may become another's.
    pub(crate) fn destroy_semaphore(&mut self, semaphore: vk::Semaphore) {
        self.timelines.remove(&semaphore);
        self.state
            .drop_tokens(|point| matches!(point, Point::Semaphore(same, _) if same == semaphore));
    }

    /// The signal that a wait for a value is for: the lowest value that reaches it.
    fn reached(&self, semaphore: vk::Semaphore, value: u64) -> Option<u64> {
        match self.timelines.get(&semaphore) {
            None => Some(0),
            Some(values) => values.iter().copied().find(|signaled| *signaled >= value),
        }
    }

    fn add_value(&mut self, semaphore: vk::Semaphore, value: u64) {
        if let Some(values) = self.timelines.get_mut(&semaphore) {
            let at = values.partition_point(|known| *known < value);
            values.insert(at, value);
            values.drain(..values.len().saturating_sub(VALUES));
        }
    }

    /// A batch is submitted: the hazards in it, and in those that waited for it.
    pub(crate) fn submit(&mut self, batch: OrderedBatch) -> Vec<Hazard> {
        let queue = vk::Handle::from_raw(batch.submit.queue);
        match self.kept.iter_mut().find(|(known, _)| *known == queue) {
            Some((_, kept)) => kept.push_back(batch),
            None => self.kept.push((queue, VecDeque::from([batch]))),
        }
        self.go_on()
    }

    fn go_on(&mut self) -> Vec<Hazard> {
        let mut hazards = Vec::new();
        let mut goes_on = true;
        while std::mem::take(&mut goes_on) {
            for index in 0..self.kept.len() {
                while let Some(batch) = self.next_of(index) {
                    self.run(batch, &mut hazards);
                    goes_on = true;
                }
            }
        }
        hazards
    }

    /// The next batch of a queue, if all that it waits for was submitted.
    fn next_of(&mut self, index: usize) -> Option<OrderedBatch> {
        let kept = &self.kept[index].1;
        let mut waits = kept.front()?.waits.iter();
        let can_run = waits.all(|(semaphore, value, _)| self.reached(*semaphore, *value).is_some());
        let is_full = kept.len() > KEPT;
        (can_run || is_full).then(|| self.kept[index].1.pop_front())?
    }

    fn run(&mut self, batch: OrderedBatch, hazards: &mut Vec<Hazard>) {
        let OrderedBatch {
            submit,
            family,
            window,
            ..
        } = batch;
        let queue = vk::Handle::from_raw(submit.queue);
        let running = Running {
            queue,
            family,
            submit,
            window,
        };
        for (semaphore, value, stages) in &batch.waits {
            if let Some(value) = self.reached(*semaphore, *value) {
                self.state.wait(queue, *semaphore, value, *stages);
            }
        }
        for (semaphore, ..) in &batch.waits {
            if !self.timelines.contains_key(semaphore) {
                let is_it = |point| point == Point::Semaphore(*semaphore, 0);
                self.state.drop_tokens(is_it);
            }
        }
        for log in &batch.logs {
            if log.has_accesses || !self.state.is_empty() {
                self.state.run(log, running, 0, hazards);
            }
        }
        for (semaphore, value, stages) in &batch.signals {
            let is_timeline = self.timelines.contains_key(semaphore);
            let value = if is_timeline { *value } else { 0 };
            if !is_timeline {
                // Of a signal that something else has waited for.
                let is_it = |point| point == Point::Semaphore(*semaphore, 0);
                self.state.drop_tokens(is_it);
            }
            self.state.signal(queue, *semaphore, value, first_scope(*stages));
            self.add_value(*semaphore, value);
        }
        if batch.fence != vk::Fence::null() {
            self.state.fence(queue, batch.fence);
        }
    }

    /// The host signals a timeline semaphore: batches may go on.
    pub(crate) fn signal_from_host(&mut self, semaphore: vk::Semaphore, value: u64) -> Vec<Hazard> {
        self.add_value(semaphore, value);
        self.go_on()
    }

    /// The host has waited for a fence.
    pub(crate) fn fence_waited(&mut self, fence: vk::Fence) {
        self.state.fence_waited(fence);
    }

    /// A fence is unsignaled, or no more.
    pub(crate) fn fence_reset(&mut self, fence: vk::Fence) {
        self.state.drop_tokens(|point| point == Point::Fence(fence));
    }

    /// The host has waited for a value, or seen it.
    pub(crate) fn semaphore_waited(&mut self, semaphore: vk::Semaphore, value: u64) {
        if let Some(value) = self.reached(semaphore, value) {
            self.state.semaphore_waited(semaphore, value);
        }
    }

    /// The host has waited for a queue, or for the device.
    pub(crate) fn idle(&mut self, queue: Option<vk::Queue>) {
        self.state.idle(queue);
    }
}
