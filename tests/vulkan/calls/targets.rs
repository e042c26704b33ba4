//! Pipeline targets: the same before and after a plan is bound, and without a driver.

use ash::vk;
use tileheap::frame::tables::PassKind;
use tileheap::lower::{PipelineTarget, PipelineTargets};
use tileheap::plan::{Plan, PlanOptions};
use tileheap_testkit::fake_driver::Config;

use super::Rig;

/// Every target of a plan's described passes.
fn all(plan: &Plan, targets: &PipelineTargets) -> Vec<PipelineTarget> {
    let frame = plan.described();
    let mut all = Vec::new();
    for pass in frame.pass_ids() {
        let subpasses = frame.pass(pass).subpasses;
        let render = frame.pass(pass).kind == PassKind::Render;
        assert_eq!(targets.get(pass, 0).is_some(), render);
        assert_eq!(targets.get(pass, subpasses), None);
        all.extend((0..subpasses).filter_map(|subpass| targets.get(pass, subpass).cloned()));
    }
    all
}

#[test]
fn pipelines_can_be_created_before_anything_is_bound() {
    for (config, dynamic) in [(Config::modern(), true), (Config::vulkan_1_1(), false)] {
        let rig = Rig::new(config);
        let options = PlanOptions::default();
        let plan = rig.tile.plan(&rig.fake.described.frame, &options).unwrap();
        let before = all(&plan, &rig.tile.targets(&plan).unwrap());
        let bound = rig.tile.bind(&plan).unwrap();
        // Render pass objects are reused.
        assert_eq!(all(&plan, bound.targets()), before);
        let pure = all(&plan, &plan.targets().unwrap());
        assert_eq!(pure.len(), before.len());
        for (pure, created) in pure.iter().zip(&before) {
            assert!(dynamic || !created.dynamic);
            assert_eq!(created.render_pass == vk::RenderPass::null(), created.dynamic);
            let render_pass = created.render_pass;
            assert_eq!(
                *created,
                PipelineTarget {
                    render_pass,
                    ..pure.clone()
                }
            );
        }
        assert!(before.iter().any(|target| target.dynamic == dynamic));
        assert!(before.iter().any(|target| !target.color_formats.is_empty()));
        drop(bound);
    }
}

#[test]
fn a_plan_for_another_device_has_no_targets() {
    let (rig, other) = (
        Rig::new(Config::modern()),
        Rig::new(Config::modern().without_tile_memory()),
    );
    let options = PlanOptions::default();
    let plan = other.tile.plan(&other.fake.described.frame, &options).unwrap();
    let error = rig.tile.targets(&plan).unwrap_err().to_string();
    assert!(error.contains("the plan was made for"), "{error}");
}
