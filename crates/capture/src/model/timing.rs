//! The timestamps in a command buffer, which measure the GPU time of its passes.
//!
//! ```text
//! commands     dispatch   barrier   begin ─ draws ─ end   barrier   blit   end of the command buffer
//! timestamps   0          1         2                 3   4                5
//! passes       compute              render                          transfer
//! ```
//! The time between two timestamps is assigned to the first pass between them. It includes further passes, such as later subpasses, and dispatches after
//! a copy without a barrier.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of timestamps in a command buffer; later passes have no times.
pub(crate) const MAX_TIMESTAMPS: u32 = 1024;

/// A timestamp to write before or after the command that is being recorded, by its number in the command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Before(u32),
    After(u32),
}

/// The commands that matter for timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimedCommand {
    /// Begins a render pass instance; `is_part` is true if it is suspending or resuming.
    Begin {
        is_part: bool,
    },
    End,
    /// A barrier, or a command on an event.
    Boundary,
    /// A dispatch, a transfer, or secondary command buffers.
    Work,
    /// A command after which writing timestamps may be impossible.
    Unmeasurable,
}

/// The timestamps of a command buffer while it is recorded.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    /// Number of timestamps so far.
    pub(crate) count: u32,
    /// True inside a render pass instance.
    is_inside: bool,
    /// True if no more timestamps can be written.
    is_stopped: bool,
}

impl Timer {
    /// Returns the timestamp to write at a command. Measurement stops for good at rendering that is suspended or resumed, because no command may come in
    /// between, and where the command buffer may be inside a render pass or video coding, because queries cannot be reset there.
    pub(crate) fn at(&mut self, command: TimedCommand) -> Option<Mark> {
        let is_first = self.count == 0;
        match command {
            TimedCommand::Begin { is_part } => {
                self.is_stopped |= is_part;
                self.is_inside = true;
                self.next().map(Mark::Before)
            }
            TimedCommand::End => {
                self.is_inside = false;
                self.next().map(Mark::After)
            }
            TimedCommand::Boundary if !self.is_inside => self.next().map(Mark::Before),
            TimedCommand::Work if is_first && !self.is_inside => self.next().map(Mark::Before),
            TimedCommand::Boundary | TimedCommand::Work => None,
            TimedCommand::Unmeasurable => {
                self.is_stopped = true;
                None
            }
        }
    }

    /// Returns the number of a timestamp at the end of the command buffer, if the command buffer has other timestamps.
    pub(crate) fn last(&mut self) -> Option<u32> {
        if self.count > 0 { self.next() } else { None }
    }

    fn next(&mut self) -> Option<u32> {
        let is_possible = !self.is_stopped && self.count < MAX_TIMESTAMPS;
        is_possible.then(|| {
            self.count += 1;
            self.count - 1
        })
    }
}

/// The timestamps of one submission of a command buffer.
#[derive(Debug)]
pub(crate) struct SubmittedTimes {
    /// The handle of the command buffer.
    pub(crate) command_buffer: u64,
    pub(crate) count: u32,
    /// The number of valid bits of a timestamp.
    valid_bits: u32,
    state: Mutex<TimesState>,
}

#[derive(Debug, PartialEq)]
enum TimesState {
    /// The device may not have finished.
    Pending,
    /// The device has finished; the values are not read yet.
    Complete,
    Read(Vec<u64>),
    /// There are no values: the submit failed, the device is lost, or other values were written before these were read.
    Lost,
}

impl SubmittedTimes {
    pub(crate) fn new(command_buffer: u64, count: u32, valid_bits: u32) -> SubmittedTimes {
        SubmittedTimes {
            command_buffer,
            count,
            valid_bits,
            state: Mutex::new(TimesState::Pending),
        }
    }

    fn state(&self) -> MutexGuard<'_, TimesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the device has finished.
    pub(crate) fn complete(&self) {
        let mut state = self.state();
        if *state == TimesState::Pending {
            *state = TimesState::Complete;
        }
    }

    /// Records that the values are lost, unless they have already been read.
    pub(crate) fn lose(&self) {
        let mut state = self.state();
        if matches!(*state, TimesState::Pending | TimesState::Complete) {
            *state = TimesState::Lost;
        }
    }

    /// Reads the values if the device has finished: if that was recorded before, or if `is_known` is true. `None` from `get` means that there are none.
    pub(crate) fn read(&self, is_known: bool, get: impl FnOnce() -> Option<Vec<u64>>) {
        let mut state = self.state();
        if *state == TimesState::Complete || *state == TimesState::Pending && is_known {
            *state = get().map_or(TimesState::Lost, TimesState::Read);
        }
    }

    /// Returns true if values have not been read, but may still become available.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(*self.state(), TimesState::Pending | TimesState::Complete)
    }

    /// Returns the nanoseconds between two timestamps, if they were read; `period` is the duration of a tick.
    pub(crate) fn between(&self, [first, end]: [u32; 2], period: f32) -> Option<u64> {
        let TimesState::Read(values) = &*self.state() else {
            return None;
        };
        let mask = u64::MAX >> (64 - self.valid_bits.clamp(1, 64));
        let ticks = values
            .get(end as usize)?
            .wrapping_sub(*values.get(first as usize)?)
            & mask;
        Some((ticks as f64 * f64::from(period)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the timestamp at each command, and at the end.
    fn marks(commands: &[TimedCommand]) -> Vec<Option<Mark>> {
        let mut timer = Timer::default();
        let mut marks: Vec<_> = commands.iter().map(|command| timer.at(*command)).collect();
        marks.push(timer.last().map(Mark::Before));
        marks
    }

    #[test]
    fn timestamps_are_around_render_passes_and_before_barriers() {
        use Mark::{After, Before};
        use TimedCommand::{Begin, Boundary, End, Work};
        let commands = [
            (Work, Some(Before(0))),
            (Work, None),
            (Boundary, Some(Before(1))),
            (Begin { is_part: false }, Some(Before(2))),
            (Boundary, None),
            (End, Some(After(3))),
            (Work, None),
        ];
        let mut expected: Vec<_> = commands.iter().map(|one| one.1).collect();
        expected.push(Some(Before(4)));
        assert_eq!(marks(&commands.map(|one| one.0)), expected);
        assert_eq!(marks(&[]), [None]);
    }

    #[test]
    fn nothing_is_between_parts_of_a_suspended_rendering() {
        use TimedCommand::{Begin, Boundary, End, Unmeasurable};
        let part = Begin { is_part: true };
        for (commands, expected) in [
            (&[Boundary, part, End][..], 1),
            (&[part, End, Boundary], 0),
            (&[Unmeasurable, Boundary], 0),
        ] {
            let found = marks(commands).iter().flatten().count();
            assert_eq!(found, expected, "{commands:?}");
        }
    }

    #[test]
    fn times_wrap_at_their_valid_bits_and_are_read_once() {
        let times = SubmittedTimes::new(0, 3, 8);
        assert!(times.is_pending());
        times.read(false, || panic!("the device may not have finished"));
        assert_eq!(times.between([0, 1], 2.0), None);
        times.complete();
        times.read(false, || Some(vec![250, 4, 100]));
        times.read(true, || panic!("they are read"));
        assert_eq!(times.between([0, 1], 2.0), Some(20));
        assert_eq!(times.between([1, 2], 0.5), Some(48));
        assert_eq!(times.between([1, 3], 1.0), None);
        let lost = SubmittedTimes::new(0, 1, 64);
        lost.read(true, || None);
        lost.complete();
        assert!(!lost.is_pending());
        let failed = SubmittedTimes::new(0, 1, 64);
        failed.lose();
        failed.read(true, || panic!("queries that were never reset"));
        times.lose();
        assert_eq!(
            (failed.is_pending(), times.between([0, 1], 2.0)),
            (false, Some(20))
        );
    }
}
