//! Policies as options.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tileheap_textures::PolicyKind;

/// Policies by name.
pub(crate) fn policies() -> impl TypedValueParser<Value = PolicyKind> {
    PossibleValuesParser::new(PolicyKind::ALL.map(PolicyKind::name))
        .map(|name| name.parse().expect("a known name"))
}
