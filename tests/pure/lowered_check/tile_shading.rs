//! Passes with tile shading, and the contents that they leave in tile memory for later passes.
//!
//! Source: the proposal of `VK_QCOM_tile_memory_heap`, "Interactions with VK_QCOM_tile_shading".

use ash::vk;
use ash::vk::PipelineStageFlags2 as S;
use tileheap::Checked;
use tileheap::lower::check::{LoweredCheckError, LoweringRule};
use tileheap::lower::tables::{ImageOrBuffer, ObjectRef, OptionalIndex};
use tileheap::lower::{DeviceQueues, Lowered, LoweringDesc, lower};
use tileheap::plan::{MemoryKind, Plan};
use tileheap::units::Bytes;

use super::device;
use crate::drawn::frame;
use crate::planned::plan_on;

const TILE_READ: vk::AccessFlags2 = tileheap::ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM;
const TILE_WRITE: vk::AccessFlags2 = tileheap::ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM;

/// ```text
/// first    shade: draws albedo; per tile, a dispatch reads it where it is, sharpens it, and writes light
/// second   blur: samples light      show: samples light and albedo
/// ```
fn shaded() -> Checked<Plan> {
    plan_on(&frame("tile shading"), "adreno-830")
}

#[test]
fn contents_made_in_a_tile_shading_pass_are_kept_for_later_passes() {
    let plan = shaded();
    let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
    let tables = lower(&plan, &lowering_desc).unwrap();
    // It stays on chip after the pass, with memory bound of the same size with which the pass was begun.
    let [shade, blur, show] = tables.passes[..] else {
        panic!("{} passes", tables.passes.len())
    };
    let bound = shade.tile_memory.get().expect("tile memory is bound");
    assert_eq!([blur.tile_memory, show.tile_memory], [shade.tile_memory; 2]);
    for name in ["albedo", "light"] {
        let resource = plan.frame.resource_named(name).unwrap();
        assert_eq!(plan.placements_of(resource)[0].memory, MemoryKind::Tile, "{name}");
    }
    let instance = tables.instances[shade.instance.get().unwrap() as usize];
    assert!(instance.tile_shading);
    assert_eq!(instance.tile_memory, tables.memory[bound as usize].size);
    // Both draws and dispatches may have written it: through the attachment, within the tile and as a storage image.
    let light = tables.accesses[2].object;
    let waits = |object: ObjectRef| {
        let barriers = blur.before.images.of(&tables.image_barriers).iter();
        let mut all = barriers.chain(show.before.images.of(&tables.image_barriers));
        all.find(|one| object == ImageOrBuffer::Image(one.image))
            .unwrap()
            .scopes
    };
    assert!(
        waits(light)
            .src_stages
            .contains(S::COMPUTE_SHADER | S::FRAGMENT_SHADER)
    );
    let albedo = waits(tables.accesses[0].object);
    assert!(
        albedo
            .src_stages
            .contains(S::COMPUTE_SHADER | S::COLOR_ATTACHMENT_OUTPUT)
    );
    assert!(
        albedo
            .src_access
            .contains(TILE_WRITE | vk::AccessFlags2::COLOR_ATTACHMENT_WRITE)
    );
    assert!(!albedo.dst_access.intersects(TILE_READ));
    // The descriptor of the tile attachment uses the attachment's view.
    assert_eq!(
        tables.accesses[1].view.get(),
        Some(tables.attachments[instance.colors.first as usize].view)
    );
}

#[test]
fn damaged_tables_of_tile_shading_are_refused() {
    let plan = shaded();
    let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
    let device = device(&plan, &lowering_desc);
    let sound = lower(&plan, &lowering_desc).unwrap().into_inner();
    let scopes = |tables: &mut Lowered, change: fn(&mut vk::PipelineStageFlags2, &mut vk::AccessFlags2)| {
        let images = tables.image_barriers.iter_mut().map(|one| &mut one.scopes);
        for scopes in images.chain(tables.memory_barriers.iter_mut().map(|one| &mut one.scopes)) {
            change(&mut scopes.src_stages, &mut scopes.src_access);
        }
    };
    type Damage<'a> = (&'a str, &'a dyn Fn(&mut Lowered), fn(&LoweredCheckError) -> bool);
    let damages: [Damage<'_>; 7] = [
        (
            "no tile shading",
            &|it| it.instances[0].tile_shading = false,
            is_parameter,
        ),
        (
            "another size",
            &|it| it.instances[0].tile_memory = Bytes(12_288),
            is_parameter,
        ),
        (
            "no size",
            &|it| it.instances[0].tile_memory = Bytes::ZERO,
            is_parameter,
        ),
        (
            "not bound later",
            &|it| it.passes[1].tile_memory = OptionalIndex::NONE,
            is_parameter,
        ),
        (
            "another view",
            &|it| it.accesses[1].view = it.accesses[2].view,
            is_parameter,
        ),
        (
            "no wait for tile attachments",
            &|it| scopes(it, |_, access| *access &= !TILE_WRITE),
            |error| matches!(error.rule, LoweringRule::Execution | LoweringRule::Memory),
        ),
        (
            "no wait for dispatches",
            &|it| scopes(it, |stages, _| *stages &= !S::COMPUTE_SHADER),
            |error| matches!(error.rule, LoweringRule::Execution | LoweringRule::Memory),
        ),
    ];
    for (name, damage, is_reason) in damages {
        let mut tables = sound.clone();
        damage(&mut tables);
        let errors = tables.violations(&plan.frame, &lowering_desc, &device);
        assert!(errors.iter().any(is_reason), "{name}: {errors:?}");
    }
}

fn is_parameter(error: &LoweredCheckError) -> bool {
    matches!(error.rule, LoweringRule::Parameter(_))
}
