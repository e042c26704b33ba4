//! Policies as options.

use clap::builder::TypedValueParser;
use tileheap_baselines::textures::ALL;
use tileheap_textures::PolicyDesc;

use crate::values::named;

/// Policies by name.
pub(crate) fn policies() -> impl TypedValueParser<Value = PolicyDesc<'static>> {
    named(ALL, |policy| policy.name, Some(|policy| policy.description))
}
