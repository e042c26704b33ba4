//! Structures that begin with their size: reading and writing those of callers with older and newer headers.
//!
//! ```text
//! caller's structure    │ structSize │ fields that both have │ fields of a newer header: must be zero │
//! an older header's     │ structSize │ fields that it has    │ the rest reads as zero, is not written
//! ```

use std::mem::MaybeUninit;
use std::ptr;

use crate::status::{Fault, Status};

/// A structure that begins with `structSize`, which identifies its version.
pub(crate) trait Sized32: Copy {
    /// The name of the structure in the header.
    const NAME: &'static str;
    /// The size of the structure in the first version of the header that has it.
    const FIRST_SIZE: usize;
}

/// A structure that C fills in.
///
/// # Safety
/// It is `repr(C)`, begins with a `u32` that is its size, and any bytes are a valid value of it: no enumerations, no `bool`.
pub(crate) unsafe trait Input: Sized32 {}

/// A structure that the library fills in.
///
/// # Safety
/// It is `repr(C)` and begins with a `u32` that is its size.
pub(crate) unsafe trait Output: Sized32 {}

/// Declares structures, each with the last field that it had in the first version of the header; older programs pass structures that end there.
macro_rules! sized {
    ($kind:ident: $($name:ident to $last:ident;)*) => {$(
        const _: () = assert!(std::mem::offset_of!($name, struct_size) == 0);

        impl $crate::structs::Sized32 for $name {
            const NAME: &'static str = concat!("Th", stringify!($name));
            const FIRST_SIZE: usize =
                $crate::structs::end_of(|value: &$name| &value.$last, std::mem::offset_of!($name, $last))
                    .next_multiple_of(align_of::<$name>());
        }

        // No padding after the last field: a later field would begin there, and older programs leave padding undefined.
        #[cfg(target_pointer_width = "64")]
        const _: () = assert!(
            $crate::structs::end_of(|value: &$name| &value.$last, std::mem::offset_of!($name, $last))
                == size_of::<$name>()
        );

        // SAFETY: `repr(C)`, begins with `struct_size`; inputs consist of integers, floats, pointers and Vulkan's structures of those.
        unsafe impl $crate::structs::$kind for $name {}
    )*};
}
pub(crate) use sized;

/// The offset of the first byte after a field.
pub(crate) const fn end_of<T, F>(_field: fn(&T) -> &F, offset: usize) -> usize {
    offset + size_of::<F>()
}

/// Limit on the size of a structure of any version; a larger size is a mistake of the caller.
const MAX_SIZE: usize = 4096;
/// Maximum number of elements of an array.
const MAX_COUNT: u32 = 1 << 22;

/// Reads and checks the size that the caller's structure states.
unsafe fn size_at<T: Sized32>(at: *const u8) -> Result<usize, Fault> {
    // SAFETY: the structure begins with a `u32` (the caller's duty).
    let size = unsafe { at.cast::<u32>().read_unaligned() } as usize;
    if (T::FIRST_SIZE..=MAX_SIZE).contains(&size) {
        return Ok(size);
    }
    Err(wrong_size(T::NAME, size, size_of::<T>()))
}

// Faults are made by functions of their own, which are compiled once for all types.

#[cold]
fn wrong_size(name: &str, size: usize, known: usize) -> Fault {
    let message = format!("structSize of {name} is {size}, but sizeof({name}) is {known}");
    Fault::new(Status::ErrorStructSize, message)
}

#[cold]
fn unknown_field(name: &str, size: usize, known: usize, unknown: usize) -> Fault {
    let message = format!(
        "structSize of {name} is {size}, but this library knows only the first {known} bytes, and byte {unknown} is not zero: it belongs to a field of a newer header"
    );
    Fault::new(Status::ErrorStructSize, message)
}

unsafe fn read_at<T: Input>(at: *const u8, size: usize) -> Result<T, Fault> {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller's structure has `size` bytes, and `value` has as many as are copied.
    unsafe { ptr::copy_nonoverlapping(at, value.as_mut_ptr().cast::<u8>(), size.min(size_of::<T>())) };
    for unknown in size_of::<T>()..size {
        // SAFETY: the caller's structure has `size` bytes.
        if unsafe { *at.wrapping_add(unknown) } != 0 {
            return Err(unknown_field(T::NAME, size, size_of::<T>(), unknown));
        }
    }
    // SAFETY: all zeros is a valid value, and so is anything that C writes into integers and pointers.
    Ok(unsafe { value.assume_init() })
}

/// The fault for a null pointer to a structure.
#[cold]
fn no_structure(name: &str) -> Fault {
    Fault::null(&format!("the pointer to {name}"))
}

/// The names of an array and of its element count, both arguments or both fields, for messages.
#[derive(Clone, Copy)]
pub(crate) struct Array(pub(crate) &'static str, pub(crate) &'static str);

/// Reads a structure.
///
/// # Safety
/// `pointer` is null or points to a structure that begins with its size.
pub(crate) unsafe fn read<T: Input>(pointer: *const T) -> Result<T, Fault> {
    if pointer.is_null() {
        return Err(no_structure(T::NAME));
    }
    let at = pointer.cast::<u8>();
    // SAFETY: not null, so it points to a structure.
    let size = unsafe { size_at::<T>(at) }?;
    // SAFETY: the structure has `size` bytes.
    unsafe { read_at(at, size) }
}

/// Reads a structure that may be null.
///
/// # Safety
/// Same as [`read`].
pub(crate) unsafe fn read_optional<T: Input>(pointer: *const T) -> Result<Option<T>, Fault> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's duty.
    unsafe { read(pointer) }.map(Some)
}

/// Reads an array of structures that begin with their size, element by element.
///
/// # Safety
/// `pointer` is null or points to `count` structures of one size, for as long as the iterator is used.
pub(crate) unsafe fn elements<T: Input>(
    pointer: *const T,
    count: u32,
    array: Array,
) -> Result<impl Iterator<Item = Result<T, Fault>>, Fault> {
    check_array(pointer, count, array)?;
    let first = pointer.cast::<u8>();
    let stride = match count {
        0 => 0,
        // SAFETY: there is a first element.
        _ => unsafe { size_at::<T>(first) }.map_err(|fault| fault.at(array.0, 0))?,
    };
    Ok((0..count as usize).map(move |index| {
        // SAFETY: the array has `count` elements of `stride` bytes.
        let at = unsafe { first.add(index * stride) };
        // SAFETY: as above.
        let size = unsafe { size_at::<T>(at) }.map_err(|fault| fault.at(array.0, index))?;
        if size != stride {
            let name = T::NAME;
            let message = format!("structSize of {name} is {size}, but that of element 0 is {stride}");
            return Err(Fault::new(Status::ErrorStructSize, message).at(array.0, index));
        }
        // SAFETY: as above.
        unsafe { read_at::<T>(at, size) }.map_err(|fault| fault.at(array.0, index))
    }))
}

/// Iterates over an array of elements that do not begin with their size.
///
/// # Safety
/// `pointer` is null or points to `count` elements, for as long as the iterator is used; any bytes are a valid element.
pub(crate) unsafe fn plain_elements<T: Copy>(
    pointer: *const T,
    count: u32,
    array: Array,
) -> Result<impl Iterator<Item = T> + use<T>, Fault> {
    check_array(pointer, count, array)?;
    // SAFETY: the array has `count` elements.
    let element = move |index| unsafe { pointer.wrapping_add(index).read_unaligned() };
    Ok((0..count as usize).map(element))
}

/// Fails if an array is null although its count is not 0, or if it has too many elements.
pub(crate) fn check_array<T>(pointer: *const T, count: u32, array: Array) -> Result<(), Fault> {
    match count {
        0 => Ok(()),
        1..=MAX_COUNT if !pointer.is_null() => Ok(()),
        _ => Err(no_array(count, array)),
    }
}

#[cold]
fn no_array(count: u32, Array(name, counted): Array) -> Fault {
    let fault = match count {
        0..=MAX_COUNT => Fault::new(
            Status::ErrorNullPointer,
            format!("is null, but {counted} is {count}"),
        ),
        _ => Fault::argument(format!(
            "has too many elements: {counted} is {count}, but at most {MAX_COUNT} are allowed"
        )),
    };
    fault.within(name)
}

/// Checks that a reserved field is zero.
pub(crate) fn reserved(value: u32) -> Result<(), Fault> {
    match value {
        0 => Ok(()),
        _ => Err(Fault::argument(format!("is {value}: it must be 0")).within("reserved")),
    }
}

/// Writes a structure, up to the size of the caller's version.
///
/// # Safety
/// `pointer` is null or points to a structure that begins with its size.
pub(crate) unsafe fn write<T: Output>(pointer: *mut T, value: T) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(no_structure(T::NAME));
    }
    let to = pointer.cast::<u8>();
    // SAFETY: not null, so it points to a structure.
    let size = unsafe { size_at::<T>(to) }?;
    let known = size.min(size_of::<T>());
    let after_size = size_of::<u32>();
    let from = (&raw const value).cast::<u8>();
    // SAFETY: both structures have at least `known` bytes; the caller's size is kept.
    unsafe {
        ptr::copy_nonoverlapping(
            from.wrapping_add(after_size),
            to.wrapping_add(after_size),
            known - after_size,
        )
    };
    // SAFETY: the caller's structure has `size` bytes.
    unsafe { ptr::write_bytes(to.wrapping_add(known), 0, size - known) };
    Ok(())
}

/// Writes a plain value.
///
/// # Safety
/// `pointer` is null or can be written.
pub(crate) unsafe fn put<T>(pointer: *mut T, value: T, name: &str) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(Fault::null(name));
    }
    // SAFETY: not null, so it can be written.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// Checks the pointer to a structure and the size that the caller set, before its contents are created.
///
/// # Safety
/// Same as [`write`].
pub(crate) unsafe fn check_output<T: Output>(pointer: *const T) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(no_structure(T::NAME));
    }
    // SAFETY: not null, so it points to a structure.
    unsafe { size_at::<T>(pointer.cast()) }.map(|_| ())
}

/// Sets a handle to null; it stays null if the function fails.
///
/// # Safety
/// `pointer` is null or can be written.
pub(crate) unsafe fn begin<T>(pointer: *mut *mut T, name: &str) -> Result<(), Fault> {
    // SAFETY: the caller's duty.
    unsafe { put(pointer, ptr::null_mut(), name) }
}

/// Fails if the pointer to a result is null; called before the result is created.
pub(crate) fn need<T>(pointer: *const T, name: &str) -> Result<(), Fault> {
    match pointer.is_null() {
        true => Err(Fault::null(name)),
        false => Ok(()),
    }
}

/// Returns a pointer to the first row; null if there are none.
pub(crate) fn rows<T>(rows: &[T]) -> *const T {
    match rows {
        [] => ptr::null(),
        rows => rows.as_ptr(),
    }
}
