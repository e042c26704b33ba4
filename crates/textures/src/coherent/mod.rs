//! The default policy: keeps the textures that the next frame most likely requests.

mod absences;
mod desc;
mod duels;
mod history;
mod policy;
mod room;
mod state;

pub use desc::CoherentDesc;
pub use state::Coherent;
