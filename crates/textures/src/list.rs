//! Doubly linked lists of numbered elements in one table: inserting, removing and moving do not allocate.

/// The number that means `no element`.
pub const NONE: u32 = u32::MAX;

/// Neighbors of every element, by its number. An element is in at most one [`List`] at a time.
#[derive(Clone, Debug, Default)]
pub struct Links(Vec<[u32; 2]>);

/// The ends of a list.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The first element; [`NONE`] if the list is empty.
    pub first: u32,
    /// The last element; [`NONE`] if the list is empty.
    pub last: u32,
}

impl Default for List {
    fn default() -> List {
        List {
            first: NONE,
            last: NONE,
        }
    }
}

impl Links {
    /// Grows the table to hold elements below `end`.
    pub fn grow(&mut self, end: usize) {
        if self.0.len() < end {
            self.0.resize(end, [NONE; 2]);
        }
    }

    /// Reserves capacity for more elements.
    pub fn reserve(&mut self, more: usize) {
        self.0.reserve(more);
    }

    /// The next element; [`NONE`] at the end.
    pub fn next(&self, element: u32) -> u32 {
        self.0[element as usize][1]
    }

    /// An element and its successors; empty for [`NONE`].
    pub fn after(&self, first: u32) -> impl Iterator<Item = u32> {
        let element = |element: u32| (element != NONE).then_some(element);
        std::iter::successors(element(first), move |&last| element(self.next(last)))
    }

    /// The previous element; [`NONE`] at the start.
    pub fn previous(&self, element: u32) -> u32 {
        self.0[element as usize][0]
    }

    /// Appends an element.
    pub fn push_back(&mut self, list: &mut List, element: u32) {
        self.0[element as usize] = [list.last, NONE];
        match list.last {
            NONE => list.first = element,
            last => self.0[last as usize][1] = element,
        }
        list.last = element;
    }

    /// Prepends an element.
    pub fn push_front(&mut self, list: &mut List, element: u32) {
        self.0[element as usize] = [NONE, list.first];
        match list.first {
            NONE => list.last = element,
            first => self.0[first as usize][0] = element,
        }
        list.first = element;
    }

    /// Inserts `element` after `before`.
    pub fn insert_after(&mut self, list: &mut List, before: u32, element: u32) {
        let next = std::mem::replace(&mut self.0[before as usize][1], element);
        self.0[element as usize] = [before, next];
        match next {
            NONE => list.last = element,
            next => self.0[next as usize][0] = element,
        }
    }

    /// Removes an element.
    pub fn remove(&mut self, list: &mut List, element: u32) {
        let [previous, next] = std::mem::replace(&mut self.0[element as usize], [NONE; 2]);
        match previous {
            NONE => list.first = next,
            previous => self.0[previous as usize][1] = next,
        }
        match next {
            NONE => list.last = previous,
            next => self.0[next as usize][0] = previous,
        }
    }

    /// Moves an element to the end.
    pub fn move_to_back(&mut self, list: &mut List, element: u32) {
        if list.last != element {
            self.remove(list, element);
            self.push_back(list, element);
        }
    }

    /// Moves all elements of `more` to the end of `list`. O(1).
    pub fn append(&mut self, list: &mut List, more: &mut List) {
        let more = std::mem::take(more);
        match (list.last, more.first) {
            (_, NONE) => {}
            (NONE, _) => *list = more,
            (last, first) => {
                self.0[last as usize][1] = first;
                self.0[first as usize][0] = last;
                list.last = more.last;
            }
        }
    }
}
