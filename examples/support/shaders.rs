//! The shaders of `shaders/`, with their declarations.

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
