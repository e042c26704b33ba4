//! Policies as options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tileheap_baselines::textures::ALL;
use tileheap_textures::PolicyDesc;

/// Policies by name.
pub(crate) fn policies() -> impl TypedValueParser<Value = PolicyDesc<'static>> {
    let values = ALL.map(|policy| PossibleValue::new(policy.name).help(policy.description));
    PossibleValuesParser::new(values).map(|name| PolicyDesc::find(&ALL, &name).expect("a known name"))
}
