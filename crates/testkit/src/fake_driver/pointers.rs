//! How entry points read and write what their callers point to.
//!
//! Valid usage is the one fact behind every block here: a Vulkan command is called with pointers to live structures and
//! arrays of the stated type and length, whose `pNext` chains are valid (`VUID-*-parameter`, `VUID-*-pNext-pNext`). The macros
//! state it once.

use std::ffi::{CStr, c_char, c_void};

use ash::vk;

/// `borrow!(p)`: what `p` points to. `borrow!(mut p)`: to write to.
macro_rules! borrow {
    (mut $pointer:expr) => {{
        let pointer = $pointer;
        // SAFETY: Valid usage.
        unsafe { &mut *pointer }
    }};
    ($pointer:expr) => {{
        let pointer = $pointer;
        // SAFETY: Valid usage.
        unsafe { &*pointer }
    }};
}

/// `slice!(p, n)`: the `n` elements at `p`, none where `p` is null. `slice!(mut p, n)`: to write to.
macro_rules! slice {
    (mut $pointer:expr, $count:expr) => {{
        let (pointer, count) = ($pointer, $count);
        // SAFETY: Valid usage.
        unsafe { super::pointers::elements_mut(pointer, count) }
    }};
    ($pointer:expr, $count:expr) => {{
        let (pointer, count) = ($pointer, $count);
        // SAFETY: Valid usage.
        unsafe { super::pointers::elements(pointer, count) }
    }};
}

/// `store!(p, value)`: writes to an output parameter.
macro_rules! store {
    ($pointer:expr, $value:expr) => {{
        let value = $value;
        // SAFETY: Valid usage.
        unsafe { $pointer.write(value) }
    }};
}

/// `chained!(p_next => Type)`: the first structure of that type in the chain.
macro_rules! chained {
    ($next:expr => $type:ty) => {{
        let next = $next;
        // SAFETY: Valid usage.
        let found = unsafe { super::pointers::find::<$type>(next) };
        // SAFETY: Null or a live structure of this type.
        unsafe { found.as_ref() }
    }};
}

/// As [`chained!`], to write to.
macro_rules! chained_mut {
    ($next:expr => $type:ty) => {{
        let next = $next;
        // SAFETY: Valid usage.
        let found = unsafe { super::pointers::find::<$type>(next) };
        // SAFETY: Null or a live structure of this type, which is an output and so not shared.
        unsafe { found.cast_mut().as_mut() }
    }};
}

/// `fill!(elements, count, out)`: the two calls of every enumeration: the count alone, then the elements.
macro_rules! fill {
    ($elements:expr, $count:expr, $out:expr) => {{
        let elements = $elements;
        // SAFETY: Valid usage.
        unsafe { super::pointers::enumerate(elements, $count, $out) }
    }};
}

/// `attempt!(call)`: returns the error with which the call is to fail, if it is. `attempt!(call, unless_lost)`: also that of a lost device.
macro_rules! attempt {
    ($call:ident) => {
        if let Some(error) = $call.fails() {
            return error;
        }
    };
    ($call:ident, unless_lost) => {
        if let Some(error) = $call.fails_or_lost() {
            return error;
        }
    };
}

pub(super) use {attempt, borrow, chained, chained_mut, fill, slice, store};

/// # Safety
/// `pointer` is null, or points to `count` live elements.
pub(super) unsafe fn elements<'a, T>(pointer: *const T, count: u32) -> &'a [T] {
    if pointer.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: The caller's promise.
    unsafe { std::slice::from_raw_parts(pointer, count as usize) }
}

/// # Safety
/// `pointer` is null, or points to `count` live elements that nothing else refers to.
pub(super) unsafe fn elements_mut<'a, T>(pointer: *mut T, count: u32) -> &'a mut [T] {
    if pointer.is_null() || count == 0 {
        return &mut [];
    }
    // SAFETY: The caller's promise.
    unsafe { std::slice::from_raw_parts_mut(pointer, count as usize) }
}

/// # Safety
/// `next` is null or starts a valid chain.
pub(super) unsafe fn find<T: vk::TaggedStructure>(next: *const c_void) -> *const T {
    let mut next = next.cast::<vk::BaseInStructure<'_>>();
    while !next.is_null() {
        // SAFETY: An element of a valid chain.
        let base = unsafe { &*next };
        if base.s_type == T::STRUCTURE_TYPE {
            return next.cast();
        }
        next = base.p_next;
    }
    std::ptr::null()
}

/// # Safety
/// `count` is valid, and `out` null or as long as `count` says.
pub(super) unsafe fn enumerate<T: Copy>(elements: &[T], count: *mut u32, out: *mut T) -> vk::Result {
    // SAFETY: The caller's promise.
    let count = unsafe { &mut *count };
    if out.is_null() {
        *count = elements.len() as u32;
        return vk::Result::SUCCESS;
    }
    let room = *count as usize;
    let written = room.min(elements.len());
    for (index, element) in elements[..written].iter().enumerate() {
        // SAFETY: `index` is below `count`.
        let slot = unsafe { out.add(index) };
        // SAFETY: As above.
        unsafe { slot.write(*element) };
    }
    *count = written as u32;
    if room < elements.len() {
        vk::Result::INCOMPLETE
    } else {
        vk::Result::SUCCESS
    }
}

/// The text at a C string; empty for null.
pub(super) fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: Valid usage: names end in NUL.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
