//! What the workspace has of frames and models is planned, and `check` accepts the plans.

use crate::run::{planned, shared, shared_frames, tileheap, tileheap_with};

#[test]
fn every_plan_of_a_shared_frame_is_right() {
    for frame in shared_frames() {
        for options in [
            &[][..],
            &["--strategy", "first-come"],
            &["--strategy", "fast", "--profile", "x2-85"],
        ] {
            let plan = planned(&frame, options).to_string();
            let verdict = tileheap_with(plan.as_bytes(), &["check", &frame, "-"]).good();
            assert!(verdict.starts_with("valid: "), "{verdict}");
        }
    }
}

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
