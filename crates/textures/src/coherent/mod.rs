//! Our own policy: what a frame used stays for the frame, and memory goes to what the next frame will use.

mod desc;
mod history;
mod policy;
mod room;
mod small;
mod state;
mod window;

pub use desc::CoherentDesc;
pub use state::Coherent;
