//! Arrays, strings and two-call enumerations as Vulkan passes them.

use std::ffi::{CStr, c_char};

use ash::vk;

/// The elements of an array that Vulkan passes as pointer and count.
///
/// # Safety
/// `first` is null, or points to `count` elements that live for `'a`.
pub unsafe fn elements<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: The caller's promise.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

/// The mutable version of [`elements`].
///
/// # Safety
/// `first` is null, or points to `count` elements that live for `'a` and that nothing else refers to.
pub unsafe fn elements_mut<'a, T>(first: *mut T, count: u32) -> &'a mut [T] {
    if first.is_null() || count == 0 {
        return &mut [];
    }
    // SAFETY: The caller's promise.
    unsafe { std::slice::from_raw_parts_mut(first, count as usize) }
}

/// The text of a C string; empty for null.
///
/// # Safety
/// `pointer` is null or a C string.
pub unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: The caller's promise.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// The names of extensions or layers that a create info enables.
///
/// # Safety
/// `names` points to `count` C strings, which live for `'a`.
pub unsafe fn c_strings<'a>(
    names: *const *const c_char,
    count: u32,
) -> impl Iterator<Item = &'a CStr> + Clone {
    // SAFETY: The caller's promise.
    let names: &'a [*const c_char] = unsafe { elements(names, count) };
    // SAFETY: As above.
    names.iter().map(|name| unsafe { CStr::from_ptr(*name) })
}

/// Reads an array from the next layer in Vulkan's two-call idiom: `read` calls the command with a count and room for
/// that number of elements, or with null.
///
/// # Errors
/// The error of the command.
pub fn read_array<T: Clone + Default>(
    mut read: impl FnMut(&mut u32, *mut T) -> vk::Result,
) -> Result<Vec<T>, vk::Result> {
    let mut all = Vec::new();
    loop {
        let mut count = 0;
        read(&mut count, std::ptr::null_mut()).result()?;
        all.resize(count as usize, T::default());
        match read(&mut count, all.as_mut_ptr()) {
            // The number has grown since the first call.
            vk::Result::INCOMPLETE => {}
            result => {
                all.truncate(count as usize);
                return result.result_with_success(all);
            }
        }
    }
}

/// Returns an array in Vulkan's two-call idiom: only the count if `out` is null, otherwise as many elements as there is room
/// for.
///
/// # Safety
/// `count` is valid; `out` is null or has room for `*count` elements.
pub unsafe fn write_array<T: Clone>(all: &[T], count: *mut u32, out: *mut T) -> vk::Result {
    // SAFETY: The caller's promise.
    let count = unsafe { &mut *count };
    if out.is_null() {
        *count = all.len() as u32;
        return vk::Result::SUCCESS;
    }
    let written = all.len().min(*count as usize);
    for (index, element) in all[..written].iter().enumerate() {
        // SAFETY: The index is below the count for which there is room.
        let slot = unsafe { out.add(index) };
        // SAFETY: As above.
        unsafe { slot.write(element.clone()) };
    }
    *count = written as u32;
    if written < all.len() {
        vk::Result::INCOMPLETE
    } else {
        vk::Result::SUCCESS
    }
}
