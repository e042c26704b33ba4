//! A frame with every feature, which other tests write, read and plan.

use tileheap::frame::Frame;

/// The text of a frame with every feature that a frame can have, and in which every kind of reason can occur: two queues, batches, history, external,
/// lazy, copies, resolves.
pub(crate) fn text() -> String {
    std::fs::read_to_string(tileheap_testkit::data("everything.json")).expect("a readable file")
}

pub(crate) fn everything() -> Frame {
    Frame::from_json(&text()).expect("a frame")
}
