//! The pool's allocations from the driver, and their release.

use ash::vk;

use super::create_info::view_info;
use super::device_state::DeviceState;
use super::error::{RuntimeError, VkResultExt};
use super::memory::MemoryDesc;
use super::pool::{Block, Borrower, Ends, Handle, Lease, Pool, PoolContents, insert};
use super::pool_key::BlockKey;
use super::progress::counter_value;
use crate::Result;
use crate::lower::tables::objects::ViewRow;
use crate::units::Bytes;

/// Frames after which anything that is not borrowed is freed.
const IDLE_FRAMES: u64 = 240;

impl Pool {
    /// Destroys everything.
    ///
    /// # Safety
    /// None of it is in use on the device or borrowed.
    pub(super) unsafe fn destroy(&self, state: &DeviceState) {
        let mut contents = self.lock();
        for index in 0..contents.blocks.len() as u32 {
            contents.free_block(state, index);
        }
        // Those of passes without attachments, which no view takes along.
        for framebuffer in std::mem::take(&mut contents.passes.framebuffers).into_values() {
            // SAFETY: the caller's duty.
            unsafe { state.device.destroy_framebuffer(framebuffer, None) };
        }
        for render_pass in std::mem::take(&mut contents.passes.render_passes).into_values() {
            // SAFETY: the caller's duty.
            unsafe { state.device.destroy_render_pass(render_pass, None) };
        }
    }
}

impl PoolContents {
    /// Borrows a block that several resources may share, or that is the memory object that tile memory requires.
    pub(super) fn borrow_shared(
        &mut self,
        state: &DeviceState,
        borrower: Borrower,
        key: &BlockKey,
        desc: &MemoryDesc<'_>,
        lease: &mut Lease,
    ) -> Result<u32> {
        let most = Bytes(u64::MAX);
        let known = (0..).zip(&self.blocks).filter_map(|(index, block)| {
            let block = block.as_ref()?;
            let free = block.is_free_for(borrower) && !block.superseded && block.lease != lease.number;
            let aligned = block.memory.location().1 % desc.alignment.get() == 0;
            let fits = block.key == *key && aligned && (desc.size..=most).contains(&block.bytes);
            (free && fits).then_some((block.bytes, index))
        });
        let index = match known.min() {
            Some((_, index)) => index,
            None => {
                let mut desc = *desc;
                if matches!(key, BlockKey::Shared(_, None)) {
                    desc.size = rounded(desc.size);
                    for block in self.blocks.iter_mut().flatten() {
                        let smaller = block.key == *key && block.bytes < desc.size;
                        block.superseded |= smaller && block.borrower == Some(borrower.number);
                    }
                }
                self.allocate(state, key.clone(), &desc)?
            }
        };
        self.lend(index, borrower, lease);
        Ok(index)
    }

    /// A view of a borrowed image, created if there is none like it.
    pub(super) fn view(
        &mut self,
        state: &DeviceState,
        resident: u32,
        row: &ViewRow,
        name: &str,
    ) -> Result<vk::ImageView> {
        let row = ViewRow { image: 0, ..*row };
        let resident = self.resident_mut(resident);
        if let Some((_, view)) = resident.views.iter().find(|(known, _)| *known == row) {
            return Ok(*view);
        }
        let mut usage = vk::ImageViewUsageCreateInfo::default().usage(row.usage);
        let mut info = view_info(&row, resident.handle.image);
        if !row.usage.is_empty() {
            info = info.push_next(&mut usage);
        }
        // SAFETY: the image is alive and bound, and its usage allows views.
        let view =
            unsafe { state.device.create_image_view(&info, None) }.with_call("vkCreateImageView", || name)?;
        resident.views.push((row, view));
        self.created += 1;
        state.set_name(view, name);
        Ok(view)
    }

    /// Gives everything back, and frees what no one else has borrowed.
    ///
    /// # Safety
    /// No frame of `user`, whose lease it is, is in flight.
    pub(super) unsafe fn release(&mut self, state: &DeviceState, lease: &mut Lease, user: u64) {
        let blocks = lease.blocks.clone();
        self.give_back(lease);
        for index in blocks {
            let block = self.block(index);
            // Earlier users had finished before `user` began.
            if block.references == 0 && [0, user].contains(&block.user) {
                self.free_block(state, index);
            }
        }
    }

    /// Allocates a block.
    pub(super) fn allocate(
        &mut self,
        state: &DeviceState,
        key: BlockKey,
        desc: &MemoryDesc<'_>,
    ) -> Result<u32> {
        self.make_room(state, desc)?;
        let mut allocated = state.memory.allocate(&state.device, &state.profile, desc);
        let before = self.bytes(None);
        if allocated.is_err() && self.trim(state, true).is_ok() && self.bytes(None) < before {
            allocated = state.memory.allocate(&state.device, &state.profile, desc);
        }
        let memory = allocated?;
        if let Some(memory) = memory.own_object() {
            state.set_name(memory, desc.name);
        }
        let block = Block {
            memory,
            key,
            bytes: desc.size,
            borrower: None,
            references: 0,
            lease: 0,
            superseded: false,
            idle_since: self.frames,
            user: 0,
            ends: Ends::new(),
            contents: Vec::new(),
            written: 0,
        };
        self.created += 1;
        Ok(insert(&mut self.blocks, block))
    }

    /// Stays within the caller's budget and the system's by freeing unused memory.
    fn make_room(&mut self, state: &DeviceState, desc: &MemoryDesc<'_>) -> Result<()> {
        if state
            .profile
            .tile
            .is_some_and(|tile| tile.memory_type == desc.memory_type)
        {
            // Every tile memory object begins at byte 0 of the tile heap: they do not add up in any budget.
            return Ok(());
        }
        let is_over = |pool: &PoolContents| {
            let held = pool.bytes(None);
            let own = pool
                .limit
                .map(|limit| ("memory limit of the device", held, limit));
            let system = state.budget_of(desc.memory_type);
            let system = system.map(|(used, budget)| ("memory budget of the system", used, budget));
            let mut both = own.into_iter().chain(system);
            both.find(|(_, held, limit)| *held + desc.size > *limit)
        };
        if is_over(self).is_some() {
            self.trim(state, true)?;
        }
        match is_over(self) {
            None => Ok(()),
            Some((budget, held, limit)) => Err(RuntimeError::OverBudget {
                what: format!("{} of {}", desc.size, desc.name),
                budget,
                held,
                limit,
            }
            .into()),
        }
    }

    /// Frees what has been unused for a while, or everything unused if `at_once`.
    pub(super) fn trim(&mut self, state: &DeviceState, at_once: bool) -> Result<()> {
        // The timeline value that each queue has reached.
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        for semaphore in state.pool.timelines.get().into_iter().flatten() {
            values.push(counter_value(state, *semaphore)?);
        }
        let over = |ends: &Ends| {
            let reached = |&(queue, value): &(usize, u64)| values.get(queue).is_none_or(|now| *now >= value);
            ends.iter().all(reached)
        };
        let frames = self.frames;
        let is_old = |since: u64| at_once || since + IDLE_FRAMES < frames;
        let unused = |block: &Block| {
            let kept = block.borrower.is_some() && at_once;
            block.references == 0
                && !kept
                && (block.superseded || is_old(block.idle_since))
                && over(&block.ends)
        };
        for index in 0..self.blocks.len() {
            if self.blocks[index].as_ref().is_some_and(unused) {
                self.free_block(state, index as u32);
            }
        }
        for index in 0..self.residents.len() {
            let Some(resident) = &self.residents[index] else {
                continue;
            };
            if resident.references == 0 && is_old(resident.idle_since) && over(&resident.ends) {
                // A block for one resource goes with it.
                if !matches!(self.block(resident.block).key, BlockKey::Own(..)) {
                    self.free_resident(state, index as u32);
                }
            }
        }
        self.values = values;
        Ok(())
    }

    fn free_resident(&mut self, state: &DeviceState, index: u32) {
        let resident = self.residents[index as usize].take().expect("it was there");
        if let Some(list) = self.at.get_mut(&(resident.block, resident.offset.0)) {
            list.retain(|other| *other != index);
        }
        for (_, view) in resident.views {
            self.passes.forget(&state.device, view);
            // SAFETY: it is not borrowed, and the device has completed its last use.
            unsafe { state.device.destroy_image_view(view, None) };
        }
        let Handle { image, buffer } = resident.handle;
        // SAFETY: as above; null is ignored.
        unsafe { state.device.destroy_image(image, None) };
        // SAFETY: as above.
        unsafe { state.device.destroy_buffer(buffer, None) };
    }

    pub(super) fn free_block(&mut self, state: &DeviceState, index: u32) {
        let Some(block) = self.blocks[index as usize].take() else {
            return;
        };
        for resident in 0..self.residents.len() {
            if self.residents[resident]
                .as_ref()
                .is_some_and(|one| one.block == index)
            {
                self.free_resident(state, resident as u32);
            }
        }
        self.at.retain(|(other, _), _| *other != index);
        // SAFETY: everything that was bound to it is destroyed.
        unsafe { state.memory.free(&state.device, block.memory) };
    }
}

/// Rounds up to the next eighth of a power of two, so that a block serves frames that differ a little.
fn rounded(bytes: Bytes) -> Bytes {
    let step = (bytes.0 / 8 + 1).next_power_of_two() / 2;
    Bytes(bytes.0.next_multiple_of(step.max(1)))
}
