//! Entry points made of closures whose arguments have the types of a command, so that no signature is written twice.

use crate::dispatch::EntryPoint;

macro_rules! arities {
    ($($name:ident: $($type:ident $arg:ident)+;)+) => {$(
        /// The function of a command's type that runs `body`, which captures nothing; `types` is never called.
        pub fn $name<T, $($type,)+ R, F: Fn($($type),+) -> R + Copy>(
            types: impl Fn(&T) -> Option<unsafe extern "system" fn($($type),+) -> R>,
            body: F,
        ) -> EntryPoint {
            const { assert!(size_of::<F>() == 0, "an entry point captures nothing") };
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
    )+};
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
/// from a command table.
#[macro_export]
macro_rules! entry_point {
    ($types:expr, |$($arg:tt),+ $(,)?| $body:expr) => {
        $crate::entry_point!(@ [$($arg)+] $types, |$($arg),+| $body)
    };
    (@ [$a:tt] $($rest:tt)+) => { $crate::entry::of_1($($rest)+) };
    (@ [$a:tt $b:tt] $($rest:tt)+) => { $crate::entry::of_2($($rest)+) };
    (@ [$a:tt $b:tt $c:tt] $($rest:tt)+) => { $crate::entry::of_3($($rest)+) };
    (@ [$a:tt $b:tt $c:tt $d:tt] $($rest:tt)+) => { $crate::entry::of_4($($rest)+) };
    (@ [$a:tt $b:tt $c:tt $d:tt $e:tt] $($rest:tt)+) => { $crate::entry::of_5($($rest)+) };
    (@ [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt] $($rest:tt)+) => { $crate::entry::of_6($($rest)+) };
    (@ [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt] $($rest:tt)+) => { $crate::entry::of_7($($rest)+) };
    (@ [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt] $($rest:tt)+) => { $crate::entry::of_8($($rest)+) };
    (@ [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $i:tt] $($rest:tt)+) => { $crate::entry::of_9($($rest)+) };
    (@ [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $i:tt $j:tt] $($rest:tt)+) => {
        $crate::entry::of_10($($rest)+)
    };
    (@ [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $i:tt $j:tt $k:tt] $($rest:tt)+) => {
        $crate::entry::of_11($($rest)+)
    };
    (@ [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $i:tt $j:tt $k:tt $l:tt $m:tt $n:tt $o:tt] $($rest:tt)+) => {
        $crate::entry::of_15($($rest)+)
    };
}
