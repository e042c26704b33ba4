//! Entry points of action commands: discards and checks, then the driver's command.

use tileheap_layer::{array, given};

use super::recorder::{before_action, recorded_commands};
use crate::model::transfers::{QueryResults, Regions, Transfer};
use crate::tables::action_commands::{ActionTable, ReachableDescriptors, action_commands, certainly_acts};

/// The first of some expressions.
macro_rules! first {
    ($first:expr $(, $other:expr)?) => {
        $first
    };
}

macro_rules! entry_point {
    ($reachable:ident $command:ident (
        $($arg:ident: $type:ty),* $(,)? $(=> $transfer:expr)? $(; $answer:ty)?
    )) => {
        recorded_commands! {
            $command(commands, $($arg),*) => actions ActionTable |recorder| {
                let transfer = first!($($transfer,)? Transfer::None);
                const ACTS: bool = certainly_acts(stringify!($command));
                let command = (stringify!($command), ACTS);
                before_action(recorder, ReachableDescriptors::$reachable, &transfer, command);
            };
        }
    };
}
macro_rules! entry_points {
    ($($reachable:ident $($command:ident)+: $signature:tt;)+) => {
        $($(entry_point!($reachable $command $signature);)+)+
    };
}
action_commands!(entry_points);
