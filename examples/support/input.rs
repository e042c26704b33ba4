//! What a person does at a window, free of the window system.

/// One thing that a person did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    Key(Key),
    /// The pointer is there, in points from the left and the top.
    Pointer([f32; 2]),
    /// The pointer left the window.
    PointerGone,
    /// The button of the mouse that chooses things goes down.
    Press,
    /// It comes up.
    Release,
}

/// The keys that mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    F1,
    Up,
    Down,
    Home,
    End,
    Space,
    Plus,
    Minus,
    Tab,
    O,
    R,
    Escape,
}

/// What follows for the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Close,
}
