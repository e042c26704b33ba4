//! The bugs: each one is a wrong choice in the program.

use clap::ValueEnum;

/// A mistake that programs make with tile memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bug {
    /// The picture is read in a batch other than the one that painted it
    AcrossBatches,
    /// The second command buffer of the batch forgets to bind tile memory
    UnboundCommandBuffer,
    /// A pass in between binds a smaller object, which ends in the middle of the picture
    SmallerObject,
    /// Two pictures that live at the same time share bytes
    SharedBytes,
    /// A pass in between draws from a secondary command buffer without VkTileMemoryBindInfoQCOM
    UnboundSecondary,
    /// The pass that paints does not store
    StoreDontCare,
    /// The barrier before the last pass has the old layout UNDEFINED
    UndefinedLayout,
    /// The last pass binds a different object from the one that its images are bound to
    WrongObject,
    /// The barrier between painting and showing names a stage that comes too late
    ReadAfterWrite,
    /// The medallion is painted again after a barrier that does not wait for the pass that shows it
    WriteAfterRead,
    /// The dunes are painted twice without a barrier in between
    WriteAfterWrite,
    /// A second submit paints an image of another object into the same bytes, and waits only for compute shaders
    AcrossPlans,
    /// The second submit waits for a semaphore of the first, at a stage that its barrier does not name
    AcrossQueues,
}

/// The choices of the program. Without bugs it is [`Program::RIGHT`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    /// True if the last pass is in a separate batch.
    pub(crate) second_batch: bool,
    /// True if the second command buffer binds tile memory.
    pub(crate) binds_again: bool,
    pub(crate) interlude: Interlude,
    /// True if the dunes are after the medallion in the heap; otherwise they start in its middle.
    pub(crate) apart: bool,
    /// True if the pass that paints the dunes stores them.
    pub(crate) stores: bool,
    /// True if the old layout in the last barrier of the dunes is their current one.
    pub(crate) keeps_layout: bool,
    /// True if the last pass binds the object that the images are bound to.
    pub(crate) same_object: bool,
    /// True if the barrier after painting names the stage that shows the pictures.
    pub(crate) in_time: bool,
    pub(crate) again: Again,
}

/// The image that is painted once more, and whether a dependency orders it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    Nothing,
    /// The dunes, right after they were painted.
    Dunes {
        ordered: bool,
    },
    /// The medallion, after it was shown.
    Medallion {
        ordered: bool,
    },
    /// An image in another memory object, painted in another submit.
    Other {
        ordered: bool,
        semaphore: bool,
    },
}

/// The pass between painting and showing, which does not use tile memory itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interlude {
    /// The pass draws while the whole object is bound.
    Whole,
    /// The pass draws while an object is bound that ends in the middle of the dunes.
    Smaller,
    /// The pass draws in a secondary command buffer; `says_so` is true if that declares that tile memory is bound.
    Secondary { says_so: bool },
}

impl Program {
    pub(crate) const RIGHT: Program = Program {
        second_batch: false,
        binds_again: true,
        interlude: Interlude::Whole,
        apart: true,
        stores: true,
        keeps_layout: true,
        same_object: true,
        in_time: true,
        again: Again::Nothing,
    };
}

impl Bug {
    /// The program with this bug.
    pub(crate) fn program(self) -> Program {
        let mut program = self.fixed();
        match self {
            Bug::AcrossBatches => program.second_batch = true,
            Bug::UnboundCommandBuffer => program.binds_again = false,
            Bug::SmallerObject => program.interlude = Interlude::Smaller,
            Bug::SharedBytes => program.apart = false,
            Bug::UnboundSecondary => program.interlude = Interlude::Secondary { says_so: false },
            Bug::StoreDontCare => program.stores = false,
            Bug::UndefinedLayout => program.keeps_layout = false,
            Bug::WrongObject => program.same_object = false,
            Bug::ReadAfterWrite => program.in_time = false,
            Bug::WriteAfterRead | Bug::WriteAfterWrite | Bug::AcrossPlans | Bug::AcrossQueues => {
                program.again = self.again(false);
            }
        }
        program
    }

    fn again(self, ordered: bool) -> Again {
        match self {
            Bug::WriteAfterRead => Again::Medallion { ordered },
            Bug::WriteAfterWrite => Again::Dunes { ordered },
            Bug::AcrossPlans | Bug::AcrossQueues => Again::Other {
                ordered,
                semaphore: self == Bug::AcrossQueues,
            },
            _ => Again::Nothing,
        }
    }

    /// The same program without the bug.
    pub(crate) fn fixed(self) -> Program {
        let interlude = match self {
            Bug::UnboundSecondary => Interlude::Secondary { says_so: true },
            _ => Interlude::Whole,
        };
        Program {
            interlude,
            again: self.again(true),
            ..Program::RIGHT
        }
    }
}
