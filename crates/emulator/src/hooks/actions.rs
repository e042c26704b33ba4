//! Entry points of action commands: they perform discards and checks, and then call the driver's command.

use ash::vk;
use tileheap_layer::{array, given};

use super::recorder::{before_action, recorded_commands, repeats};
use crate::model::operations::{Fetch, Operation};
use crate::model::transferred_texels::{ImageRegions, Regions};
use crate::model::transfers::{QueryResults, Transfer};
use crate::tables::action_commands::{
    ActionTable, ReachableDescriptors, Writes, action_commands, certainly_acts, changes_conditional,
};
use crate::tables::unseen_writes::UnseenWrites;

/// Expands to the first of the given expressions.
macro_rules! first {
    ($first:expr $(, $other:expr)?) => {
        $first
    };
}

macro_rules! entry_point {
    ($reachable:ident $writes:ident $command:ident (
        $($arg:ident: $type:ty),* $(,)? $(=> $transfer:expr)? $(; $answer:ty)?
    )) => {
        recorded_commands! {
            $command(commands, $($arg),*) => actions ActionTable unless ({
                const REPEATS: bool = Writes::$writes.unseen().is_empty() && changes_conditional(stringify!($command)).is_none();
                const COMMAND: (&str, bool) = (stringify!($command), certainly_acts(stringify!($command)));
                REPEATS && {
                    let operation = first!($(Operation::from($transfer),)? Operation::None);
                    repeats(recorder, ReachableDescriptors::$reachable, &operation, COMMAND)
                }
            }) |recorder| {
                let operation = first!($(Operation::from($transfer),)? Operation::None);
                const ACTS: bool = certainly_acts(stringify!($command));
                const CONDITIONAL: Option<bool> = changes_conditional(stringify!($command));
                let command = (stringify!($command), ACTS);
                const UNSEEN: UnseenWrites = Writes::$writes.unseen();
                if !UNSEEN.is_empty() {
                    recorder.allow_unseen_writes_of_action(UNSEEN, stringify!($command));
                }
                before_action(recorder, ReachableDescriptors::$reachable, &operation, command);
                if let Some(is_conditional) = CONDITIONAL {
                    recorder.lock().is_conditional = is_conditional;
                }
            };
        }
    };
}
macro_rules! entry_points {
    ($($reachable:ident $writes:ident $($command:ident)+: $signature:tt;)+) => {
        $($(entry_point!($reachable $writes $command $signature);)+)+
    };
}
action_commands!(entry_points);
