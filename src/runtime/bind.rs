//! Bind: from a plan to images, views, buffers and memory.

use std::sync::Arc;

use ash::vk;

use super::attachment::{Attachment, Attachments};
use super::barrier::Barriers;
use super::bound_frame::BoundFrame;
use super::bound_resource::{BoundResource, Parity};
use super::command_slot::CommandSlot;
use super::device_queue::DeviceQueue;
use super::device_state::{DeviceState, c_name};
use super::error::RuntimeError;
use super::frame_tables::FrameTables;
use super::history;
use super::owned::{Guard, OwnedObjects};
use super::planning::DevicePlanner;
use super::progress::Progress;
use super::render_pass::{self, PassObject};
use super::rendering::Dynamic;
use super::rendering::Rendering;
use super::resources::{self, Created};
use super::retire::RetiredFrames;
use super::store;
use super::submission::Submission;
use super::target::Target;
use super::tiles::Tiles;
use super::tiles::{bound_bytes, check_shading};
use crate::Result;
use crate::frame::tables::{Contents, Pass, PassKind, Version};
use crate::frame::{PassId, Persistence};
use crate::measure::Requirements;
use crate::plan::Plan;

/// How often a frame is planned anew because requirements grew, before it is given up.
const ATTEMPTS: usize = 3;

pub(super) fn bind(
    state: &Arc<DeviceState>,
    planner: &DevicePlanner,
    retired: &Arc<RetiredFrames>,
    plan: &Arc<Plan>,
    queues: Vec<DeviceQueue>,
) -> Result<BoundFrame> {
    let _span = tracing::info_span!("bind", frame = plan.frame.name()).entered();
    if plan.profile != state.profile {
        let (planned, device) = (plan.profile.name.clone(), state.profile.name.clone());
        return Err(RuntimeError::OtherDevice { planned, device }.into());
    }
    check_shading(state, plan)?;
    check_stores(plan)?;
    let mut plan = plan.clone();
    for attempt in 1.. {
        let mut guard = Guard::new(state.clone());
        match resources::create(state, &plan, &mut guard.owned)? {
            Created::All(places) => return complete(state, retired.clone(), plan, queues, guard, places),
            Created::Grown { requirements, error } if attempt < ATTEMPTS => {
                tracing::info!(reason = %error, "replanning");
                let requirements = Arc::new(described(&plan, requirements));
                plan = planner.plan(plan.described(), &requirements, &plan.options)?;
            }
            Created::Grown { error, .. } => return Err(error.into()),
        }
    }
    unreachable!("the last attempt returns")
}

/// An error if a frame has stores, and the crate was built without the shaders for them.
fn check_stores(plan: &Plan) -> Result<()> {
    let stores = plan
        .frame
        .passes()
        .iter()
        .find(|pass| pass.contents == Contents::Store);
    match stores.filter(|_| !store::AVAILABLE) {
        Some(pass) => Err(RuntimeError::UnsupportedPass {
            pass: pass.name.clone(),
            why: "the runtime stores split lifetimes only if it is built with the feature `shaders`",
        }
        .into()),
        None => Ok(()),
    }
}

/// The requirements of the described frame's resources, where those of the planned one have grown: all parts of a split lifetime are one
/// resource there.
fn described(plan: &Plan, mut grown: Requirements) -> Requirements {
    for store in plan.stores() {
        let stretch = grown.resources[store.from.index()];
        grown.resources[store.to.index()].tile = stretch.tile;
    }
    grown.resources.truncate(plan.described().resources().len());
    grown
}

/// Everything after the resources themselves.
fn complete(
    state: &Arc<DeviceState>,
    retired: Arc<RetiredFrames>,
    plan: Arc<Plan>,
    queues: Vec<DeviceQueue>,
    mut guard: Guard,
    places: Vec<BoundResource>,
) -> Result<BoundFrame> {
    let owned = &mut guard.owned;
    let passes = render_passes(state, &plan, owned)?;
    let parities = if has_previous(&plan) { 2 } else { 1 };
    let mut tables = Vec::with_capacity(parities);
    for parity in Parity::BOTH.into_iter().take(parities) {
        let places = in_parity(&plan, &places, parity);
        tables.push(FrameTables {
            barriers: Barriers::new(
                &plan,
                &places,
                &queues,
                state.functions.synchronization_2.is_some(),
            ),
            renderings: renderings(state, &plan, owned, &passes, &places)?,
            places,
        });
    }
    let targets: Vec<Option<&Target>> = passes
        .iter()
        .map(|pass| pass.as_ref().map(|(_, target)| target))
        .collect();
    let stores = store::create(state, &plan, owned, &targets, &tables)?;
    let progress = Progress::new(state, &plan, owned)?;
    let submission = Submission::new(state, &plan, &progress, owned)?;
    history::clear(state, &plan, &queues, &places)?;
    let labels = if state.functions.debug_utils.is_some() {
        plan.frame
            .passes()
            .iter()
            .map(|pass| c_name(&pass.name))
            .collect()
    } else {
        Vec::new()
    };
    let memory = owned.blocks.iter().map(|block| block.location().0).collect();
    let slots = plan
        .frame
        .command_buffers()
        .iter()
        .map(|_| CommandSlot::default())
        .collect();
    let objects = plan.objects.len();
    tracing::info!(
        objects,
        images = owned.images.len(),
        buffers = owned.buffers.len(),
        "bound"
    );
    Ok(BoundFrame {
        targets: passes
            .into_iter()
            .map(|pass| pass.map(|(_, target)| target))
            .collect(),
        state: state.clone(),
        retired,
        queues,
        memory,
        tables,
        labels,
        slots,
        stores,
        progress,
        submission,
        external_passes: external_passes(&plan),
        owned: Some(guard.keep()),
        plan,
    })
}

/// The render passes with external attachments, whose views change from frame to frame.
fn external_passes(plan: &Plan) -> Vec<PassId> {
    let external = |attachment: &Attachment| {
        let resource = plan.placements[attachment.placement.index()].resource;
        matches!(
            plan.frame.resource(resource).persistence,
            Persistence::External(_)
        )
    };
    plan.frame
        .pass_ids()
        .filter(|pass| Attachments::of(plan, *pass).all().any(external))
        .collect()
}

/// Whether any pass reads what the frame before left.
fn has_previous(plan: &Plan) -> bool {
    plan.frame
        .accesses()
        .iter()
        .any(|access| access.version == Version::Previous)
}

/// The objects that stand for the plan's placements in frames of `parity`: the two of a history pair alternate.
fn in_parity(plan: &Plan, places: &[BoundResource], parity: Parity) -> Vec<BoundResource> {
    let mut places = places.to_vec();
    if parity == Parity::Odd {
        for (resource, planned) in plan.frame.resources().iter().zip(&plan.resources) {
            if resource.persistence == Persistence::History && planned.placements.len() == 2 {
                places.swap(
                    planned.placements.indices().start,
                    planned.placements.indices().start + 1,
                );
            }
        }
    }
    places
}

/// The render pass objects (null where rendering is dynamic) and targets.
fn render_passes(
    state: &DeviceState,
    plan: &Plan,
    owned: &mut OwnedObjects,
) -> Result<Vec<Option<(vk::RenderPass, Target)>>> {
    let create = |(id, pass): (PassId, &Pass)| {
        if pass.kind != PassKind::Render {
            return Ok(None);
        }
        let attachments = Attachments::of(plan, id);
        let dynamic = state.functions.dynamic_rendering.is_some() && attachments.inputs.is_empty();
        let render_pass = if dynamic {
            vk::RenderPass::null()
        } else {
            let reason = if attachments.inputs.is_empty() {
                "no dynamic rendering"
            } else {
                "input attachments"
            };
            tracing::debug!(pass = pass.name, reason, "recorded as a render pass object");
            render_pass::create(state, owned, pass, &attachments, bound_bytes(plan, id))?
        };
        Ok(Some((render_pass, Target::new(pass, &attachments, render_pass))))
    };
    plan.frame
        .pass_ids()
        .zip(plan.frame.passes())
        .map(create)
        .collect()
}

fn renderings(
    state: &DeviceState,
    plan: &Plan,
    owned: &mut OwnedObjects,
    passes: &[Option<(vk::RenderPass, Target)>],
    places: &[BoundResource],
) -> Result<Vec<Option<Rendering>>> {
    let create = |(id, planned): (PassId, &Option<(vk::RenderPass, Target)>)| {
        let Some((render_pass, _)) = planned else {
            return Ok(None);
        };
        let pass = plan.frame.pass(id);
        let attachments = Attachments::of(plan, id);
        if *render_pass == vk::RenderPass::null() {
            let tiles = Tiles::new(state, pass, bound_bytes(plan, id));
            let dynamic = Dynamic::new(attachments, tiles, pass.area, pass.layers, places);
            return Ok(Some(Rendering::Dynamic(dynamic)));
        }
        let mut object = PassObject::new(*render_pass, &attachments, pass.area, pass.layers);
        object.refresh(state, owned, places, pass)?;
        Ok(Some(Rendering::Object(object)))
    };
    plan.frame.pass_ids().zip(passes).map(create).collect()
}
