//! The table of built-in policies.

use super::adreno::{Adreno, AdrenoLayered};
use super::balanced::Balanced;
use super::buffers::Buffers;
use super::policy::StoragePolicy;
use crate::error::{Error, Result};
use tileheap_json::clip;

/// Every built-in policy.
pub static POLICIES: [&dyn StoragePolicy; 4] = [&Buffers, &Adreno, &AdrenoLayered, &Balanced];

/// The built-in policy of a name.
///
/// # Errors
/// There is none; the message lists them.
pub fn policy(name: &str) -> Result<&'static dyn StoragePolicy> {
    let found = POLICIES.into_iter().find(|policy| policy.name() == name);
    found.ok_or_else(|| Error::UnknownName {
        kind: "storage policy",
        name: clip(name),
        known: POLICIES.map(StoragePolicy::name).join(", "),
    })
}
