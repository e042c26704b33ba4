//! How tensors are planned.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tileheap_tensor::{MemoryDesc, StoragePolicy, TensorStrategy};

use crate::error::{Error, Result};
use crate::values::parse_bytes;

/// How tensors are planned.
#[derive(Clone, Debug)]
pub(crate) struct TensorOptions {
    pub(crate) strategy: TensorStrategy,
    pub(crate) policy: StoragePolicy,
    /// `NAME=BYTES` or `NAME`.
    pub(crate) memories: Vec<String>,
    pub(crate) in_place: bool,
}

impl TensorOptions {
    /// The memories; none for a single unlimited one.
    pub(super) fn memories(&self) -> Result<Vec<MemoryDesc>> {
        self.memories.iter().map(|form| memory(form)).collect()
    }
}

/// `sram=1048576`, or a name alone for an unlimited memory.
fn memory(form: &str) -> Result<MemoryDesc> {
    let invalid = |problem: String| Error::bad_input(format!("--memory {form}: {problem}"));
    let (name, capacity) = match form.split_once('=') {
        None => (form, None),
        Some((name, capacity)) => (name, Some(parse_bytes(capacity).map_err(invalid)?)),
    };
    if name.is_empty() {
        return Err(invalid(
            "write NAME=BYTES, or NAME for an unlimited memory".to_owned(),
        ));
    }
    Ok(MemoryDesc {
        capacity,
        ..MemoryDesc::new(name)
    })
}

/// Storage policies by name.
pub(crate) fn policies() -> impl TypedValueParser<Value = StoragePolicy> {
    PossibleValuesParser::new(StoragePolicy::ALL.map(StoragePolicy::name))
        .map(|name| name.parse().expect("a known name"))
}

/// Strategies by name.
pub(crate) fn strategies() -> impl TypedValueParser<Value = TensorStrategy> {
    let names: Vec<&'static str> = TensorStrategy::all()
        .into_iter()
        .map(TensorStrategy::name)
        .collect();
    PossibleValuesParser::new(names).map(|name| name.parse().expect("a known name"))
}
