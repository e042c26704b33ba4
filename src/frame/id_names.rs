//! Ids in JSON: names inside [`IdNames::with`], indices elsewhere.
//!
//! `serde` passes no context to derived implementations, so the names of the current document are kept per thread, from [`IdNames::with`] until it
//! returns.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tileheap_json::clip;

thread_local! {
    static CURRENT: RefCell<Option<IdNames>> = const { RefCell::new(None) };
}

/// The names of resources, passes and queues, by index.
#[derive(Default)]
pub(crate) struct IdNames(BTreeMap<&'static str, Table>);

#[derive(Default)]
struct Table {
    names: Vec<String>,
    indices: BTreeMap<String, u32>,
}

impl IdNames {
    /// Adds the names of one kind of object: `what` is `"resource"`, `"pass"` or `"queue"`. For a kind that has not been added, every name is accepted and
    /// read as id 0.
    pub(crate) fn of<'a>(mut self, what: &'static str, names: impl Iterator<Item = &'a String>) -> IdNames {
        let names: Vec<_> = names.cloned().collect();
        // In a loop: collecting them instantiates a sort.
        let mut indices = BTreeMap::new();
        indices.extend(names.iter().cloned().zip(0..));
        self.0.insert(what, Table { names, indices });
        self
    }

    /// Calls `run`; until it returns, this thread reads and writes ids by these names.
    pub(crate) fn with<T>(self, run: impl FnOnce() -> T) -> T {
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                CURRENT.set(None);
            }
        }
        let _reset = Reset;
        CURRENT.set(Some(self));
        run()
    }
}

pub(super) fn serialize<S: Serializer>(
    what: &'static str,
    index: u32,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    CURRENT.with_borrow(|current| match current {
        None => index.serialize(serializer),
        Some(IdNames(tables)) => {
            let name = tables.get(what).and_then(|table| table.names.get(index as usize));
            name.ok_or_else(|| S::Error::custom(format!("{what} {index} does not exist")))?
                .serialize(serializer)
        }
    })
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    what: &'static str,
    deserializer: D,
) -> Result<u32, D::Error> {
    CURRENT.with_borrow(|current| {
        let Some(IdNames(tables)) = current else {
            return u32::deserialize(deserializer);
        };
        let name = String::deserialize(deserializer)?;
        match tables.get(what) {
            None => Ok(0),
            Some(table) => table
                .indices
                .get(&name)
                .copied()
                .ok_or_else(|| D::Error::custom(format!("{what} `{}` does not exist", clip(&name)))),
        }
    })
}
