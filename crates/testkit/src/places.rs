//! The positions of the parts of the overlay of `examples/deferred`, as `--log` prints them.

/// Where a part of the overlay is.
#[derive(Clone, Debug)]
pub struct Place {
    pub left: i16,
    pub top: i16,
    pub width: i16,
    pub height: i16,
    /// `plot`, `slider`, `row depth`, `block depth`.
    pub name: String,
}

impl Place {
    /// For a click.
    pub fn middle(&self) -> [i16; 2] {
        [self.left + self.width / 2, self.top + self.height / 2]
    }

    /// In a block, left of its name.
    pub fn edge(&self) -> [i16; 2] {
        [self.left + 3, self.top + self.height / 2]
    }

    /// In a row, inside its box and beside the cross.
    pub fn check(&self) -> [i16; 2] {
        [self.left + 11, self.top + 8]
    }
}

/// What `--log` says of a part: `place 24 412 210 17 row depth`.
pub fn place(line: &str) -> Option<Place> {
    let mut words = line.strip_prefix("place ")?.splitn(5, ' ');
    let mut number = || words.next()?.parse().ok();
    let (left, top, width, height) = (number()?, number()?, number()?, number()?);
    Some(Place {
        left,
        top,
        width,
        height,
        name: words.next()?.to_owned(),
    })
}

/// The part of this name.
///
/// # Panics
/// If there is none.
pub fn named<'a>(places: &'a [Place], name: &str) -> &'a Place {
    let found = places.iter().find(|place| place.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {places:#?}"))
}

/// The tallest block on the map of a resource that is not the first in the list, which is chosen from the start.
///
/// # Panics
/// If no resource is resident.
pub fn tallest(places: &[Place]) -> String {
    let first = places.iter().find_map(|place| place.name.strip_prefix("row "));
    let blocks = places
        .iter()
        .filter_map(|place| Some((place.height, place.name.strip_prefix("block ")?)));
    let tallest = blocks.filter(|(_, name)| Some(*name) != first).max();
    tallest.expect("a resident").1.to_owned()
}
