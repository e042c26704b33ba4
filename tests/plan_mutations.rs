//! Damage: plans that the checker accepts are broken in one place, and it must refuse them with the right reason.
//!
//! A kind of damage is three things: *sites*, the places of a plan at which it certainly breaks a rule; what is done there;
//! and the fault that belongs to it. Every kind must find enough sites among the planned frames, so that none is tested on
//! nothing.

mod mutations;
mod planned;
