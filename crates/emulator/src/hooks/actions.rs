//! Entry points of action commands: discards and checks, then the driver's command.

use tileheap_layer::{array, given};

use super::recorder::{before_action, recorded_commands};
use crate::model::transferred_texels::ImageRegions;
use crate::model::transfers::{QueryResults, Regions, Transfer};
use crate::tables::action_commands::{
    ActionTable, ReachableDescriptors, Writes, action_commands, certainly_acts,
};

/// The first of some expressions.
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
            $command(commands, $($arg),*) => actions ActionTable |recorder| {
                let transfer = first!($($transfer,)? Transfer::None);
                const ACTS: bool = certainly_acts(stringify!($command));
                let command = (stringify!($command), ACTS);
                if Writes::$writes == Writes::Unknown {
                    recorder.allow_unseen_writes();
                }
                before_action(recorder, ReachableDescriptors::$reachable, &transfer, command);
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
