//! The shaders of `shaders/`, and what each declares.

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
