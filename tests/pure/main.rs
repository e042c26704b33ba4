//! Frames, plans and their checker: everything that needs no driver.

mod aliasing;
mod arrange;
mod arrange_limits;
mod arrange_meaning;
mod charges;
mod damage;
mod depth_resolves;
#[path = "../descriptions/mod.rs"]
mod described;
mod drawn;
mod everything;
mod execute;
mod execute_strips;
mod frame_edits;
mod frame_faults;
mod frame_import;
mod frame_json;
#[cfg(feature = "reflect")]
mod frame_shaders;
mod histories;
mod instances;
mod lower;
mod lowered_check;
mod mutations;
mod parts;
mod plan_check;
mod plan_executed;
mod plan_planner;
mod plan_properties;
mod plan_split;
mod plan_text;
mod planned;
mod traffic;
mod valid_usage;
mod valid_usage_on_devices;
mod values;

#[global_allocator]
static ALLOCATOR: tileheap_testkit::counting::CountingAllocator =
    tileheap_testkit::counting::CountingAllocator;
