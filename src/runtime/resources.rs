//! The images and buffers of a frame's tables: found in the pool, or created, measured again and bound to memory. Also creates their views.

use ash::vk;

use super::bound_access::BoundBuffer;
use super::create_info::{buffer_info, families, image_info};
use super::device_state::DeviceState;
use super::error::{RuntimeRule, VkResultExt};
use super::memory::{DedicatedTo, MemoryDesc};
use super::owned::OwnedObjects;
use super::pool::{Borrower, Handle, Lease, LentResource, Pool};
use super::pool_key::{BlockKey, Label, ResourceKey, Row};
use super::pool_memory::UnpooledBlock;
use crate::Result;
use crate::frame::tables::{HistoryVersion, Resource};
use crate::frame::{Persistence, ResourceId, SubresourceRange};
use crate::lower::Lowered;
use crate::lower::tables::ImageOrBuffer;
use crate::lower::tables::objects::{BufferRow, MemoryBinding, MemoryRow, Sharing, ViewRow};
use crate::measure::{DedicatedRequirement, MemoryRequirements, Requirements, ResourceRequirements};
use crate::plan::{MemoryKind, Plan};
use crate::units::{Alignment, Bytes};

/// The image of a row, with the caller's view if it is imported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Image {
    pub(super) handle: vk::Image,
    /// The caller's view, of the whole image or of the only part that passes use.
    pub(super) view: vk::ImageView,
}

/// An import that the frame being recorded needs and that is still missing.
#[derive(Clone, Copy)]
pub(super) enum MissingImport {
    /// An image or a buffer.
    Object(ImageOrBuffer),
    /// A view of part of an imported image, by its row in `views`.
    View(u32),
}

/// The Vulkan objects of the tables' rows.
#[derive(Default)]
pub(super) struct Handles {
    /// Per row of memory, the memory object.
    pub(super) memory: Vec<vk::DeviceMemory>,
    /// Per row of memory, its block in the pool.
    pub(super) blocks: Vec<u32>,
    /// Per row of images, the image; imported ones change from frame to frame, and are null in between.
    pub(super) images: Vec<Image>,
    /// Per row of buffers, the buffer; imported ones change from frame to frame, and are null in between.
    pub(super) buffers: Vec<BoundBuffer>,
    /// Histories whose contents the pool keeps.
    pub(super) histories: Vec<History>,
    /// Per row of `Lowered::images`, its resident in the pool; unused for imported ones.
    residents: Vec<u32>,
    /// Per view of a part of an imported image, the row of the image, the levels and layers of the part, and the view.
    pub(super) imported_views: Vec<(u32, SubresourceRange, vk::ImageView)>,
    /// Imports that the frame being recorded needs and that are still missing.
    pub(super) missing_imports: Vec<MissingImport>,
}

impl Handles {
    /// Sets the caller's view of a part of an imported image.
    pub(super) fn set_imported_view(&mut self, image: u32, range: SubresourceRange, view: vk::ImageView) {
        let mut known = self.imported_views.iter_mut();
        let same = |part: SubresourceRange| (part.levels, part.layers) == (range.levels, range.layers);
        match known.find(|(other, part, _)| *other == image && same(*part)) {
            Some((_, _, known)) => *known = view,
            None => self.imported_views.push((image, range, view)),
        }
    }

    /// The caller's view of a part of an imported image, if there is one for it.
    pub(super) fn imported_view(&self, row: &ViewRow) -> Option<vk::ImageView> {
        let part = |range: SubresourceRange| (range.levels, range.layers);
        // Shader accesses name all slices of a level, which their view has as one layer.
        let solid = row.view_type == vk::ImageViewType::TYPE_3D;
        let mut views = self.imported_views.iter();
        let found = views.find(|(image, range, _)| {
            let slices = solid && range.levels == row.range.levels && range.layers.len() > 1;
            *image == row.image && (slices || part(*range) == part(row.range))
        });
        found.map(|(_, _, view)| *view)
    }

    /// The caller's view for a row of an imported image.
    pub(super) fn imported(&self, row: &ViewRow) -> vk::ImageView {
        let view = self.imported_view(row);
        view.unwrap_or(self.images[row.image as usize].view)
    }

    /// The view of a row, created unless an equal one exists; for an imported image, the caller's view.
    pub(super) fn view(
        &self,
        row: &ViewRow,
        tables: &Lowered,
        plan: &Plan,
        state: &DeviceState,
    ) -> Result<vk::ImageView> {
        let image = &tables.images[row.image as usize];
        if image.binding.is_imported() {
            return Ok(self.imported(row));
        }
        let name = &plan.frame.resource(image.resource).name;
        let resident = self.residents[row.image as usize];
        state.pool.view(state, (resident, image.hook), row, name)
    }
}

/// A history, whose copies are in separate blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct History {
    pub(super) resource: ResourceId,
    /// Its copies, each with its block: first the one that is current in even frames, then, if the previous version is read, the other one.
    pub(super) copies: [(ImageOrBuffer, u32); 2],
    /// `true` if there are two copies.
    pub(super) has_two_copies: bool,
    /// `true` if a frame writes it.
    pub(super) written: bool,
}

/// Placeholder for the block of a row of memory for a single resource, until that block exists.
const BLOCK_PENDING: u32 = u32::MAX;

/// The result of creating a frame's resources.
pub(super) enum Created {
    /// All resources were created; the handles of imported ones are null.
    All(Handles),
    /// A resource needs more than was planned.
    Grown {
        /// The current requirements of all resources.
        requirements: Requirements,
        /// The error about the first resource that has grown.
        error: crate::Error,
    },
}

/// The position of a resource in a row of memory.
#[derive(Clone, Copy)]
struct RowPosition {
    memory: u32,
    offset: Bytes,
    size: Bytes,
}

/// The inputs that resources are created from.
pub(super) struct Creation<'a> {
    pub(super) state: &'a DeviceState,
    pub(super) plan: &'a Plan,
    pub(super) tables: &'a Lowered,
    pub(super) borrower: Borrower,
    /// Queue families that may use a history, in any plan of the series; empty if there is only one.
    pub(super) families: &'a [u32],
    /// Histories whose second copy is used first.
    pub(super) swapped: &'a [ResourceId],
}

/// Borrows everything from the pool, and creates what is missing there.
pub(super) fn create(creation: &Creation<'_>, owned: &mut OwnedObjects) -> Result<Created> {
    let (state, tables) = (creation.state, creation.tables);
    let mut creator = Creator {
        creation,
        pool: &state.pool,
        handles: Handles::default(),
        grown: None,
    };
    creator.borrow_blocks(&mut owned.lease)?;
    for (index, row) in (0..).zip(&tables.images) {
        let key = ResourceKey::image(row, tables, creator.families(row.sharing, row.resource));
        let at = (row.resource, ImageOrBuffer::Image(index), row.binding);
        let (handle, _) = creator.borrow(key, at, false, owned)?;
        let resident = owned.lease.residents.last().copied();
        creator.handles.residents.push(resident.unwrap_or_default());
        creator.handles.images.push(Image {
            handle: handle.image,
            ..Image::default()
        });
    }
    for (index, row) in (0..).zip(&tables.buffers) {
        let key = ResourceKey::buffer(row, creator.families(row.sharing, row.resource));
        let at = (row.resource, ImageOrBuffer::Buffer(index), row.binding);
        let (handle, address) = creator.borrow(key, at, has_address(row), owned)?;
        creator.handles.buffers.push(BoundBuffer {
            handle: handle.buffer,
            offset: 0,
            size: row.size.0,
            address,
        });
    }
    if let Some((requirements, error)) = creator.grown {
        return Ok(Created::Grown { requirements, error });
    }
    let mut handles = creator.handles;
    let pool = state.pool.lock();
    let blocks = handles.blocks.iter();
    handles.memory = blocks
        .map(|&block| pool.block(block).memory.location().0)
        .collect();
    drop(pool);
    Ok(Created::All(handles))
}

struct Creator<'a> {
    creation: &'a Creation<'a>,
    pool: &'a Pool,
    handles: Handles,
    /// The requirements to plan again with, and the error about the first resource that has grown.
    grown: Option<(Requirements, crate::Error)>,
}

impl<'a> Creator<'a> {
    fn resource(&self, id: ResourceId) -> &'a Resource {
        self.creation.plan.frame.resource(id)
    }

    fn is_history(&self, id: ResourceId) -> bool {
        self.resource(id).persistence == Persistence::History
    }

    /// Borrows a block for each row of memory that several resources may share; other rows get their blocks together with their only resource.
    fn borrow_blocks(&mut self, lease: &mut Lease) -> Result<()> {
        let tables = self.creation.tables;
        // Per row: the number of resources, and true if they are histories.
        let mut facts = vec![(0, false); tables.memory.len()];
        let images = tables.images.iter().map(|row| (row.resource, row.binding));
        let buffers = tables.buffers.iter().map(|row| (row.resource, row.binding));
        for (resource, binding) in images.chain(buffers) {
            if let Some(memory) = binding.memory.get() {
                let (count, history) = &mut facts[memory as usize];
                (*count, *history) = (*count + 1, *history || self.is_history(resource));
            }
        }
        for ((index, row), (count, history)) in (0..).zip(&tables.memory).zip(facts) {
            let (memory_type, bytes) = (row.memory_type, row.size);
            let own_object = matches!(row.kind, MemoryKind::Tile | MemoryKind::Lazy);
            if count == 1 && row.kind != MemoryKind::Tile && (history || row.kind != MemoryKind::Arena) {
                self.handles.blocks.push(BLOCK_PENDING);
                continue;
            }
            let name = self.name_of(index);
            let device_address = row.flags.contains(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let desc = MemoryDesc {
                own_object,
                device_address,
                ..MemoryDesc::new(&name, memory_type, bytes, row.alignment)
            };
            let exactly = own_object.then_some((bytes, device_address));
            let key = BlockKey::Shared(memory_type, exactly);
            let (state, borrower) = (self.creation.state, self.creation.borrower);
            let block = self
                .pool
                .borrow_shared(state, borrower, &key, (&desc, row.kind), lease)?;
            self.handles.blocks.push(block);
        }
        Ok(())
    }

    fn name_of(&self, memory: u32) -> String {
        memory_name(self.creation.plan, self.creation.tables, memory)
    }

    /// The families that share a resource; for a history that is carried from plan to plan, all families of the series.
    fn families(&self, sharing: Sharing, resource: ResourceId) -> &'a [u32] {
        match self.creation.families {
            all if self.is_history(resource) && !all.is_empty() => all,
            _ => families(self.creation.tables, sharing),
        }
    }

    /// Finds an image or a buffer in the pool, or creates it and binds it to memory; null for an imported one. Also returns its device address, if it is
    /// used.
    fn borrow(
        &mut self,
        key: ResourceKey,
        (resource, object, binding): (ResourceId, ImageOrBuffer, MemoryBinding),
        addressed: bool,
        owned: &mut OwnedObjects,
    ) -> Result<(Handle, vk::DeviceAddress)> {
        let MemoryBinding { memory, offset, size } = binding;
        let Some(memory) = memory.get() else {
            return Ok((Handle::default(), 0));
        };
        let place = RowPosition { memory, offset, size };
        let block = self.handles.blocks[memory as usize];
        if block == BLOCK_PENDING {
            return self.borrow_own(key, (resource, object, place), addressed, owned);
        }
        let known = self
            .pool
            .lock()
            .borrow_resident(block, offset, &key, &mut owned.lease);
        let lent = match known {
            Some(lent) if self.has_grown(resource, place, &lent) => return Ok((lent.handle, 0)),
            Some(lent) => lent,
            None => {
                let mut lent = self.create(&key, resource, memory, owned)?;
                if self.has_grown(resource, place, &lent) {
                    return Ok((lent.handle, 0));
                }
                let location = self.pool.lock().block(block).memory.location();
                self.bind(&mut lent, (resource, offset), location, addressed)?;
                owned.release(lent.handle);
                let name = self.creation.state.recorded_name(&self.resource(resource).name);
                let mut pool = self.pool.lock();
                pool.insert_resident((block, offset), key, (lent, name), &mut owned.lease);
                lent
            }
        };
        Ok((lent.handle, lent.address))
    }

    /// Like `borrow`, for a resource with a separate block.
    fn borrow_own(
        &mut self,
        key: ResourceKey,
        (resource, object, place): (ResourceId, ImageOrBuffer, RowPosition),
        addressed: bool,
        owned: &mut OwnedObjects,
    ) -> Result<(Handle, vk::DeviceAddress)> {
        let (state, borrower) = (self.creation.state, self.creation.borrower);
        let label = self.label_of_own(resource, place.memory);
        let mut pool = self.pool.lock();
        let known = pool.borrow_own(borrower, (&label, &key), &mut owned.lease);
        drop(pool);
        let (block, lent) = match known {
            Some(known) => known,
            None => {
                let mut lent = self.create(&key, resource, place.memory, owned)?;
                if self.has_grown(resource, place, &lent) {
                    return Ok((lent.handle, 0));
                }
                let block = self.allocate_own(&key, place.memory, &lent, addressed)?;
                let location = block.memory().location();
                self.bind(&mut lent, (resource, Bytes::ZERO), location, addressed)?;
                owned.release(lent.handle);
                let name = state.recorded_name(&self.resource(resource).name);
                let mut pool = self.pool.lock();
                let own = BlockKey::Own(label, key.clone());
                let block = block.lend(&mut pool, own, borrower, &mut owned.lease);
                pool.insert_resident((block, Bytes::ZERO), key, (lent, name), &mut owned.lease);
                (block, lent)
            }
        };
        self.handles.blocks[place.memory as usize] = block;
        if self.is_history(resource) {
            self.add_copy(resource, (object, block));
        }
        Ok((lent.handle, lent.address))
    }

    /// The label of the separate block of a resource; for a history, that of its next copy.
    fn label_of_own(&self, resource: ResourceId, memory: u32) -> Label {
        let row = &self.creation.tables.memory[memory as usize];
        let history = self.is_history(resource).then(|| {
            let copy = self.first_copy(resource).is_some() ^ self.creation.swapped.contains(&resource);
            (self.resource(resource).name.clone(), u8::from(copy))
        });
        Label {
            memory_type: row.memory_type,
            lazy: row.kind == MemoryKind::Lazy,
            history,
        }
    }

    /// Allocates a separate block for a resource.
    fn allocate_own(
        &self,
        key: &ResourceKey,
        memory: u32,
        lent: &LentResource,
        addressed: bool,
    ) -> Result<UnpooledBlock<'a>> {
        let row = &self.creation.tables.memory[memory as usize];
        let name = self.name_of(memory);
        let mut desc = MemoryDesc {
            own_object: row.kind == MemoryKind::Lazy,
            device_address: addressed,
            ..MemoryDesc::new(&name, row.memory_type, row.size, lent.requirements.alignment)
        };
        adapt_to_only(&mut desc, row, lent);
        self.pool
            .allocate(self.creation.state, &desc, (row.kind, key.hook()))
    }

    /// The index of a history in the list if one of its copies was already added; the copies of a history are added one after the other.
    fn first_copy(&self, resource: ResourceId) -> Option<usize> {
        let histories = &self.handles.histories;
        (histories.last()?.resource == resource).then(|| histories.len() - 1)
    }

    /// Adds a copy of a history to the list, with its block.
    fn add_copy(&mut self, resource: ResourceId, copy: (ImageOrBuffer, u32)) {
        if let Some(first) = self.first_copy(resource) {
            let history = &mut self.handles.histories[first];
            (history.copies[1], history.has_two_copies) = (copy, true);
            return;
        }
        let mut uses = self.creation.plan.frame.accesses_to(resource);
        let written = uses.any(|access| access.writes && access.version == HistoryVersion::Current);
        self.handles.histories.push(History {
            resource,
            copies: [copy; 2],
            has_two_copies: false,
            written,
        });
    }

    /// Creates an image or a buffer without memory, and queries its requirements.
    fn create(
        &self,
        key: &ResourceKey,
        resource: ResourceId,
        memory: u32,
        owned: &mut OwnedObjects,
    ) -> Result<LentResource> {
        let (state, resource) = (self.creation.state, self.resource(resource));
        let mut handle = Handle::default();
        let mut answer;
        let hook = key.hook();
        match &key.row {
            Row::Image(row) => {
                let mut list = vk::ImageFormatListCreateInfo::default().view_formats(&key.formats);
                let mut info = image_info(state, row, &key.families);
                if !key.formats.is_empty() {
                    info = info.push_next(&mut list);
                }
                if self.creation.tables.memory[memory as usize].kind != MemoryKind::Tile {
                    // Tile memory was granted when measuring, by the extension's guarantee or by the driver.
                    state.image_is_supported(resource, (&info, row.hook))?;
                }
                // SAFETY: within the device's limits for such images.
                (handle.image, answer) = unsafe { owned.create_image(&resource.name, &info) }?;
            }
            Row::Buffer(row) => {
                let info = buffer_info(state, row, &key.families);
                // SAFETY: the size is not 0 (the frame's validation), and the usage is that of the accesses.
                (handle.buffer, answer) = unsafe { owned.create_buffer(&resource.name, &info) }?;
            }
        }
        if state.has_dedicated_memory(hook) {
            answer.dedicated = DedicatedRequirement::Required;
        }
        Ok(LentResource {
            handle,
            address: 0,
            requirements: answer,
        })
    }

    /// Returns `true` if a resource needs more than its row provides; then updates the requirements with which the frame must be planned again.
    fn has_grown(&mut self, resource: ResourceId, place: RowPosition, made: &LentResource) -> bool {
        let Some(needed) = self.needs_more(place, &made.requirements) else {
            return false;
        };
        let (plan, tables) = (self.creation.plan, self.creation.tables);
        let (requirements, _) = self.grown.get_or_insert_with(|| {
            let error = RuntimeRule::Grown.broken(format!(
                "even after replanning, resource `{resource}` is planned with {planned}, but once created \
                 requires {needed}",
                resource = plan.frame.resource(resource).name,
                planned = format_args!("{} at offset {}", place.size, place.offset)
            ));
            (Requirements::clone(&plan.requirements), error)
        });
        grow(
            &mut requirements.resources[resource.index()],
            tables.memory[place.memory as usize].kind,
            &made.requirements,
        );
        true
    }

    /// Describes the first requirement of a created resource that its row does not satisfy; `None` if it satisfies all.
    fn needs_more(&self, place: RowPosition, answer: &MemoryRequirements) -> Option<String> {
        let RowPosition {
            memory,
            offset,
            size: planned,
        } = place;
        let memory = &self.creation.tables.memory[memory as usize];
        if answer.memory_type_bits >> memory.memory_type & 1 == 0 {
            return Some(format!(
                "memory types {:#x}, which exclude type {}",
                answer.memory_type_bits, memory.memory_type
            ));
        }
        let is_dedicated = memory.dedicated_image.is_some() || memory.dedicated_buffer.is_some();
        if memory.kind == MemoryKind::Arena
            && answer.dedicated == DedicatedRequirement::Required
            && !is_dedicated
        {
            // VUID-vkBindImageMemory-image-01445, VUID-vkBindBufferMemory-buffer-01444.
            return Some("a dedicated allocation".to_owned());
        }
        let (size, alignment) = match (memory.kind, answer.tile) {
            (MemoryKind::Tile, None) => {
                return Some("ordinary memory: the driver does not allow it in tile memory".to_owned());
            }
            (MemoryKind::Tile, Some(tile)) => (tile.size, tile.alignment),
            // A separate allocation is made as large as necessary.
            (MemoryKind::Lazy, _) => return None,
            (MemoryKind::Arena | MemoryKind::Dedicated, _) => (answer.size, answer.alignment),
        };
        let fits = size <= planned && offset.is_aligned(alignment);
        (!fits).then(|| format!("{size} at alignment {alignment}"))
    }

    /// Binds a created image or buffer to memory, at an offset of a block; queries its device address, if it is used.
    fn bind(
        &self,
        made: &mut LentResource,
        (resource, offset): (ResourceId, Bytes),
        (memory, start): (vk::DeviceMemory, vk::DeviceSize),
        addressed: bool,
    ) -> Result<()> {
        let device = &self.creation.state.device;
        let what = || format!("`{}` at offset {offset}", self.resource(resource).name);
        let Handle { image, buffer } = made.handle;
        if buffer == vk::Buffer::null() {
            // SAFETY: just created and not bound yet; size, alignment and type were compared.
            unsafe { device.bind_image_memory(image, memory, start + offset.0) }
                .with_call("vkBindImageMemory", what)?;
        } else {
            // SAFETY: just created and not bound yet; size, alignment and type were compared.
            unsafe { device.bind_buffer_memory(buffer, memory, start + offset.0) }
                .with_call("vkBindBufferMemory", what)?;
            made.address = if addressed { self.address(buffer) } else { 0 };
        }
        Ok(())
    }

    fn address(&self, buffer: vk::Buffer) -> vk::DeviceAddress {
        let state = self.creation.state;
        let functions = state
            .functions
            .buffer_device_address
            .as_ref()
            .expect("the capability was checked before the buffer was created");
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        let device = state.device.handle();
        // SAFETY: the feature is on; the buffer has the usage and memory with the flag.
        unsafe { (functions.get_buffer_device_address_khr)(device, &info) }
    }
}

/// The name of the memory object of a row of [`Lowered::memory`], for debuggers and error messages.
pub(super) fn memory_name(plan: &Plan, tables: &Lowered, memory: u32) -> String {
    let kind = tables.memory[memory as usize].kind;
    format!("{kind:?} memory {memory} of frame `{}`", plan.frame.name())
}

/// Returns `true` if a buffer's device address is used.
fn has_address(row: &BufferRow) -> bool {
    row.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
}

/// Minimum size for which a history gets a dedicated allocation.
const MIN_DEDICATED_HISTORY: Bytes = Bytes(1 << 18);

/// Adapts a block to its only resident: a large or dedicated allocation gets exactly its size, lazily allocated memory at least its size.
fn adapt_to_only(desc: &mut MemoryDesc<'_>, row: &MemoryRow, only: &LentResource) {
    if row.kind == MemoryKind::Lazy {
        desc.size = Ord::max(desc.size, only.requirements.size);
    }
    // A large one would make the allocator take a larger block from the driver than it fills.
    let large = row.kind == MemoryKind::Arena && desc.size >= MIN_DEDICATED_HISTORY;
    let wanted = row.dedicated_image.is_some() || row.dedicated_buffer.is_some();
    if !large && !wanted {
        return;
    }
    desc.size = only.requirements.size;
    desc.dedicated_to = Some(match only.handle {
        Handle { image, buffer } if buffer == vk::Buffer::null() => DedicatedTo::Image(image),
        Handle { buffer, .. } => DedicatedTo::Buffer(buffer),
    });
}

/// Updates the planned requirements in one kind of memory with those of a created resource.
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
            planned.dedicated = planned.dedicated.max(answer.dedicated);
        }
    }
}
