//! The images and buffers of a plan: created, asked about again, given memory, seen through views.

use ash::vk;

use super::bound_resource::{BoundResource, Buffer, Image};
use super::create::{buffer_info, image_info, view_infos};
use super::device_state::DeviceState;
use super::error::{RuntimeError, VkResultExt};
use super::measure::MemoryRequirements;
use super::memory::{DedicatedTo, MemoryDesc};
use super::owned::OwnedObjects;
use crate::Result;
use crate::frame::Persistence;
use crate::frame::tables::Resource;
use crate::measure::{Dedicated, Requirements, ResourceRequirements};
use crate::plan::{MemoryKind, Placement, Plan};
use crate::units::{Alignment, Bytes};

/// What became of creating a plan's resources.
pub(super) enum Created {
    /// One place for each placement; those of external resources are empty.
    All(Vec<BoundResource>),
    /// Something needs more than was planned.
    Grown {
        /// What everything needs now.
        requirements: Requirements,
        /// The first to have grown.
        error: RuntimeError,
    },
}

/// A placement's image or buffer before it has memory.
#[derive(Clone, Copy)]
enum Unbound {
    External,
    Image(vk::Image, MemoryRequirements),
    Buffer(vk::Buffer, MemoryRequirements),
}

impl Unbound {
    fn answer(&self) -> Option<&MemoryRequirements> {
        match self {
            Unbound::External => None,
            Unbound::Image(_, answer) | Unbound::Buffer(_, answer) => Some(answer),
        }
    }
}

/// Creates everything into `owned`.
pub(super) fn create(state: &DeviceState, plan: &Plan, owned: &mut OwnedObjects) -> Result<Created> {
    let creator = Creator { state, plan };
    let unbound: Vec<Unbound> = plan
        .placements
        .iter()
        .map(|placement| creator.create_unbound(placement, owned))
        .collect::<Result<_>>()?;
    if let Some(grown) = creator.grown(&unbound) {
        return Ok(grown);
    }
    creator.allocate(&unbound, owned)?;
    let mut places = Vec::with_capacity(unbound.len());
    for (placement, unbound) in plan.placements.iter().zip(&unbound) {
        creator.bind(placement, unbound, owned)?;
        places.push(creator.complete(placement, unbound, owned)?);
    }
    Ok(Created::All(places))
}

struct Creator<'a> {
    state: &'a DeviceState,
    plan: &'a Plan,
}

impl<'a> Creator<'a> {
    fn resource(&self, placement: &Placement) -> &'a Resource {
        self.plan.frame.resource(placement.resource)
    }

    /// Whether several images of the resource stand for the same contents.
    fn is_ladder(&self, placement: &Placement) -> bool {
        placement.memory == MemoryKind::Tile
            && self.plan.resources[placement.resource.index()].placements.len() > 1
    }

    fn image_info(&self, placement: &Placement) -> Option<vk::ImageCreateInfo<'static>> {
        image_info(
            self.resource(placement),
            placement.memory,
            self.is_ladder(placement),
        )
    }

    fn create_unbound(&self, placement: &Placement, owned: &mut OwnedObjects) -> Result<Unbound> {
        let resource = self.resource(placement);
        let state = self.state;
        if matches!(resource.persistence, Persistence::External(_)) {
            return Ok(Unbound::External);
        }
        let tile = placement.memory == MemoryKind::Tile;
        if let Some(info) = self.image_info(placement) {
            if !tile {
                // Tile memory was granted when measuring, by the extension's guarantee or the driver's word.
                state.image_is_supported(resource, &info)?;
            }
            // SAFETY: within the device's limits for such images.
            let (image, answer) = unsafe { owned.create_image(&resource.name, &info) }?;
            return Ok(Unbound::Image(image, answer));
        }
        let info = buffer_info(resource, placement.memory).expect("a resource is an image or a buffer");
        state.addresses_are_supported(resource, &info)?;
        // SAFETY: the size is not 0 (the frame's validation), and the usage is that of the accesses.
        let (buffer, answer) = unsafe { owned.create_buffer(&resource.name, &info) }?;
        Ok(Unbound::Buffer(buffer, answer))
    }

    /// The requirements to plan with anew, if anything needs more than its placement gives.
    fn grown(&self, unbound: &[Unbound]) -> Option<Created> {
        let mut requirements = None;
        for (placement, unbound) in self.plan.placements.iter().zip(unbound) {
            let Some(answer) = unbound.answer() else {
                continue;
            };
            let Some(needed) = self.needs_more(placement, answer) else {
                continue;
            };
            let (requirements, _) = requirements.get_or_insert_with(|| {
                let error = RuntimeError::Grown {
                    resource: self.resource(placement).name.clone(),
                    planned: format!("{} at offset {}", placement.size, placement.offset),
                    needed: needed.clone(),
                };
                (Requirements::clone(&self.plan.requirements), error)
            });
            grow(
                &mut requirements.resources[placement.resource.index()],
                placement.memory,
                answer,
            );
        }
        requirements.map(|(requirements, error)| Created::Grown { requirements, error })
    }

    /// What a created resource needs, if its placement does not give it.
    fn needs_more(&self, placement: &Placement, answer: &MemoryRequirements) -> Option<String> {
        let object = placement
            .object
            .map(|object| &self.plan.objects[object.index()])?;
        if answer.memory_type_bits >> object.memory_type & 1 == 0 {
            return Some(format!(
                "memory types {:#x} without type {}",
                answer.memory_type_bits, object.memory_type
            ));
        }
        let (size, alignment) = match (placement.memory, answer.tile) {
            (MemoryKind::Tile, None) => {
                return Some("ordinary memory: the driver does not allow it in tile memory".to_owned());
            }
            (MemoryKind::Tile, Some(tile)) => (tile.size, tile.alignment),
            // Its own allocation is made as large as it has to be.
            (MemoryKind::Lazy, _) => return None,
            (MemoryKind::Arena | MemoryKind::Dedicated, _) => (answer.size, answer.alignment),
        };
        let fits = size <= placement.size && placement.offset.is_aligned(alignment);
        (!fits).then(|| format!("{size} at alignment {alignment}"))
    }

    /// One block for each object of the plan.
    fn allocate(&self, unbound: &[Unbound], owned: &mut OwnedObjects) -> Result<()> {
        let frame = &self.plan.frame;
        for (index, object) in self.plan.objects.iter().enumerate() {
            let placements = self.plan.placements.iter().zip(unbound);
            let residents = placements.filter(|(one, _)| one.object.is_some_and(|id| id.index() == index));
            let (mut alignment, mut device_address, mut count) = (Alignment::ONE, false, 0);
            let mut last = None;
            for (placement, unbound) in residents {
                let answer = unbound.answer().expect("external resources have no object");
                alignment = alignment.max(answer.alignment);
                device_address |= has_address(self.resource(placement));
                count += 1;
                last = Some((placement, unbound, answer));
            }
            let name = format!("{:?} {index} of frame `{}`", object.memory, frame.name());
            let mut desc = MemoryDesc {
                own_object: matches!(object.memory, MemoryKind::Tile | MemoryKind::Lazy),
                device_address,
                ..MemoryDesc::new(&name, object.memory_type, object.size, alignment)
            };
            if let Some((placement, unbound, answer)) = last.filter(|_| count == 1) {
                adapt_to_only(&mut desc, placement, unbound, answer);
            }
            if let Some(memory) = owned.allocate(&desc)?.own_object() {
                self.state.set_name(memory, desc.name);
            }
        }
        Ok(())
    }

    fn bind(&self, placement: &Placement, unbound: &Unbound, owned: &OwnedObjects) -> Result<()> {
        let Some(object) = placement.object else {
            return Ok(());
        };
        let device = &self.state.device;
        let (memory, start) = owned.blocks[object.index()].location();
        let offset = start + placement.offset.0;
        let what = || {
            let name = &self.resource(placement).name;
            format!("`{name}` at offset {}", placement.offset)
        };
        match *unbound {
            Unbound::External => {}
            Unbound::Image(image, _) => {
                // SAFETY: created above and not bound yet; size, alignment and type were compared.
                unsafe { device.bind_image_memory(image, memory, offset) }
                    .with_call("vkBindImageMemory", what)?;
            }
            Unbound::Buffer(buffer, _) => {
                // SAFETY: created above and not bound yet; size, alignment and type were compared.
                unsafe { device.bind_buffer_memory(buffer, memory, offset) }
                    .with_call("vkBindBufferMemory", what)?;
            }
        }
        Ok(())
    }

    /// Views and addresses.
    fn complete(
        &self,
        placement: &Placement,
        unbound: &Unbound,
        owned: &mut OwnedObjects,
    ) -> Result<BoundResource> {
        let resource = self.resource(placement);
        match *unbound {
            Unbound::External => Ok(BoundResource::Missing),
            Unbound::Image(image, _) => {
                let info = self.image_info(placement).expect("it was created as an image");
                let (view, attachment) = view_infos(resource, &info, image);
                let mut create = |info: vk::ImageViewCreateInfo<'static>| -> Result<vk::ImageView> {
                    // SAFETY: the image is alive and bound, and its usage goes through views.
                    unsafe { owned.create_image_view(&resource.name, &info) }
                };
                let view = view.map(&mut create).transpose()?.unwrap_or_default();
                let attachment = attachment.map(&mut create).transpose()?.unwrap_or(view);
                Ok(BoundResource::Image(Image {
                    handle: image,
                    view,
                    attachment,
                }))
            }
            Unbound::Buffer(buffer, _) => {
                let address = if has_address(resource) {
                    self.address(buffer)
                } else {
                    0
                };
                let crate::frame::tables::ResourceKind::Buffer { desc, .. } = resource.kind else {
                    unreachable!("it was created as a buffer");
                };
                Ok(BoundResource::Buffer(Buffer {
                    handle: buffer,
                    offset: 0,
                    size: desc.size.0,
                    address,
                }))
            }
        }
    }

    fn address(&self, buffer: vk::Buffer) -> vk::DeviceAddress {
        let functions = self.state.functions.buffer_device_address.as_ref();
        let functions = functions.expect("checked before the buffer was created");
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        let device = self.state.device.handle();
        // SAFETY: the feature is on; the buffer has the usage and memory with the flag.
        unsafe { (functions.get_buffer_device_address_khr)(device, &info) }
    }
}

/// A block with one resident can be dedicated to it, and must then be exactly as large.
fn adapt_to_only(
    desc: &mut MemoryDesc<'_>,
    placement: &Placement,
    unbound: &Unbound,
    answer: &MemoryRequirements,
) {
    if placement.memory == MemoryKind::Lazy {
        desc.size = Ord::max(desc.size, answer.size);
    }
    if placement.memory != MemoryKind::Dedicated || answer.dedicated == Dedicated::No {
        return;
    }
    desc.size = answer.size;
    desc.dedicated_to = match *unbound {
        Unbound::Image(image, _) => Some(DedicatedTo::Image(image)),
        Unbound::Buffer(buffer, _) => Some(DedicatedTo::Buffer(buffer)),
        Unbound::External => None,
    };
}

/// Whether the resource's device address is used.
fn has_address(resource: &Resource) -> bool {
    let info = buffer_info(resource, MemoryKind::Dedicated);
    info.is_some_and(|info| info.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS))
}

/// Raises what was planned with to what is needed.
fn grow(planned: &mut ResourceRequirements, memory: MemoryKind, answer: &MemoryRequirements) {
    let more = |size: &mut Bytes, alignment: &mut Alignment, new: (Bytes, Alignment)| {
        *size = Ord::max(*size, new.0);
        *alignment = alignment.lcm(new.1).unwrap_or(new.1);
    };
    match (memory, &mut planned.tile, answer.tile) {
        (MemoryKind::Tile, Some(tile), Some(new)) => {
            more(&mut tile.size, &mut tile.alignment, (new.size, new.alignment));
        }
        (MemoryKind::Tile, tile, _) => *tile = None,
        (MemoryKind::Lazy, _, _) => planned.lazy_type_bits &= answer.memory_type_bits,
        (MemoryKind::Arena | MemoryKind::Dedicated, _, _) => {
            more(
                &mut planned.size,
                &mut planned.alignment,
                (answer.size, answer.alignment),
            );
            planned.memory_type_bits &= answer.memory_type_bits;
        }
    }
}
