//! Symbols of dynamic dimensions.

use super::{Reader, invalid};
use crate::error::Result;
use crate::graph::{Dim, SymbolId};
use tileheap_json::clip;

impl Reader<'_> {
    /// The symbol of a dimension with a name in the file. The model and its functions share a symbol if the model uses the name; otherwise
    /// each call of a function has its own.
    pub(super) fn symbol(&mut self, name: &str) -> Dim {
        let known = self.symbols.get(name).or_else(|| self.symbols_of_call.get(name));
        if let Some(&id) = known {
            return id.into();
        }
        let id = self.new_symbol(name);
        let symbols = match self.calls {
            0 => &mut self.symbols,
            _ => &mut self.symbols_of_call,
        };
        symbols.insert(name.to_owned(), id);
        id.into()
    }

    /// The symbol of a dynamic dimension without a name, named after its tensor and axis. Tensors of the same name in different bodies and
    /// calls have their own symbols.
    pub(super) fn unnamed(&mut self, tensor: &str, axis: usize) -> SymbolId {
        let name = format!("{tensor}.{axis}");
        let known = self.unnamed.get(&name).filter(|_| !tensor.is_empty());
        if let Some(&id) = known {
            return id;
        }
        let id = self.new_symbol(&name);
        self.unnamed.insert(name, id);
        id
    }

    /// The symbol of a dimension that is known only at run time and lies within `range`; the options may give a smaller range.
    pub(super) fn symbol_within(&mut self, tensor: &str, axis: usize, range: (u64, u64)) -> Dim {
        let name = format!("{tensor}.{axis}");
        let mut id = self.unnamed(tensor, axis);
        let has_range = self.graph.symbol_range(id).is_some();
        if has_range && !self.options.ranges.contains_key(&name) {
            // That of an earlier tensor of this name.
            id = self.new_symbol(&name);
            self.unnamed.insert(name, id);
        }
        self.graph.limit_symbol(id, range);
        id.into()
    }

    fn new_symbol(&mut self, name: &str) -> SymbolId {
        self.dynamic_names.insert(name.to_owned());
        let range = self.options.ranges.get(name).copied();
        self.graph.new_symbol(name, range, None)
    }

    /// The least and the greatest value of a dimension; a symbol without a range is assumed to lie between 0 and `i32::MAX`.
    pub(super) fn range(&self, dim: &Dim) -> Option<(i64, i64)> {
        dim.bounds(&|symbol| self.symbol_range(symbol))
    }

    pub(super) fn symbol_range(&self, symbol: SymbolId) -> Option<(i64, i64)> {
        let most = i64::from(i32::MAX) as u64;
        let (least, most) = self.graph.symbol_range(symbol).unwrap_or((0, most));
        Some((i64::try_from(least).ok()?, i64::try_from(most).ok()?))
    }

    /// Checks that each range in the options names a dynamic dimension of the model.
    pub(super) fn check_ranges(&self) -> Result<()> {
        let mut given = self.options.ranges.keys();
        let Some(name) = given.find(|name| !self.dynamic_names.contains(*name)) else {
            return Ok(());
        };
        let first = self.dynamic_names.iter().take(8);
        let names: Vec<String> = first.map(|name| format!("`{}`", clip(name))).collect();
        let described = match (names.is_empty(), self.dynamic_names.len() - names.len()) {
            (true, _) => "all dimensions are fixed".to_owned(),
            (_, 0) => format!("the dynamic dimensions are {}", names.join(", ")),
            (_, more) => format!(
                "the dynamic dimensions include {}; {more} more are not listed",
                names.join(", ")
            ),
        };
        Err(invalid(format!(
            "a range is given for `{}`, which is not a dynamic dimension: {described}",
            clip(name)
        )))
    }
}
