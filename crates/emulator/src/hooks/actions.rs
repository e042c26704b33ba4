//! Entry points of action commands: discards and checks, then the driver's command.

use std::ffi::c_void;

use ash::vk;

use super::recorder::{before_action, recorded_commands};
use crate::tables::action_commands::{ReachableDescriptors, action_commands};

/// A field of a structure that the application passes.
macro_rules! field {
    ($info:ident.$field:ident) => {{
        // SAFETY: Valid usage: a valid structure.
        unsafe { (*$info).$field }
    }};
}

macro_rules! entry_point {
    ($reachable:ident $command:ident (
        $($arg:ident: $type:ty),* $(,)? $(=> $($buffer:expr),+)? $(; $answer:ty)?
    )) => {
        recorded_commands! {
            fn $command(commands, $($arg: $type),*) $(-> $answer)? => actions |recorder| {
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
