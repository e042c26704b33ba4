//! Maps by name with scopes: at the end of a body, its changes are undone.

use std::collections::BTreeMap;

/// A map by name. [`end`](Scoped::end) undoes the changes since [`begin`](Scoped::begin), so that the cost of a body is proportional to its
/// changes; copying the map for each body would make it proportional to the size of the model.
#[derive(Debug)]
pub(super) struct Scoped<V> {
    entries: BTreeMap<String, V>,
    /// The changes of all open bodies, in order: each name with its previous entry.
    changes: Vec<(String, Option<V>)>,
    open: usize,
}

impl<V> Default for Scoped<V> {
    fn default() -> Scoped<V> {
        Scoped {
            entries: BTreeMap::new(),
            changes: Vec::new(),
            open: 0,
        }
    }
}

impl<V> Scoped<V> {
    pub(super) fn get(&self, name: &str) -> Option<&V> {
        self.entries.get(name)
    }

    /// Adds or replaces an entry. An empty name, which stands for an omitted value, is ignored.
    pub(super) fn insert(&mut self, name: String, value: V) {
        if name.is_empty() {
            return;
        }
        if self.open == 0 {
            self.entries.insert(name, value);
        } else {
            let before = self.entries.insert(name.clone(), value);
            self.changes.push((name, before));
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Some((name, before)) = self.entries.remove_entry(name) {
            if self.open > 0 {
                self.changes.push((name, Some(before)));
            }
        }
    }

    /// Begins a body; returns its mark for [`end`](Scoped::end).
    pub(super) fn begin(&mut self) -> usize {
        self.open += 1;
        self.changes.len()
    }

    /// Ends the body that began at this mark.
    pub(super) fn end(&mut self, mark: usize) {
        self.open -= 1;
        for (name, before) in self.changes.drain(mark..).rev() {
            match before {
                Some(value) => self.entries.insert(name, value),
                None => self.entries.remove(&name),
            };
        }
    }
}

impl<V> Extend<(String, V)> for Scoped<V> {
    fn extend<T: IntoIterator<Item = (String, V)>>(&mut self, entries: T) {
        entries
            .into_iter()
            .for_each(|(name, value)| self.insert(name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_leave_the_entries_as_they_were() {
        let mut map = Scoped::default();
        map.extend([("a", 1), ("b", 2), ("", 3)].map(|(name, value)| (name.to_owned(), value)));
        let outer = map.begin();
        map.insert("a".to_owned(), 10);
        let inner = map.begin();
        map.insert("a".to_owned(), 100);
        map.insert("a".to_owned(), 101);
        map.remove("b");
        map.insert("c".to_owned(), 5);
        map.remove("c");
        assert_eq!(
            [map.get("a"), map.get("b"), map.get("c")],
            [Some(&101), None, None]
        );
        map.end(inner);
        assert_eq!(
            [map.get("a"), map.get("b"), map.get("c")],
            [Some(&10), Some(&2), None]
        );
        map.end(outer);
        assert_eq!(
            [map.get("a"), map.get("b"), map.get("")],
            [Some(&1), Some(&2), None]
        );
        assert!(map.changes.is_empty());
    }
}
