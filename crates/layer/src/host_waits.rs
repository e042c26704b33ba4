//! The results of the commands with which the host waits, in one form.

use ash::vk;

/// Work that is complete after a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostWait {
    /// Work covered by a fence.
    Fence(vk::Fence),
    /// Work covered by a value of a timeline semaphore.
    Semaphore(vk::Semaphore, u64),
    /// All work of a queue.
    Queue(vk::Queue),
    /// All work of the device.
    Device,
    /// Work that is covered by one of several fences or semaphores; which one is not known.
    AnyOf,
}

/// Declares entry points for waits, with a layer's macro for device entry points: each calls the next layer's command, then
/// runs `$then` for each wait that succeeded.
#[macro_export]
macro_rules! host_waits {
    ($entry_points:ident, |$device:ident| $next:expr, |$wait:ident| $then:expr) => {
        $crate::host_waits! { @ $entry_points $device ($next) $wait ($then)
            vkWaitSemaphores(handle, info, timeout) {
                let info = $crate::given!(info);
                let all = info.semaphore_count == 1 || !info.flags.contains(::ash::vk::SemaphoreWaitFlags::ANY);
                let count = if all { info.semaphore_count } else { 0 };
                let values = $crate::array!(info.p_values, count);
                let pairs = $crate::array!(info.p_semaphores, count).iter().zip(values);
                let all_of = pairs.map(|(semaphore, value)| $crate::host_waits::HostWait::Semaphore(*semaphore, *value));
                all_of.chain((!all).then_some($crate::host_waits::HostWait::AnyOf))
            }
            vkGetSemaphoreCounterValue(handle, semaphore, out) {
                [$crate::host_waits::HostWait::Semaphore(semaphore, *$crate::given!(out))]
            }
            vkWaitForFences(handle, count, fences, wait_all, timeout) {
                let all = count == 1 || wait_all != ::ash::vk::FALSE;
                let fences = $crate::array!(fences, if all { count } else { 0 });
                let all_of = fences.iter().map(|fence| $crate::host_waits::HostWait::Fence(*fence));
                all_of.chain((!all).then_some($crate::host_waits::HostWait::AnyOf))
            }
            vkGetFenceStatus(handle, fence) { [$crate::host_waits::HostWait::Fence(fence)] }
            vkQueueWaitIdle(queue) { [$crate::host_waits::HostWait::Queue(queue)] }
            vkDeviceWaitIdle(handle) { [$crate::host_waits::HostWait::Device] }
        }
    };
    (@ $entry_points:ident $device:ident ($next:expr) $wait:ident ($then:expr) $($command:ident($($arg:ident),+) $all:block)+) => {
        $entry_points! {$(
            $command($($arg),+) |$device| {
                let result = $crate::call_down!($next, $command($($arg),+));
                if result == ::ash::vk::Result::SUCCESS {
                    for $wait in $all {
                        $then;
                    }
                }
                result
            }
        )+}
    };
}
