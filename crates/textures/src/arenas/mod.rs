#![doc = include_str!("../../docs/arenas.md")]

mod arena;
mod cache;
mod desc;
mod engine;
mod temperature;
mod view;
mod walls;

pub use cache::Arenas;
pub use desc::{ArenasDesc, IdleVictim, InitialWalls, TemperatureAverage};
pub use temperature::Temperature;
pub use view::{ArenaSide, ArenaView, WallStats};
