//! Entry points of action commands: discards and checks, then the driver's command.

use ash::vk;
use tileheap_layer::given;

use super::recorder::{before_action, recorded_commands};
use crate::tables::action_commands::{ActionTable, ReachableDescriptors, action_commands};

/// A field of a structure that the application passes.
macro_rules! field {
    ($info:ident.$field:ident) => {
        given!($info).$field
    };
}

macro_rules! entry_point {
    ($reachable:ident $command:ident (
        $($arg:ident: $type:ty),* $(,)? $(=> $($buffer:expr),+)? $(; $answer:ty)?
    )) => {
        recorded_commands! {
            $command(commands, $($arg),*) => actions ActionTable |recorder| {
                let buffers: &[vk::Buffer] = &[$($($buffer),*)?];
                before_action(recorder, ReachableDescriptors::$reachable, buffers, stringify!($command));
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
