//! Plans all models in the workspace's test data.

use crate::run::{shared, tileheap};

#[test]
fn every_model_and_every_compilers_file_is_planned() {
    for folder in ["tensor/models", "tensor/compilers"] {
        for entry in std::fs::read_dir(shared(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_str().unwrap();
            if name.ends_with("totals.csv") || (name.ends_with(".onnx") && !cfg!(feature = "onnx")) {
                continue;
            }
            tileheap(&["tensors", name]).shows(&["total", "Live at the peak"]);
        }
    }
}
