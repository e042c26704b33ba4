//! The default policy: keeps the textures that the next frame will most likely request.

mod absences;
mod desc;
mod duels;
mod exchange;
mod history;
mod policy;
mod room;
mod state;
mod swap;

pub use desc::CoherentDesc;
pub use state::Coherent;
