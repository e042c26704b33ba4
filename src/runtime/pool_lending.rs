//! Lending of blocks and residents of the pool, and their return.

use ash::vk;

use super::block_residents::BlockResidents;
use super::memory::MemoryBlock;
use super::pool::{Block, Borrower, Lease, LentResource, PoolContents, PooledResource, TimelineValues};
use super::pool_key::{BlockKey, Label, ResourceKey};
use crate::lower::tables::objects::ViewRow;
use crate::units::{Alignment, Bytes};

impl PoolContents {
    /// Changes a block, and updates its entry in the index.
    fn change_indexed(&mut self, index: u32, change: impl FnOnce(&mut Block)) {
        let block = self
            .blocks
            .get_mut(index)
            .expect("a borrowed block stays in the pool");
        self.index.remove(index, &block.indexed());
        change(block);
        self.index.add(index, &block.indexed());
    }

    /// Borrows the smallest suitable block that several resources may share: with this key, with at least this size and alignment, and, unless the borrower
    /// already has it, at most twice as large.
    pub(super) fn borrow_shared(
        &mut self,
        borrower: Borrower,
        key: &BlockKey,
        (size, alignment): (Bytes, Alignment),
        lease: &mut Lease,
    ) -> Option<u32> {
        let fits = |index: &u32| {
            let block = self.block(*index);
            let free = block.is_free_for(borrower) && !block.superseded && block.lease != lease.number;
            let aligned = block.memory.location().1 % alignment.get() == 0;
            // A much larger block would waste memory, unless this borrower already has it.
            let own = block.borrower == Some(borrower.number);
            free && aligned && (own || block.bytes.0 <= size.0.saturating_mul(2))
        };
        let index = self.index.shared(key, size).find(fits)?;
        if self.block(index).borrower.is_none() {
            self.supersede(borrower, key, size, lease);
        }
        self.lend(index, borrower, lease);
        Some(index)
    }

    /// Marks the smaller blocks of a borrower as superseded by a block of this size, except those that `lease` has borrowed.
    pub(super) fn supersede(&mut self, borrower: Borrower, key: &BlockKey, size: Bytes, lease: &Lease) {
        let smaller: Vec<u32> = self.replaceable(borrower, key, size, lease).collect();
        for index in smaller {
            self.block_mut(index).superseded = true;
        }
    }

    /// The smaller blocks of a borrower that a block of this size would replace: all that `lease` has not borrowed.
    pub(super) fn replaceable(
        &self,
        borrower: Borrower,
        key: &BlockKey,
        size: Bytes,
        lease: &Lease,
    ) -> impl Iterator<Item = u32> {
        let (borrower, lease) = (Some(borrower.number), lease.number);
        let smaller = self.index.smaller(key, size);
        smaller.filter(move |&index| {
            let block = self.block(index);
            // Keeps a block that the same plan already uses for another row of memory.
            block.borrower == borrower && block.lease != lease && !block.superseded
        })
    }

    /// Borrows a block that was made for a resource with these parameters, together with that resource.
    pub(super) fn borrow_own(
        &mut self,
        borrower: Borrower,
        (label, resource): (&Label, &ResourceKey),
        lease: &mut Lease,
    ) -> Option<(u32, LentResource)> {
        let is_new = |index: &u32| self.block(*index).lease != lease.number;
        // Prefers the block with the history's contents, or one that another of the borrower's plans uses, to a free block.
        let own = match &label.history {
            Some(_) => {
                let own = self.index.history(borrower.number, label).filter(is_new);
                let suitable = own.filter(|&index| self.block(index).covers(resource));
                suitable.max_by_key(|&index| self.block(index).written)
            }
            None => {
                let first = self.index.own(Some(borrower.number), label, resource).next();
                first.filter(is_new)
            }
        };
        let index = own.or_else(|| self.index.own(None, &label.without_history(), resource).next())?;
        if self.block(index).borrower.is_none() {
            self.change_indexed(index, |block| {
                block.contents.clear();
                block.written = 0;
                if let BlockKey::Own(own, _) = &mut block.key {
                    own.history.clone_from(&label.history);
                }
            });
        }
        self.lend(index, borrower, lease);
        let resident = self.block(index).residents.iter().next();
        let resident = resident.expect("a block for one resource contains that resource");
        Some((index, self.lend_resident(resident, lease)))
    }

    /// Borrows an image or buffer with these parameters that is bound at an offset of a borrowed block, if there is one that the lease has not borrowed yet.
    pub(super) fn borrow_resident(
        &mut self,
        block: u32,
        offset: Bytes,
        resource: &ResourceKey,
        lease: &mut Lease,
    ) -> Option<LentResource> {
        // Two rows of one plan do not share an image, even if they are placed in the same bytes: residents that this lease has taken come last.
        let block = self
            .blocks
            .get_mut(block)
            .expect("a borrowed block stays in the pool");
        let resident = |index| self.residents.get(index).expect("a resident stays in its block");
        let is_free = |index| resident(index).lease != lease.number;
        let is_wanted = |index| resident(index).key == *resource;
        let index = block.residents.lend(offset, is_free, is_wanted)?;
        Some(self.lend_resident(index, lease))
    }

    fn lend(&mut self, index: u32, borrower: Borrower, lease: &mut Lease) {
        self.change_indexed(index, |block| {
            block.borrower = Some(borrower.number);
            block.references += 1;
            block.lease = lease.number;
        });
        lease.blocks.push(index);
    }

    fn lend_resident(&mut self, index: u32, lease: &mut Lease) -> LentResource {
        let resident = self.resident_mut(index);
        resident.lease = lease.number;
        resident.references += 1;
        let lent = LentResource {
            handle: resident.handle,
            address: resident.address,
            requirements: resident.requirements,
        };
        lease.residents.push(index);
        lent
    }

    /// Takes ownership of a block that was allocated for a borrower, and lends it.
    pub(super) fn insert_block(
        &mut self,
        memory: MemoryBlock,
        (key, bytes, in_budget, name): (BlockKey, Bytes, bool, String),
        borrower: Borrower,
        lease: &mut Lease,
    ) -> u32 {
        let block = Block {
            memory,
            key,
            bytes,
            name,
            in_budget,
            residents: BlockResidents::default(),
            borrower: Some(borrower.number),
            references: 1,
            lease: lease.number,
            superseded: false,
            idle_since: 0,
            last_user: 0,
            last_use_values: TimelineValues::new(),
            contents: Vec::new(),
            written: 0,
        };
        self.created += 1;
        let index = self.blocks.insert(block);
        let block = self.blocks.get(index).expect("just added");
        self.index.add(index, &block.indexed());
        lease.blocks.push(index);
        index
    }

    /// Takes ownership of an image or a buffer that was bound to a borrowed block, and lends it.
    pub(super) fn insert_resident(
        &mut self,
        (block, offset): (u32, Bytes),
        key: ResourceKey,
        (lent, name): (LentResource, String),
        lease: &mut Lease,
    ) {
        let resident = PooledResource {
            block,
            offset,
            key,
            requirements: lent.requirements,
            handle: lent.handle,
            address: lent.address,
            views: Vec::new(),
            name,
            references: 1,
            lease: lease.number,
            idle_since: 0,
            last_use_values: TimelineValues::new(),
        };
        self.created += 1;
        let index = self.residents.insert(resident);
        self.block_mut(block).residents.add(offset, index);
        lease.residents.push(index);
    }

    /// The view of a borrowed image with these parameters, if there is one, and the image itself.
    pub(super) fn find_view(&self, resident: u32, row: &ViewRow) -> (Option<vk::ImageView>, vk::Image) {
        let resident = self
            .residents
            .get(resident)
            .expect("a borrowed resident stays in the pool");
        let known = resident.views.iter().find(|(known, _)| known == row);
        (known.map(|(_, view)| *view), resident.handle.image)
    }

    /// Takes ownership of a view of a borrowed image.
    pub(super) fn add_view(&mut self, resident: u32, row: ViewRow, view: vk::ImageView) {
        self.resident_mut(resident).views.push((row, view));
        self.created += 1;
    }

    /// Lends the histories of a lease a second time, in a separate lease.
    pub(super) fn lend_histories(&mut self, lease: &Lease) -> Lease {
        let mut kept = Lease {
            number: lease.number,
            ..Lease::default()
        };
        for &index in &lease.blocks {
            let block = self.block_mut(index);
            if block.is_history() {
                block.references += 1;
                kept.blocks.push(index);
            }
        }
        kept
    }

    /// Returns everything in a lease. Without timelines, none of it may be in use on the device.
    pub(super) fn recycle(&mut self, lease: &mut Lease) {
        let frames = self.frames;
        for index in lease.residents.drain(..) {
            let block = self.resident_mut(index).block;
            let mut ends = std::mem::take(&mut self.resident_mut(index).last_use_values);
            ends.clone_from(&self.block(block).last_use_values);
            let resident = self.resident_mut(index);
            resident.references -= 1;
            (resident.idle_since, resident.last_use_values) = (frames, ends);
        }
        for index in lease.blocks.drain(..) {
            self.change_indexed(index, |block| {
                block.references -= 1;
                block.idle_since = frames;
                if block.references == 0 && !block.is_history() {
                    block.borrower = None;
                }
            });
        }
    }

    /// Removes a borrower; its histories lose their owner, and their blocks can be borrowed for other resources.
    pub(super) fn forget_borrower(&mut self, borrower: u64) {
        let blocks = self.blocks.iter();
        let own = blocks.filter(|(_, block)| block.borrower == Some(borrower));
        let own: Vec<u32> = own.map(|(index, _)| index).collect();
        for index in own {
            self.change_indexed(index, |block| {
                block.forget_history();
                if block.references == 0 {
                    block.borrower = None;
                }
            });
        }
    }
}
