//! The `tileheap` command.
fn main() {}
