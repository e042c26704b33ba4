//! The macro that declares entry points that create objects.

/// Declares entry points that create an object in the next layer, and register it: `command(create info) -> handle`, the function of
/// `strip` through which the create info goes, and what is done with the device, the create info and the new handle. With
/// `[name in option]` only that which has one is stripped and remembered.
macro_rules! creates {
    ($(
        $(#[$doc:meta])* $command:ident($info_type:ty) -> $handle_type:ty $(, strip::$strip:ident)?;
        |$device:ident, $info:ident, $created:ident| $([$known:tt in $found:expr])? $remember:block
    )+) => {
        $crate::hooks::device::device_entry_points! {$(
            $(#[$doc])*
            fn $command(
                handle: vk::Device,
                info: *const $info_type,
                allocator: *const vk::AllocationCallbacks<'_>,
                out: *mut $handle_type,
            ) -> vk::Result |$device| {
                let next = &$device.driver.commands;
                // SAFETY: Valid usage: a valid structure.
                let $info = unsafe { &*info };
                $(let Some($known) = $found else {
                    return tileheap_layer::call_down!(next, $command(handle, info, allocator, out));
                };)?
                $(
                    // SAFETY: As above, and it outlives the call.
                    let stripped = unsafe { $crate::hooks::strip::$strip($info) };
                    let info = &stripped.info;
                )?
                let result = tileheap_layer::call_down!(next, $command(handle, info, allocator, out));
                if result == vk::Result::SUCCESS {
                    // SAFETY: The driver has written it.
                    let $created = unsafe { *out };
                    $remember
                }
                result
            }
        )+}
    };
}
pub(crate) use creates;
