//! Macros with which entry points read and write memory that their callers point to.
//!
//! Every block here relies on valid usage: a Vulkan command is called with pointers to live structures and arrays of the stated type
//! and length, whose `pNext` chains are valid (`VUID-*-parameter`, `VUID-*-pNext-pNext`). The macros state it once.

/// `given!(p)`: a reference to the target of `p`. `given!(mut p)`: a mutable one.
#[macro_export]
macro_rules! given {
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

/// `array!(p, n)`: the `n` elements at `p`, none if `p` is null. `array!(mut p, n)`: the same, mutable.
#[macro_export]
macro_rules! array {
    (mut $pointer:expr, $count:expr) => {{
        let (pointer, count) = ($pointer, $count);
        // SAFETY: Valid usage.
        unsafe { $crate::arrays::elements_mut(pointer, count) }
    }};
    ($pointer:expr, $count:expr) => {{
        let (pointer, count) = ($pointer, $count);
        // SAFETY: Valid usage.
        unsafe { $crate::arrays::elements(pointer, count) }
    }};
}

/// `store!(p, value)`: writes to an output parameter.
#[macro_export]
macro_rules! store {
    ($pointer:expr, $value:expr) => {{
        let (pointer, value) = ($pointer, $value);
        // SAFETY: Valid usage.
        unsafe { pointer.write(value) }
    }};
}

/// `chained!(p_next => Type)`: the first structure of type `Type` in the chain. `chained!(mut p_next => Type)`: the same,
/// mutable.
#[macro_export]
macro_rules! chained {
    (mut $next:expr => $type:ty) => {{
        let next = $next;
        // SAFETY: Valid usage.
        unsafe { $crate::chain::find_mut::<$type>(next) }
    }};
    ($next:expr => $type:ty) => {{
        let next = $next;
        // SAFETY: Valid usage.
        unsafe { $crate::chain::find::<$type>(next) }
    }};
}

/// `fill!(elements, count, out)`: handles both calls of an enumeration: the first returns only the count, the second
/// the elements.
#[macro_export]
macro_rules! fill {
    ($elements:expr, $count:expr, $out:expr) => {{
        let (elements, count, out) = ($elements, $count, $out);
        // SAFETY: Valid usage.
        unsafe { $crate::arrays::write_array(elements, count, out) }
    }};
}

/// `text!(p)`: the text of a C string; empty for null.
#[macro_export]
macro_rules! text {
    ($pointer:expr) => {{
        let pointer = $pointer;
        // SAFETY: Valid usage.
        unsafe { $crate::arrays::text(pointer) }
    }};
}
