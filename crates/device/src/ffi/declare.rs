//! Macros that declare Vulkan structures and load commands, in place of the code that `ash` generates from the registry.

use std::ffi::CStr;

/// `vkGetDeviceProcAddr` returned null for a command: the extension is not enabled on the device, or the driver
/// advertises its name without implementing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "vkGetDeviceProcAddr returned null for {} of {}: enable the extension; if it is enabled, the driver advertises an extension that it does not implement",
    .command.to_string_lossy(),
    .extension.to_string_lossy()
)]
pub struct MissingCommand {
    /// The name of the extension that defines the command.
    pub extension: &'static CStr,
    /// The name of the command.
    pub command: &'static CStr,
}

/// Declares a structure with `s_type` and `p_next` as `ash` does: `Default` fills `s_type`, every field has a setter,
/// and the structure chains to each of `extends` by `push_next`.
///
/// A field is `name: setter argument` or `name: setter argument => stored type`. Layouts are asserted next to each
/// declaration, in numbers taken from the C structure and not from this one.
macro_rules! structure {
    (
        $(#[$doc:meta])*
        $name:ident, s_type $value:literal, p_next *$pointer:ident, extends [$($extends:ident),*] {
            $($(#[$field_doc:meta])* $field:ident: $argument:ty $(=> $stored:ty)?,)*
        }
    ) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Copy, Clone, Debug)]
        #[must_use]
        pub struct $name<'a> {
            /// [`TaggedStructure::STRUCTURE_TYPE`](ash::vk::TaggedStructure::STRUCTURE_TYPE).
            pub s_type: ::ash::vk::StructureType,
            /// The next structure of the chain, or null.
            pub p_next: *$pointer ::std::ffi::c_void,
            $($(#[$field_doc])* pub $field: $crate::ffi::declare::stored!($argument $(, $stored)?),)*
            /// Keeps the structures that `p_next` points to borrowed.
            pub _marker: ::std::marker::PhantomData<&'a ()>,
        }

        // SAFETY: Like every structure of ash, it is plain data; reading through its pointers is the unsafe act.
        unsafe impl Send for $name<'_> {}
        // SAFETY: As above.
        unsafe impl Sync for $name<'_> {}

        impl Default for $name<'_> {
            #[inline]
            fn default() -> Self {
                Self {
                    s_type: <Self as ::ash::vk::TaggedStructure>::STRUCTURE_TYPE,
                    p_next: ::std::ptr::null::<::std::ffi::c_void>().cast_mut(),
                    $($field: Default::default(),)*
                    _marker: ::std::marker::PhantomData,
                }
            }
        }

        // SAFETY: `repr(C)` with `s_type` and `p_next` first, as `VkBaseInStructure` has them.
        unsafe impl ::ash::vk::TaggedStructure for $name<'_> {
            const STRUCTURE_TYPE: ::ash::vk::StructureType = ::ash::vk::StructureType::from_raw($value);
        }

        // SAFETY: The registry lists each of these under `structextends`.
        $(unsafe impl ::ash::vk::$extends for $name<'_> {})*

        #[allow(clippy::needless_lifetimes, reason = "the structure's lifetime is named even where no setter uses it")]
        impl<'a> $name<'a> {
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                #[inline]
                pub fn $field(mut self, $field: $argument) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
        }
    };
}

/// The type in which a field is stored: the setter's argument type unless another type is specified.
macro_rules! stored {
    ($argument:ty) => {
        $argument
    };
    ($argument:ty, $stored:ty) => {
        $stored
    };
}

/// Asserts that structures have the sizes and field offsets of the C structures: `Structure: size { field offset, … }`.
macro_rules! layouts {
    ($($name:ident: $size:literal { $($field:ident $offset:literal),* })+) => {
        #[cfg(target_pointer_width = "64")]
        const _: () = {
            $(
                assert!(size_of::<$name<'_>>() == $size);
                $(assert!(::std::mem::offset_of!($name<'_>, $field) == $offset);)*
            )+
        };
    };
}

/// Declares an extension's table of device commands, `DeviceFn`, and `Device`, which contains the table and the device handle.
macro_rules! loader {
    ($($(#[$doc:meta])* $field:ident: $pointer:ty = $command:literal,)+) => {
        #[doc = concat!("The device commands of this extension: ", $("`", stringify!($field), "` ",)+ ".")]
        #[derive(Clone, Debug)]
        pub struct Device {
            handle: ::ash::vk::Device,
            fp: DeviceFn,
        }

        impl Device {
            /// Loads the commands through `vkGetDeviceProcAddr`.
            ///
            /// # Errors
            /// [`MissingCommand`]($crate::ffi::MissingCommand) if a pointer is null.
            pub fn new(instance: &::ash::Instance, device: &::ash::Device) -> Result<Device, $crate::ffi::MissingCommand> {
                let handle = device.handle();
                let load = |name: &::std::ffi::CStr| {
                    // SAFETY: Both tables were loaded for live handles, `name` ends in NUL.
                    let pointer = unsafe { instance.get_device_proc_addr(handle, name.as_ptr()) };
                    pointer.map_or(::std::ptr::null(), |function| function as *const ::std::ffi::c_void)
                };
                // SAFETY: `vkGetDeviceProcAddr` returns null or the command of that name.
                unsafe { Device::load_with(load, handle) }
            }

            /// Loads the commands through `load`, for layers and for devices that `ash` did not create.
            ///
            /// # Errors
            /// [`MissingCommand`]($crate::ffi::MissingCommand) if `load` returns null.
            ///
            /// # Safety
            /// `load` returns null or the command of the name passed to it, which can be called with `device`.
            pub unsafe fn load_with(
                load: impl FnMut(&::std::ffi::CStr) -> *const ::std::ffi::c_void,
                device: ::ash::vk::Device,
            ) -> Result<Device, $crate::ffi::MissingCommand> {
                // SAFETY: Guaranteed by the caller.
                let fp = unsafe { DeviceFn::load(load) }?;
                Ok(Device { handle: device, fp })
            }

            /// The raw function pointers.
            #[inline]
            pub fn fp(&self) -> &DeviceFn {
                &self.fp
            }

            /// The device whose commands the table contains.
            #[inline]
            pub fn device(&self) -> ::ash::vk::Device {
                self.handle
            }
        }

        /// Raw device-level function pointers.
        #[derive(Clone, Copy, Debug)]
        pub struct DeviceFn {
            $($(#[$doc])* pub $field: $pointer,)+
        }

        impl DeviceFn {
            /// Loads every pointer through `load`.
            ///
            /// # Errors
            /// [`MissingCommand`]($crate::ffi::MissingCommand) if `load` returns null.
            ///
            /// # Safety
            /// `load` returns null or the command of the name passed to it.
            pub unsafe fn load(
                mut load: impl FnMut(&::std::ffi::CStr) -> *const ::std::ffi::c_void,
            ) -> Result<DeviceFn, $crate::ffi::MissingCommand> {
                Ok(DeviceFn {
                    $($field: {
                        let pointer = load($command);
                        if pointer.is_null() {
                            return Err($crate::ffi::MissingCommand { extension: NAME, command: $command });
                        }
                        // SAFETY: Not null, and as the caller guarantees, the command of this name and so of this type.
                        unsafe { ::std::mem::transmute::<*const ::std::ffi::c_void, $pointer>(pointer) }
                    },)+
                })
            }
        }
    };
}

pub(super) use {layouts, loader, stored, structure};
