//! The default policy: keeps the textures that the next frame most likely requests.

mod desc;
mod history;
mod policy;
mod room;
mod small;
mod state;
mod window;

pub use desc::CoherentDesc;
pub use state::Coherent;
