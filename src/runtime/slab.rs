//! A table whose rows keep their indices; the index of a removed row is reused.

/// Rows by index; inserting and removing take constant time.
pub(super) struct Slab<T> {
    rows: Vec<Option<T>>,
    /// The indices of removed rows, which are reused.
    vacant: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab {
            rows: Vec::new(),
            vacant: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    /// Adds a row; returns its index.
    pub(super) fn insert(&mut self, row: T) -> u32 {
        match self.vacant.pop() {
            Some(index) => {
                self.rows[index as usize] = Some(row);
                index
            }
            None => {
                self.rows.push(Some(row));
                self.rows.len() as u32 - 1
            }
        }
    }

    /// Removes the row at an index, if there is one.
    pub(super) fn remove(&mut self, index: u32) -> Option<T> {
        let row = self.rows.get_mut(index as usize)?.take()?;
        self.vacant.push(index);
        Some(row)
    }

    pub(super) fn get(&self, index: u32) -> Option<&T> {
        self.rows.get(index as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.rows.get_mut(index as usize)?.as_mut()
    }

    /// The rows in the order of their indices.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let rows = (0..).zip(&self.rows);
        rows.filter_map(|(index, row)| Some((index, row.as_ref()?)))
    }

    /// The range of indices in use, including those of removed rows.
    pub(super) fn indices(&self) -> std::ops::Range<u32> {
        0..self.rows.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_stay_until_their_row_is_removed() {
        let mut slab = Slab::default();
        let [a, b, c] = ["a", "b", "c"].map(|row| slab.insert(row));
        assert_eq!(
            (slab.remove(b), slab.remove(b), slab.get(b)),
            (Some("b"), None, None)
        );
        assert_eq!(slab.iter().collect::<Vec<_>>(), [(a, &"a"), (c, &"c")]);
        assert_eq!(slab.insert("d"), b);
        assert_eq!(slab.get_mut(b), Some(&mut "d"));
        assert_eq!((slab.indices(), slab.get(3)), (0..3, None));
    }
}
