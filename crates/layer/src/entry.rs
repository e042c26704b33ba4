//! Creates entry points from closures whose arguments have the types of a command, so that no signature is written
//! twice.

use crate::dispatch::EntryPoint;

macro_rules! arities {
    ($($name:ident: $($type:ident $arg:ident)+;)+) => {
        $(plain_arity! { $name: $($type $arg)+ })+

        /// Entry points that only jump to another command in nearly all calls.
        pub mod quick {
            use super::EntryPoint;

            $(quick_arity! { $name: $($type $arg)+ })+
        }
    };
}

macro_rules! plain_arity {
    ($name:ident: $($type:ident $arg:ident)+) => {
        /// Returns an entry point that runs `body`, which captures nothing. `types` only states the type of the command, and is never called.
        pub fn $name<T, $($type,)+ R, F: Fn($($type),+) -> R + Copy>(
            types: impl Fn(&T) -> Option<unsafe extern "system" fn($($type),+) -> R>,
            body: F,
        ) -> EntryPoint {
            const { assert!(size_of::<F>() == 0, "an entry point must not capture anything") };
            unsafe extern "system" fn call<$($type,)+ R, F: Fn($($type),+) -> R>($($arg: $type),+) -> R {
                // SAFETY: A closure of this type existed, has no size, and copies of it need no drop.
                let body = unsafe { std::ptr::NonNull::<F>::dangling().as_ref() };
                body($($arg),+)
            }
            let (_, _) = (types, body);
            let pointer: unsafe extern "system" fn($($type),+) -> R = call::<$($type,)+ R, F>;
            // SAFETY: A function pointer, which is called as the command of its name.
            unsafe { std::mem::transmute::<unsafe extern "system" fn($($type),+) -> R, EntryPoint>(pointer) }
        }
    };
}

macro_rules! quick_arity {
    ($name:ident: $($type:ident $arg:ident)+) => {
        /// Like the function of the same name outside of this module, but if `quick` returns a command, the entry point only jumps to it: if
        /// `quick` has no calls and cannot panic, the arguments stay in their registers, and nothing is saved.
        pub fn $name<T, $($type: Copy,)+ R, Q, F: Fn($($type),+) -> R + Copy>(
            types: impl Fn(&T) -> Option<unsafe extern "system" fn($($type),+) -> R>,
            quick: Q,
            body: F,
        ) -> EntryPoint
        where
            Q: Fn($($type),+) -> Option<unsafe extern "system" fn($($type),+) -> R> + Copy,
        {
            const { assert!(size_of::<F>() == 0 && size_of::<Q>() == 0, "an entry point must not capture anything") };
            unsafe extern "system" fn call<$($type: Copy,)+ R, Q, F: Fn($($type),+) -> R>($($arg: $type),+) -> R
            where
                Q: Fn($($type),+) -> Option<unsafe extern "system" fn($($type),+) -> R>,
            {
                // SAFETY: A closure of this type existed, has no size, and copies of it need no drop.
                let quick = unsafe { std::ptr::NonNull::<Q>::dangling().as_ref() };
                match quick($($arg),+) {
                    // SAFETY: A command of this type, with its arguments.
                    Some(next) => unsafe { next($($arg),+) },
                    // SAFETY: As above.
                    None => unsafe { full::<$($type,)+ R, F>($($arg),+) },
                }
            }
            // A function of its own, with the same arguments: jumping to it saves nothing, either.
            #[inline(never)]
            unsafe extern "system" fn full<$($type,)+ R, F: Fn($($type),+) -> R>($($arg: $type),+) -> R {
                // SAFETY: As in `call`.
                let body = unsafe { std::ptr::NonNull::<F>::dangling().as_ref() };
                body($($arg),+)
            }
            let (_, _, _) = (types, quick, body);
            let pointer: unsafe extern "system" fn($($type),+) -> R = call::<$($type,)+ R, Q, F>;
            // SAFETY: A function pointer, which is called as the command of its name.
            unsafe { std::mem::transmute::<unsafe extern "system" fn($($type),+) -> R, EntryPoint>(pointer) }
        }
    };
}

arities! {
    of_1: A a;
    of_2: A a B b;
    of_3: A a B b C c;
    of_4: A a B b C c D d;
    of_5: A a B b C c D d E e;
    of_6: A a B b C c D d E e G g;
    of_7: A a B b C c D d E e G g H h;
    of_8: A a B b C c D d E e G g H h I i;
    of_9: A a B b C c D d E e G g H h I i J j;
    of_10: A a B b C c D d E e G g H h I i J j K k;
    of_11: A a B b C c D d E e G g H h I i J j K k L l;
    of_15: A a B b C c D d E e G g H h I i J j K k L l M m N n O o P p;
}

/// `entry_point!(types, |arguments| body)`: the entry point of a command with the type of the function pointer that `types` takes
/// from a command table. `entry_point!(quick types, |arguments| quick, |arguments| body)`: see [`entry::quick`](crate::entry::quick).
#[macro_export]
macro_rules! entry_point {
    (quick $types:expr, |$($arg:tt),+ $(,)?| $quick:expr, |$($same:tt),+ $(,)?| $body:expr) => {
        $crate::entry_point!(@ quick [$($arg)+] $types, |$($arg),+| $quick, |$($same),+| $body)
    };
    ($types:expr, |$($arg:tt),+ $(,)?| $body:expr) => {
        $crate::entry_point!(@ [$($arg)+] $types, |$($arg),+| $body)
    };
    (@ $($module:ident)? [$a:tt] $($rest:tt)+) => { $crate::entry::$($module::)?of_1($($rest)+) };
    (@ $($module:ident)? [$a:tt $b:tt] $($rest:tt)+) => { $crate::entry::$($module::)?of_2($($rest)+) };
    (@ $($module:ident)? [$a:tt $b:tt $c:tt] $($rest:tt)+) => { $crate::entry::$($module::)?of_3($($rest)+) };
    (@ $($module:ident)? [$a:tt $b:tt $c:tt $d:tt] $($rest:tt)+) => { $crate::entry::$($module::)?of_4($($rest)+) };
    (@ $($module:ident)? [$a:tt $b:tt $c:tt $d:tt $e:tt] $($rest:tt)+) => { $crate::entry::$($module::)?of_5($($rest)+) };
    (@ $($module:ident)? [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt] $($rest:tt)+) => { $crate::entry::$($module::)?of_6($($rest)+) };
    (@ $($module:ident)? [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt] $($rest:tt)+) => { $crate::entry::$($module::)?of_7($($rest)+) };
    (@ $($module:ident)? [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt] $($rest:tt)+) => { $crate::entry::$($module::)?of_8($($rest)+) };
    (@ $($module:ident)? [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $i:tt] $($rest:tt)+) => { $crate::entry::$($module::)?of_9($($rest)+) };
    (@ $($module:ident)? [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $i:tt $j:tt] $($rest:tt)+) => {
        $crate::entry::$($module::)?of_10($($rest)+)
    };
    (@ $($module:ident)? [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $i:tt $j:tt $k:tt] $($rest:tt)+) => {
        $crate::entry::$($module::)?of_11($($rest)+)
    };
    (@ $($module:ident)? [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $i:tt $j:tt $k:tt $l:tt $m:tt $n:tt $o:tt] $($rest:tt)+) => {
        $crate::entry::$($module::)?of_15($($rest)+)
    };
}
