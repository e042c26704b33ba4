//! Compiles the shaders of the examples to `OUT_DIR/shaders.rs`.

fn main() {
    tileheap_shaders::build_folder("../shaders".as_ref());
}
