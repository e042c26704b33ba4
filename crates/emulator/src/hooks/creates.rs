//! The macro that declares entry points that create objects.

/// Declares entry points that create an object in the next layer and register it: the command, the function of `strip` that copies the create info,
/// and the code that receives the device, the create info and the new handle. With `[name in option]`, the create info is only stripped and the
/// object only registered if the option is `Some`.
macro_rules! creates {
    ($(
        $(#[$doc:meta])* $command:ident $(, strip::$strip:ident)?;
        |$device:ident, $info:ident, $created:ident| $([$known:tt in $found:expr])? $remember:block
    )+) => {
        $crate::hooks::device::device_entry_points! {$(
            $(#[$doc])*
            $command(handle, info, allocator, out) |$device| {
                let next = &$device.driver.commands;
                let $info = tileheap_layer::given!(info);
                $(let Some($known) = $found else {
                    return tileheap_layer::call_down!(next, $command(handle, info, allocator, out));
                };)?
                $(
                    let stripped = $crate::hooks::strip::$strip($info);
                    let info = &stripped.info;
                )?
                let result = tileheap_layer::call_down!(next, $command(handle, info, allocator, out));
                if result == vk::Result::SUCCESS {
                    let $created = *tileheap_layer::given!(out);
                    $remember
                }
                result
            }
        )+}
    };
}
pub(crate) use creates;
