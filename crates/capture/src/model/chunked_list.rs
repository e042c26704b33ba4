//! A list that does not move its elements when it grows.

/// The capacities of the first chunk and of the largest chunks. Each chunk between them has twice the capacity of the one before it.
const CAPACITIES: [usize; 2] = [8, 256];

/// A list in chunks. A vector copies all of its elements each time it grows: for a long list of commands, that takes as much time as recording them.
#[derive(Debug)]
pub(crate) struct ChunkedList<T> {
    /// The chunks before the last one.
    full: Vec<Vec<T>>,
    last: Vec<T>,
}

/// The position of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListPosition {
    chunk: usize,
    index: usize,
}

impl<T> Default for ChunkedList<T> {
    fn default() -> Self {
        ChunkedList {
            full: Vec::new(),
            last: Vec::new(),
        }
    }
}

impl<T> ChunkedList<T> {
    /// Appends an element, and returns its position.
    #[inline]
    pub(crate) fn push(&mut self, element: T) -> ListPosition {
        if self.last.len() == self.last.capacity() {
            self.begin_chunk();
        }
        self.last.push(element);
        ListPosition {
            chunk: self.full.len(),
            index: self.last.len() - 1,
        }
    }

    #[cold]
    fn begin_chunk(&mut self) {
        let [first, largest] = CAPACITIES;
        let capacity = (2 * self.last.capacity()).clamp(first, largest);
        let full = std::mem::replace(&mut self.last, Vec::with_capacity(capacity));
        if !full.is_empty() {
            self.full.push(full);
        }
    }

    pub(crate) fn get_mut(&mut self, at: ListPosition) -> Option<&mut T> {
        let chunk = self.full.get_mut(at.chunk).unwrap_or(&mut self.last);
        chunk.get_mut(at.index)
    }

    /// Iterates over the elements in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.full.iter().flatten().chain(&self.last)
    }
}

impl<T> FromIterator<T> for ChunkedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut list = ChunkedList::default();
        all.into_iter().for_each(|one| _ = list.push(one));
        list
    }
}

#[test]
fn elements_keep_their_positions_and_addresses() {
    for count in [0, 1, 8, 9, 1000] {
        let mut list = ChunkedList::default();
        let mut positions = Vec::new();
        for value in 0..count {
            let at = list.push(value);
            let address = std::ptr::from_mut(list.get_mut(at).expect("the element was pushed"));
            positions.push((at, address));
        }
        assert!(list.iter().copied().eq(0..count));
        for (value, (at, address)) in positions.into_iter().enumerate() {
            let found = list.get_mut(at).expect("the list has the element");
            assert_eq!((*found, std::ptr::from_mut(found)), (value, address));
        }
        assert!(list.full.iter().all(|chunk| chunk.len() <= CAPACITIES[1]));
        assert!((0..count).collect::<ChunkedList<_>>().iter().eq(list.iter()));
    }
}
