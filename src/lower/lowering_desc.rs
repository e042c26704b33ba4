//! Inputs to lowering other than the plan.

use super::error::LowerError;
use super::state::MemoryState;
use super::tables::{DeviceQueueIndex, Lowered};
use crate::frame::Frame;

/// Parity of a frame, which selects the current copy of a history resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parity {
    /// Frames 0, 2, 4, ….
    #[default]
    Even,
    /// Frames 1, 3, 5, ….
    Odd,
}

impl Parity {
    /// Both parities, even first.
    pub const BOTH: [Parity; 2] = [Parity::Even, Parity::Odd];

    /// The parity as an index: 0 or 1.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The parity of the next frame.
    pub const fn next(self) -> Parity {
        match self {
            Parity::Even => Parity::Odd,
            Parity::Odd => Parity::Even,
        }
    }
}

/// A device queue, identified by its queue family and index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[repr(C)]
pub struct FamilyQueue {
    /// `queueFamilyIndex`.
    pub family: u32,
    /// `queueIndex`.
    pub index: u32,
}

/// The device queues that run a frame's declared queues.
///
/// ```
/// use tileheap::lower::{DeviceQueues, FamilyQueue};
///
/// // A renderer that declares `graphics` and `async compute`, on a device with one queue:
/// let only = FamilyQueue { family: 0, index: 0 };
/// let one = DeviceQueues::new(&[only, only]);
/// assert_eq!(one.len(), 1);
/// // … and on one with a compute family:
/// let two = DeviceQueues::new(&[only, FamilyQueue { family: 1, index: 0 }]);
/// assert_eq!(two.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DeviceQueues {
    /// Per declared queue, the device queue that runs it.
    declared: Vec<DeviceQueueIndex>,
    /// Distinct device queues, ordered by the first declared queue that maps to each.
    queues: Vec<FamilyQueue>,
}

impl DeviceQueues {
    /// Maps declared queues to device queues: `declared` has the device queue of each declared queue, in the order of declaration.
    pub fn new(declared: &[FamilyQueue]) -> DeviceQueues {
        let mut device = DeviceQueues::default();
        for queue in declared {
            let known = device.queues.iter().position(|other| other == queue);
            let index = known.unwrap_or(device.queues.len());
            if known.is_none() {
                device.queues.push(*queue);
            }
            device.declared.push(DeviceQueueIndex(index as u32));
        }
        device
    }

    /// A queue in its own family for each declared queue of `frame`.
    pub fn separate_families(frame: &Frame) -> DeviceQueues {
        let own = |family| FamilyQueue { family, index: 0 };
        DeviceQueues::new(&(0..frame.queues().len() as u32).map(own).collect::<Vec<_>>())
    }

    /// One queue for all declared queues of `frame`.
    pub fn single_queue(frame: &Frame) -> DeviceQueues {
        DeviceQueues::new(&vec![FamilyQueue { family: 0, index: 0 }; frame.queues().len()])
    }

    /// The number of device queues.
    pub fn len(&self) -> usize {
        self.queues.len()
    }

    /// Returns true if there are no device queues.
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Per declared queue, the device queue that runs it.
    pub fn declared(&self) -> &[DeviceQueueIndex] {
        &self.declared
    }

    /// The queue family and index of a device queue.
    pub fn queue(&self, queue: DeviceQueueIndex) -> FamilyQueue {
        self.queues[queue.0 as usize]
    }

    /// The queue family of a queue of the device.
    pub fn family(&self, queue: DeviceQueueIndex) -> u32 {
        self.queues[queue.0 as usize].family
    }

    /// Returns an error if the number of declared queues differs from the number that a frame declares.
    pub(super) fn check(&self, frame: &Frame) -> Result<(), LowerError> {
        let (declared, given) = (frame.queues().len(), self.declared.len());
        if declared != given {
            let frame = frame.name().to_owned();
            return Err(LowerError::QueueCount {
                frame,
                declared,
                given,
            });
        }
        Ok(())
    }

    /// Every device queue that runs a declared queue, in the order of [`DeviceQueueIndex`].
    pub fn iter(&self) -> impl ExactSizeIterator<Item = FamilyQueue> + '_ {
        self.queues.iter().copied()
    }
}

/// Inputs to lowering other than the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct LoweringDesc {
    /// The queues that run the frame.
    pub queues: DeviceQueues,
    /// Parity, which selects the current copies of histories.
    pub parity: Parity,
    /// The memory state that earlier work left.
    pub before: MemoryState,
}

impl LoweringDesc {
    /// For the first frame of a plan on these queues.
    pub fn first(queues: DeviceQueues) -> LoweringDesc {
        LoweringDesc {
            queues,
            parity: Parity::Even,
            before: MemoryState::default(),
        }
    }

    /// For the frame that follows `lowered`, which was lowered for this description.
    #[must_use]
    pub fn after(&self, lowered: &Lowered) -> LoweringDesc {
        LoweringDesc {
            queues: self.queues.clone(),
            parity: self.parity.next(),
            before: lowered.after.clone(),
        }
    }

    /// Returns an error if the number of declared queues differs from the number that the frame declares.
    pub(super) fn check(&self, frame: &Frame) -> Result<(), LowerError> {
        self.queues.check(frame)
    }
}
