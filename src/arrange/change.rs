//! Cheap changes to a frame's description: narrower formats, smaller extents, removed uses.

use std::sync::Arc;

use ash::vk;
use tileheap_device::profile::content_bytes;
use tileheap_units::CompactSort;

use super::error::ArrangeError;
use crate::execute::ExecutedFrame;
use crate::frame::tables::ResourceKind;
use crate::frame::{AccessKind, Extent, Frame, ImageDesc, PassId, Persistence, ResourceId};
use crate::measure::{Requirements, ResourceRequirements};
use crate::names::name_of;
use crate::plan::{OffChipReason, PlacementReason, Plan, PlanOptions, ResidencyStrategy, Runnable, make};
use crate::profile::TileRequirements;
use crate::units::Bytes;

/// A change to a frame's description. Passes and resources keep their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DescriptionChange {
    /// An image gets another format.
    Format {
        /// The image.
        image: ResourceId,
        /// Its new format.
        format: vk::Format,
    },
    /// An image becomes smaller, together with all images attached with it in a pass, directly or through others.
    Extent {
        /// One of the images that become smaller.
        image: ResourceId,
        /// The new width and height of the images, in quarters of the described ones: 1 to 3.
        quarters: u32,
    },
    /// A pass no longer uses a resource.
    Use {
        /// The resource.
        resource: ResourceId,
        /// The pass.
        pass: PassId,
    },
}

impl DescriptionChange {
    /// Returns the frame with this change.
    ///
    /// # Errors
    /// [`ArrangeError::Change`] if the changed description is invalid, there is no such image or use, or the quarters are out of range.
    pub fn apply(self, frame: &Frame) -> Result<Frame, ArrangeError> {
        let refused = |why: String| ArrangeError::Change {
            change: self.in_words(frame),
            why,
        };
        let known = |id: ResourceId| frame.resources().get(id.index()).is_some();
        let changed = match self {
            DescriptionChange::Format { image, format } if known(image) => {
                let format = |id, desc: &mut ImageDesc| {
                    if id == image {
                        desc.format = format;
                    }
                };
                frame.with_images(format).map_err(|error| error.to_string())
            }
            DescriptionChange::Extent { image, quarters } if known(image) => match quarters {
                1..=3 => scaled(frame, image, quarters),
                _ => Err(format!(
                    "the number of quarters must be 1, 2 or 3, but is {quarters}"
                )),
            },
            DescriptionChange::Use { resource, pass } if known(resource) => {
                without_use(frame, resource, pass)
            }
            _ => Err("the frame has no such resource".to_owned()),
        };
        changed.map_err(refused)
    }

    /// Describes the change: the images or resource, and the new value.
    pub fn in_words(self, frame: &Frame) -> String {
        let name = |id: ResourceId| {
            let known = frame.resources().get(id.index());
            known.map_or_else(|| format!("resource {}", id.0), |one| format!("`{}`", one.name))
        };
        match self {
            DescriptionChange::Format { image, format } => {
                format!("{}: format {}", name(image), name_of(format))
            }
            DescriptionChange::Extent { image, quarters } => {
                let images: Vec<_> = attached_with(frame, image).into_iter().map(name).collect();
                let part = ["none", "a quarter", "half", "three quarters"].get(quarters as usize);
                let part = part.unwrap_or(&"more");
                format!("{}: {part} of width and height", images.join(", "))
            }
            DescriptionChange::Use { resource, pass } => {
                let pass = frame.passes().get(pass.index()).map_or("", |pass| &pass.name);
                format!("{}: not used in `{pass}`", name(resource))
            }
        }
    }
}

/// Images attached with an image in a pass, directly or through others; sorted.
fn attached_with(frame: &Frame, image: ResourceId) -> Vec<ResourceId> {
    let mut group = vec![image];
    let mut next = 0;
    while let Some(&one) = group.get(next) {
        next += 1;
        for use_of in frame.accesses_to(one).filter(|access| access.kind.is_attached()) {
            let others = frame
                .accesses_of(use_of.pass)
                .iter()
                .filter(|other| other.kind.is_attached());
            for other in others {
                if !group.contains(&other.resource) {
                    group.push(other.resource);
                }
            }
        }
    }
    group.compact_sort();
    group
}

/// Scales the width and height of an image, and of those attached with it, to `quarters` quarters.
///
/// # Errors
/// The reason, as text: a side is not divisible, a pass declares its render area, or the extent follows from another image's.
fn scaled(frame: &Frame, image: ResourceId, quarters: u32) -> Result<Frame, String> {
    let group = attached_with(frame, image);
    let mut extents = Vec::new();
    for &id in &group {
        let resource = frame.resource(id);
        let name = &resource.name;
        let ResourceKind::Image { extent, .. } = resource.kind else {
            return Err(format!("`{name}` is not an image"));
        };
        // The extent of a level follows from its image's.
        if resource.level_of.is_some() {
            return Err(format!("`{name}` is a level of another image"));
        }
        if extent.width % 4 != 0 || extent.height % 4 != 0 {
            return Err(format!("the width and height of `{name}` must be multiples of 4"));
        }
        extents.push(vk::Extent3D {
            width: extent.width / 4 * quarters,
            height: extent.height / 4 * quarters,
            depth: extent.depth,
        });
    }
    let attaches = |pass: PassId| {
        let mut accesses = frame.accesses_of(pass).iter();
        accesses.any(|access| access.kind.is_attached() && group.contains(&access.resource))
    };
    let has_area = |pass| frame.pass(pass).render_area.is_some();
    if let Some(pass) = frame.pass_ids().find(|&pass| attaches(pass) && has_area(pass)) {
        return Err(format!(
            "pass `{}` has a render area of its own",
            frame.pass(pass).name
        ));
    }
    let image = |id, desc: &mut ImageDesc| {
        if let Ok(at) = group.binary_search(&id) {
            desc.extent = Extent::Texels(extents[at]);
        }
    };
    frame.with_images(image).map_err(|error| error.to_string())
}

/// Removes the accesses of one pass to a resource.
///
/// # Errors
/// The reason, as text: there are none, no others would remain, or the frame is invalid without them.
fn without_use(frame: &Frame, resource: ResourceId, pass: PassId) -> Result<Frame, String> {
    let mut uses = frame.accesses_to(resource).map(|access| access.pass);
    if !uses.any(|other| other != pass) {
        return Err("no other pass uses the resource".to_owned());
    }
    let mut changed: Option<Frame> = None;
    loop {
        let current = changed.as_ref().unwrap_or(frame);
        let mut accesses = current.accesses().iter();
        let Some(at) = accesses.position(|access| access.pass == pass && access.resource == resource) else {
            return changed.ok_or_else(|| "the pass does not use the resource".to_owned());
        };
        changed = Some(current.without_access(at).map_err(|error| error.to_string())?);
    }
}

/// Applies all of these changes in order.
pub(super) fn changed(frame: &Frame, changes: &[DescriptionChange]) -> Result<Frame, ArrangeError> {
    changes
        .iter()
        .try_fold(frame.clone(), |frame, change| change.apply(&frame))
}

/// Changes worth trying: formats and extents of images that the frame owns, and uses that keep a resource out of tile memory.
pub(super) fn candidates(
    plan: &Plan,
    described: &Frame,
    [formats, extents, uses]: [bool; 3],
) -> Vec<DescriptionChange> {
    let frame = plan.input.frame();
    let mut all = Vec::new();
    let mut groups = Vec::new();
    for id in frame.resource_ids() {
        let resource = frame.resource(id);
        if matches!(resource.persistence, Persistence::External(_)) {
            continue;
        }
        if let ResourceKind::Image { desc, usage, .. } = resource.kind {
            let may_change = frame.accesses_to(id).all(|access| {
                let copied = matches!(
                    access.kind,
                    AccessKind::TransferSource | AccessKind::TransferDestination
                );
                access.view.format.is_none() && access.kind != AccessKind::ResolveAttachment && !copied
            });
            if formats && may_change && desc.samples == vk::SampleCountFlags::TYPE_1 {
                let stored = usage.contains(vk::ImageUsageFlags::STORAGE);
                let narrower = narrower(desc.format)
                    .iter()
                    .filter(|format| !(stored && may_lack_storage(**format)));
                all.extend(narrower.map(|&format| DescriptionChange::Format { image: id, format }));
            }
            if extents {
                let group = attached_with(frame, id);
                if !groups.contains(&group)
                    && group
                        .iter()
                        .all(|&one| has_described_extent(frame, described, one))
                {
                    all.extend([3, 2].map(|quarters| DescriptionChange::Extent { image: id, quarters }));
                }
                groups.push(group);
            }
        }
        if uses {
            all.extend(obstructing_uses(plan, id).map(|pass| DescriptionChange::Use { resource: id, pass }));
        }
    }
    all
}

/// Returns true if some devices do not support storage images of the format.
fn may_lack_storage(format: vk::Format) -> bool {
    matches!(
        format,
        vk::Format::B10G11R11_UFLOAT_PACK32 | vk::Format::A2B10G10R10_UNORM_PACK32
    )
}

/// Returns true if an image is not external and still has its described extent.
fn has_described_extent(frame: &Frame, described: &Frame, image: ResourceId) -> bool {
    let extent = |frame: &Frame| match frame.resource(image).kind {
        ResourceKind::Image { extent, .. } => Some(extent),
        ResourceKind::Buffer { .. } => None,
    };
    let own = !matches!(frame.resource(image).persistence, Persistence::External(_));
    own && extent(frame) == extent(described)
}

/// The pass, if any, whose use keeps a resource out of tile memory or extends its lifetime.
fn obstructing_uses(plan: &Plan, resource: ResourceId) -> impl Iterator<Item = PassId> {
    let why = match plan.resources[resource.index()].reason {
        PlacementReason::Arena(why) | PlacementReason::Dedicated(why) => Some(why),
        _ => None,
    };
    let forbidden = match why {
        Some(
            OffChipReason::Transfer { pass }
            | OffChipReason::TransferQueue { pass }
            | OffChipReason::ResolveTarget { pass }
            | OffChipReason::BufferUse { pass, .. },
        ) => Some(plan.input_pass(pass)),
        _ => None,
    };
    let frame = plan.input.frame();
    let last = frame
        .accesses_to(resource)
        .next_back()
        .filter(|last| !last.writes);
    let last = last.map(|last| last.pass).filter(|&last| {
        let crowded = matches!(
            why,
            Some(
                OffChipReason::NoRoom { .. }
                    | OffChipReason::CostExceedsSavings { .. }
                    | OffChipReason::CrossesWindows { .. }
            )
        );
        crowded
            && frame
                .accesses_to(resource)
                .any(|access| access.pass != last && access.reads)
    });
    forbidden.or(last).into_iter()
}

/// Plans the frame with one more change, scaling the known sizes in proportion; `None` if there is no such plan.
pub(super) fn replanned(plan_before: &Plan, change: DescriptionChange) -> Option<Plan> {
    let before = plan_before.input.frame();
    let frame = change.apply(before).ok()?;
    let needs = &plan_before.input_requirements;
    let resources = frame.resource_ids().map(|id| {
        let needs = needs.resources[id.index()];
        match [before, &frame].map(|frame| content(frame, id)) {
            [old, new] if old != new => in_proportion(needs, new, old),
            _ => needs,
        }
    });
    let needs = Arc::new(Requirements {
        resources: resources.collect(),
        profile: None,
    });
    let options = PlanOptions {
        strategy: ResidencyStrategy::Fast,
        ..plan_before.options
    };
    let executed = ExecutedFrame::as_described(&frame);
    let runnable = Runnable::new(&executed, &plan_before.profile).ok()?;
    let plan = make(runnable, &needs, &options, None).ok()?;
    // The options of the plan that it replaces.
    Some(Plan {
        options: plan_before.options,
        ..plan
    })
}

/// Content size of an image in bytes, without padding; 0 for buffers.
fn content(frame: &Frame, id: ResourceId) -> u64 {
    match frame.resource(id).kind {
        ResourceKind::Image { desc, extent, .. } => {
            content_bytes(desc.format, None, extent, desc.array_layers).map_or(0, |bytes| bytes.0)
        }
        ResourceKind::Buffer { .. } => 0,
    }
}

fn in_proportion(needs: ResourceRequirements, new: u64, old: u64) -> ResourceRequirements {
    let part = |size: Bytes| Bytes((u128::from(size.0) * u128::from(new) / u128::from(old.max(1))) as u64);
    ResourceRequirements {
        size: part(needs.size).align_up(needs.alignment),
        tile: needs.tile.map(|tile| TileRequirements {
            size: part(tile.size).align_up(tile.alignment),
            ..tile
        }),
        ..needs
    }
}

/// Formats of the same class with fewer bytes per texel that renderers accept: as many channels (alpha may be dropped), the same numeric type, and at
/// least 10 bits per channel if there were more.
fn narrower(format: vk::Format) -> &'static [vk::Format] {
    use vk::Format as F;
    match format {
        F::R32G32B32A32_SFLOAT => &[F::R16G16B16A16_SFLOAT, F::B10G11R11_UFLOAT_PACK32],
        F::R16G16B16A16_SFLOAT => &[F::B10G11R11_UFLOAT_PACK32],
        F::R32G32_SFLOAT => &[F::R16G16_SFLOAT],
        F::R32_SFLOAT => &[F::R16_SFLOAT],
        F::R16G16B16A16_UNORM => &[F::A2B10G10R10_UNORM_PACK32],
        F::R32G32B32A32_UINT => &[F::R16G16B16A16_UINT],
        F::R32G32_UINT => &[F::R16G16_UINT],
        F::R32_UINT => &[F::R16_UINT],
        F::D32_SFLOAT | F::X8_D24_UNORM_PACK32 => &[F::D16_UNORM],
        F::D32_SFLOAT_S8_UINT => &[F::D24_UNORM_S8_UINT, F::D16_UNORM_S8_UINT],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FrameBuilder, LoadOp};
    use crate::measure::estimate;
    use crate::plan::plan;
    use crate::profile::DeviceProfile;

    /// A changed description is planned quickly, but its plan keeps the options of the plan that it replaces: the search plans its results
    /// with these, with splits if they are allowed.
    #[test]
    fn plans_of_changed_descriptions_keep_their_options() {
        let extent = vk::Extent2D {
            width: 640,
            height: 360,
        };
        let mut frame = FrameBuilder::new("changed", extent);
        let wide = frame.image("wide", ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, extent));
        let out = frame.image("out", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
        let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        frame.render_pass(commands, "draw").color(wide, LoadOp::DontCare);
        let show = frame.render_pass(commands, "show").sampled(wide);
        show.color(out, LoadOp::DontCare);
        let frame = frame.build().unwrap();
        let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
        let needs = Arc::new(estimate(&frame, &profile).unwrap());
        let options = PlanOptions {
            split: true,
            tile_limit: Some(Bytes::mib(4)),
            ..PlanOptions::default()
        };
        let described = plan(&frame, &needs, &profile, &options).unwrap();
        let narrower = DescriptionChange::Format {
            image: wide,
            format: vk::Format::B10G11R11_UFLOAT_PACK32,
        };
        let smaller = DescriptionChange::Extent {
            image: wide,
            quarters: 2,
        };
        let narrow = replanned(&described, narrower).unwrap();
        let small = replanned(&narrow, smaller).unwrap();
        for changed in [&narrow, &small] {
            assert_eq!(changed.options, options);
            assert!(changed.options.splits());
        }
        let bytes = [&*described, &narrow, &small].map(|plan| plan.totals.traffic_bytes);
        assert!(bytes[0] > bytes[1] && bytes[1] > bytes[2], "{bytes:?}");
    }
}
