//! Strategies by name: offsets, and the peers' pools.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::TensorError;
use crate::pools::PoolRule;
use tileheap_json::clip;
use tileheap_pack;

/// How tensors get their bytes.
///
/// ```
/// use tileheap_tensor::{MemoryDesc, SpaceItem, TensorStrategy, place};
/// use tileheap_tensor::units::{Bytes, Span};
///
/// // Lives in steps, sizes in bytes.
/// let record = |name: &str, first, end, size| SpaceItem::record(name, Span::new(first, end), Bytes(size));
/// let items = [record("x", 0, 2, 64), record("y", 1, 3, 32), record("z", 2, 4, 48)];
/// for name in ["auto", "litert-best", "executorch-objects"] {
///     let strategy: TensorStrategy = name.parse()?;
///     let space = place(&items, &[MemoryDesc::new("memory")], strategy)?;
///     println!("{strategy}: {}", space.memories[0].size);
/// }
/// # Ok::<(), tileheap_tensor::TensorError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum TensorStrategy {
    /// Offsets in one block, by a rule of the placement engine.
    Offsets(tileheap_pack::Strategy),
    /// Whole objects that tensors take in turn: what the peers do with images, and most of them with buffers.
    Pools(PoolRule),
    /// The pool entries that the graph came with, as they stand.
    StorageIds,
}

impl Default for TensorStrategy {
    fn default() -> TensorStrategy {
        TensorStrategy::Offsets(tileheap_pack::Strategy::Auto)
    }
}

impl TensorStrategy {
    /// Every strategy: offsets, pools, given ids.
    pub fn all() -> Vec<TensorStrategy> {
        let offsets = tileheap_pack::Strategy::ALL
            .into_iter()
            .map(TensorStrategy::Offsets);
        let pools = PoolRule::ALL.into_iter().map(TensorStrategy::Pools);
        offsets.chain(pools).chain([TensorStrategy::StorageIds]).collect()
    }

    /// Its name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            TensorStrategy::Offsets(strategy) => strategy.name(),
            TensorStrategy::Pools(rule) => rule.name(),
            TensorStrategy::StorageIds => "storage-ids",
        }
    }
}

impl fmt::Display for TensorStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TensorStrategy {
    type Err = TensorError;

    fn from_str(name: &str) -> Result<TensorStrategy, TensorError> {
        let found = TensorStrategy::all()
            .into_iter()
            .find(|strategy| strategy.name() == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = TensorStrategy::all()
                .into_iter()
                .map(TensorStrategy::name)
                .collect();
            TensorError::UnknownStrategy {
                name: clip(name),
                known: known.join(", "),
            }
        })
    }
}

impl From<TensorStrategy> for String {
    fn from(strategy: TensorStrategy) -> String {
        strategy.name().to_owned()
    }
}

impl TryFrom<String> for TensorStrategy {
    type Error = TensorError;

    fn try_from(name: String) -> Result<TensorStrategy, TensorError> {
        name.parse()
    }
}
