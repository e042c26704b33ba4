//! The table of built-in policies.

use crate::arenas::Arenas;
use crate::coherent::Coherent;
use crate::policy::PolicyDesc;

/// The built-in policies: names, capabilities and constructors.
pub const POLICIES: [PolicyDesc<'static>; 5] = [
    Arenas::DESC,
    Arenas::FIRST_ATTEMPT,
    Coherent::DESC,
    Coherent::KEEPING_LEVELS,
    Coherent::WITHOUT_RELOCATION,
];
