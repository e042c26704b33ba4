//! The images and buffers of a frame's tables: created, asked about again, given memory, seen through views.

use ash::vk;

use super::bound_resource::{Buffer, Image};
use super::create_info::{buffer_info, families, image_info, view_info};
use super::device_state::DeviceState;
use super::error::{RuntimeRule, VkResultExt};
use super::measure::MemoryRequirements;
use super::memory::{DedicatedTo, MemoryDesc};
use super::owned::OwnedObjects;
use crate::Result;
use crate::frame::tables::Resource;
use crate::frame::{ResourceId, SubresourceRange};
use crate::lower::Lowered;
use crate::lower::create::{level_0_view, whole_view};
use crate::lower::tables::objects::{Binding, BufferRow, ImageRow, ViewRow};
use crate::measure::{Dedicated, Requirements, ResourceRequirements};
use crate::plan::{MemoryKind, Plan};
use crate::units::{Alignment, Bytes};

/// The Vulkan objects that the rows of tables stand for.
#[derive(Default)]
pub(super) struct Handles {
    /// Per row of memory.
    pub(super) memory: Vec<vk::DeviceMemory>,
    /// Per row of images; imported ones change from frame to frame, and are null in between.
    pub(super) images: Vec<Image>,
    /// Per row of buffers; as above.
    pub(super) buffers: Vec<Buffer>,
    /// The views of images that are not imported.
    views: Vec<(ViewRow, vk::ImageView)>,
    /// Per view of a part of an imported image, the row of the image, its levels and layers, and itself.
    pub(super) imported_views: Vec<(u32, SubresourceRange, vk::ImageView)>,
}

impl Handles {
    /// The caller's view of a part of an imported image, if there is one for it.
    pub(super) fn imported_view(&self, row: &ViewRow) -> Option<vk::ImageView> {
        let part = |range: SubresourceRange| (range.levels, range.layers);
        let mut views = self.imported_views.iter();
        let found = views.find(|(image, range, _)| *image == row.image && part(*range) == part(row.range));
        found.map(|(_, _, view)| *view)
    }

    /// The caller's view for a row of an imported image.
    pub(super) fn imported(&self, row: &ViewRow) -> vk::ImageView {
        let view = self.imported_view(row);
        view.unwrap_or(self.images[row.image as usize].view)
    }

    /// The view of a row, created if there is none like it; of an imported image the caller's.
    pub(super) fn view(
        &mut self,
        row: &ViewRow,
        tables: &Lowered,
        plan: &Plan,
        owned: &mut OwnedObjects,
    ) -> Result<vk::ImageView> {
        let image = &tables.images[row.image as usize];
        if image.binding == Binding::Imported {
            return Ok(self.imported(row));
        }
        if let Some((_, view)) = self.views.iter().find(|(known, _)| known == row) {
            return Ok(*view);
        }
        let info = view_info(row, self.images[row.image as usize].handle);
        // SAFETY: the image is alive and bound, and its usage goes through views.
        let view = unsafe { owned.create_image_view(&plan.frame.resource(image.resource).name, &info) }?;
        self.views.push((*row, view));
        Ok(view)
    }
}

/// What became of creating a frame's resources.
pub(super) enum Created {
    /// All are there; imported ones are empty.
    All(Handles),
    /// Something needs more than was planned.
    Grown {
        /// What everything needs now.
        requirements: Requirements,
        /// The first to have grown.
        error: crate::Error,
    },
}

/// An image or a buffer before it has memory.
#[derive(Clone, Copy)]
enum Unbound {
    Image(vk::Image),
    Buffer(vk::Buffer),
}

/// One that is not imported: where it is to be bound, and what the driver asks for.
struct UnboundRow {
    resource: ResourceId,
    handle: Unbound,
    memory: u32,
    offset: Bytes,
    size: Bytes,
    answer: MemoryRequirements,
}

/// Creates everything into `owned`.
pub(super) fn create(
    state: &DeviceState,
    plan: &Plan,
    tables: &Lowered,
    owned: &mut OwnedObjects,
) -> Result<Created> {
    let creator = Creator { state, plan, tables };
    let mut handles = Handles::default();
    let mut residents = Vec::with_capacity(tables.images.len() + tables.buffers.len());
    for row in &tables.images {
        let image = creator.create_image(row, owned, &mut residents)?;
        handles.images.push(Image {
            handle: image,
            ..Image::default()
        });
    }
    for row in &tables.buffers {
        let handle = creator.create_buffer(row, owned, &mut residents)?;
        handles.buffers.push(Buffer {
            handle,
            offset: 0,
            size: row.size.0,
            address: 0,
        });
    }
    if let Some(grown) = creator.grown(&residents) {
        return Ok(grown);
    }
    creator.allocate(&residents, owned)?;
    handles.memory = owned.blocks.iter().map(|block| block.location().0).collect();
    for resident in &residents {
        creator.bind(resident, owned)?;
    }
    for (index, row) in (0..).zip(&tables.images) {
        if row.binding == Binding::Imported {
            continue;
        }
        let Some(reading) = whole_view(index, row) else {
            continue;
        };
        let view = handles.view(&reading, tables, plan, owned)?;
        let attachment = if row.usage.intersects(crate::lower::create::ATTACHED) {
            handles.view(&level_0_view(index, row), tables, plan, owned)?
        } else {
            view
        };
        let image = &mut handles.images[index as usize];
        (image.view, image.attachment) = (view, attachment);
    }
    for (row, buffer) in tables.buffers.iter().zip(&mut handles.buffers) {
        if row.binding != Binding::Imported && has_address(row) {
            buffer.address = creator.address(buffer.handle);
        }
    }
    Ok(Created::All(handles))
}

struct Creator<'a> {
    state: &'a DeviceState,
    plan: &'a Plan,
    tables: &'a Lowered,
}

impl<'a> Creator<'a> {
    fn resource(&self, id: ResourceId) -> &'a Resource {
        self.plan.frame.resource(id)
    }

    /// Null for an imported one.
    fn create_image(
        &self,
        row: &ImageRow,
        owned: &mut OwnedObjects,
        residents: &mut Vec<UnboundRow>,
    ) -> Result<vk::Image> {
        let Binding::Memory { memory, offset, size } = row.binding else {
            return Ok(vk::Image::null());
        };
        let resource = self.resource(row.resource);
        let formats = row.view_formats.of(&self.tables.formats);
        let mut list = vk::ImageFormatListCreateInfo::default().view_formats(formats);
        let mut info = image_info(row, families(self.tables, row.sharing));
        if !formats.is_empty() {
            info = info.push_next(&mut list);
        }
        if self.tables.memory[memory as usize].kind != MemoryKind::Tile {
            // Tile memory was granted when measuring, by the extension's guarantee or the driver's word.
            self.state.image_is_supported(resource, &info)?;
        }
        // SAFETY: within the device's limits for such images.
        let (image, answer) = unsafe { owned.create_image(&resource.name, &info) }?;
        let (resource, handle) = (row.resource, Unbound::Image(image));
        residents.push(UnboundRow {
            resource,
            handle,
            memory,
            offset,
            size,
            answer,
        });
        Ok(image)
    }

    /// Null for an imported one.
    fn create_buffer(
        &self,
        row: &BufferRow,
        owned: &mut OwnedObjects,
        residents: &mut Vec<UnboundRow>,
    ) -> Result<vk::Buffer> {
        let Binding::Memory { memory, offset, size } = row.binding else {
            return Ok(vk::Buffer::null());
        };
        let resource = self.resource(row.resource);
        let info = buffer_info(row, families(self.tables, row.sharing));
        self.state.addresses_are_supported(resource, &info)?;
        // SAFETY: the size is not 0 (the frame's validation), and the usage is that of the accesses.
        let (buffer, answer) = unsafe { owned.create_buffer(&resource.name, &info) }?;
        let (resource, handle) = (row.resource, Unbound::Buffer(buffer));
        residents.push(UnboundRow {
            resource,
            handle,
            memory,
            offset,
            size,
            answer,
        });
        Ok(buffer)
    }

    /// The requirements to plan with anew, if anything needs more than its row gives.
    fn grown(&self, residents: &[UnboundRow]) -> Option<Created> {
        let mut requirements = None;
        for resident in residents {
            let Some(needed) = self.needs_more(resident) else {
                continue;
            };
            let (requirements, _) = requirements.get_or_insert_with(|| {
                let error = RuntimeRule::Grown.broken(format!(
                    "resource `{resource}` was planned with {planned} and requires {needed} once \
                     created, even after replanning",
                    resource = self.resource(resident.resource).name,
                    planned = format_args!("{} at offset {}", resident.size, resident.offset)
                ));
                (Requirements::clone(&self.plan.requirements), error)
            });
            grow(
                &mut requirements.resources[resident.resource.index()],
                self.tables.memory[resident.memory as usize].kind,
                &resident.answer,
            );
        }
        requirements.map(|(requirements, error)| Created::Grown { requirements, error })
    }

    /// What a created resource needs, if its row does not give it.
    fn needs_more(&self, resident: &UnboundRow) -> Option<String> {
        let UnboundRow {
            answer,
            size: planned,
            offset,
            ..
        } = resident;
        let memory = &self.tables.memory[resident.memory as usize];
        if answer.memory_type_bits >> memory.memory_type & 1 == 0 {
            return Some(format!(
                "memory types {:#x} without type {}",
                answer.memory_type_bits, memory.memory_type
            ));
        }
        let (size, alignment) = match (memory.kind, answer.tile) {
            (MemoryKind::Tile, None) => {
                return Some("ordinary memory: the driver does not allow it in tile memory".to_owned());
            }
            (MemoryKind::Tile, Some(tile)) => (tile.size, tile.alignment),
            // Its own allocation is made as large as it has to be.
            (MemoryKind::Lazy, _) => return None,
            (MemoryKind::Arena | MemoryKind::Dedicated, _) => (answer.size, answer.alignment),
        };
        let fits = size <= *planned && offset.is_aligned(alignment);
        (!fits).then(|| format!("{size} at alignment {alignment}"))
    }

    /// One block for each row of memory.
    fn allocate(&self, residents: &[UnboundRow], owned: &mut OwnedObjects) -> Result<()> {
        for (index, row) in self.tables.memory.iter().enumerate() {
            let (mut alignment, mut device_address) = (Alignment::ONE, false);
            let mut inside = residents
                .iter()
                .filter(|resident| resident.memory as usize == index);
            for resident in inside.clone() {
                alignment = alignment.max(resident.answer.alignment);
                device_address |= self.is_addressed(resident);
            }
            let name = format!("{:?} {index} of frame `{}`", row.kind, self.plan.frame.name());
            let mut desc = MemoryDesc {
                own_object: matches!(row.kind, MemoryKind::Tile | MemoryKind::Lazy),
                device_address,
                ..MemoryDesc::new(&name, row.memory_type, row.size, alignment)
            };
            if let (Some(only), None) = (inside.next(), inside.next()) {
                adapt_to_only(&mut desc, row.kind, only);
            }
            if let Some(memory) = owned.allocate(&desc)?.own_object() {
                self.state.set_name(memory, desc.name);
            }
        }
        Ok(())
    }

    fn is_addressed(&self, resident: &UnboundRow) -> bool {
        let of_resource = |row: &&BufferRow| row.resource == resident.resource;
        let mut rows = self.tables.buffers.iter().filter(of_resource);
        rows.any(has_address)
    }

    fn bind(&self, resident: &UnboundRow, owned: &OwnedObjects) -> Result<()> {
        let device = &self.state.device;
        let (memory, start) = owned.blocks[resident.memory as usize].location();
        let offset = start + resident.offset.0;
        let what = || {
            let name = &self.resource(resident.resource).name;
            format!("`{name}` at offset {}", resident.offset)
        };
        match resident.handle {
            Unbound::Image(image) => {
                // SAFETY: created above and not bound yet; size, alignment and type were compared.
                unsafe { device.bind_image_memory(image, memory, offset) }
                    .with_call("vkBindImageMemory", what)?;
            }
            Unbound::Buffer(buffer) => {
                // SAFETY: created above and not bound yet; size, alignment and type were compared.
                unsafe { device.bind_buffer_memory(buffer, memory, offset) }
                    .with_call("vkBindBufferMemory", what)?;
            }
        }
        Ok(())
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

/// Whether a buffer's device address is used.
fn has_address(row: &BufferRow) -> bool {
    row.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
}

/// A block with one resident can be dedicated to it, and must then be exactly as large.
fn adapt_to_only(desc: &mut MemoryDesc<'_>, kind: MemoryKind, only: &UnboundRow) {
    if kind == MemoryKind::Lazy {
        desc.size = Ord::max(desc.size, only.answer.size);
    }
    if kind != MemoryKind::Dedicated || only.answer.dedicated == Dedicated::No {
        return;
    }
    desc.size = only.answer.size;
    desc.dedicated_to = Some(match only.handle {
        Unbound::Image(image) => DedicatedTo::Image(image),
        Unbound::Buffer(buffer) => DedicatedTo::Buffer(buffer),
    });
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
