//! The peers' published cases, by the strategies that reproduce them: every file of `../shared/cases` (or of `TILEHEAP_CASES`) of a
//! schema that is known here.

mod executorch;
mod litert;
mod nnc;
mod relay;
mod tvm;
mod usmp;
mod vgg_d;

use std::path::PathBuf;

use serde_json::Value;
use tileheap_tensor::units::Alignment;
use tileheap_tensor::{Graph, Layout, LayoutRule, TensorPlan, TensorPlanOptions, TensorRequirements, plan};

/// A case file by its name; `None`, and the calling test listed as skipped, where there is none.
fn case(name: &str) -> Option<Value> {
    let folder = match std::env::var_os("TILEHEAP_CASES") {
        Some(folder) => PathBuf::from(folder),
        None => tileheap_testkit::shared("cases")?,
    };
    let path = folder.join(name);
    if !path.is_file() {
        tileheap_testkit::skip(&format!("{} is not there", path.display()));
        return None;
    }
    let text = std::fs::read_to_string(&path).unwrap();
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number"))
}

fn numbers(value: &Value) -> Vec<u64> {
    list(value).iter().map(number).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is a text"))
}

/// The plan of a graph whose tensors all lie in buffers, at `alignment`.
fn planned(graph: &Graph, options: &TensorPlanOptions<'_>, alignment: u64) -> TensorPlan {
    let layouts: Vec<Layout> = graph
        .tensors()
        .iter()
        .map(|tensor| {
            LayoutRule::buffer()
                .apply(&tensor.name, &tensor.shape.fixed().unwrap(), tensor.element)
                .unwrap()
        })
        .collect();
    let alignment = Alignment::new(alignment).unwrap();
    let needs: Vec<TensorRequirements> = layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, alignment))
        .collect();
    plan(graph, &layouts, &needs, options).unwrap()
}

/// Every file of the folder is read by a test here; what is not reproduced is listed as skipped, with the reason.
#[test]
fn what_is_not_reproduced_is_said() {
    const READ: [&str; 10] = [
        "executorch_memory_planning.json",
        "executorch_vulkan_layout.json",
        "nnc.json",
        "tflite_gpu_memory_management.json",
        "tvm_flattening.json",
        "tvm_graph_plan.json",
        "tvm_relay_storage_scopes.json",
        "tvm_scope_rule.json",
        "tvm_token_allocator_2d.json",
        "tvm_usmp.json",
    ];
    // Of the texture cache: tests/cache_paper.
    const ELSEWHERE: &str = "blow_texture_cache.json";
    let folder = match std::env::var_os("TILEHEAP_CASES") {
        Some(folder) => PathBuf::from(folder),
        None => match tileheap_testkit::shared("cases") {
            Some(folder) => folder,
            None => return,
        },
    };
    for entry in std::fs::read_dir(&folder).expect("a folder of cases") {
        let name = entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".json") && name != ELSEWHERE && !READ.contains(&name.as_str()) {
            tileheap_testkit::skip(&format!("{name} is of no schema that is known here"));
        }
    }
}
