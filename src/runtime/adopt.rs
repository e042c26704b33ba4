//! Adoption of tables from elsewhere, such as edited tables, tables of another program or tables read from JSON: they are checked once, then run.

use ash::vk;

use super::bound_frame::BoundFrame;
use super::encoded_frame::EncodedFrame;
use super::error::RuntimeRule;
use crate::Result;
use crate::lower::check::DeviceFacts;
use crate::lower::tables::instances::AttachmentRow;
use crate::lower::{FamilyQueue, Lowered, LoweringDesc, Parity};

impl BoundFrame {
    /// Description that the next frame is lowered for, as long as nothing else is submitted to its queues.
    pub fn lowering_desc(&mut self) -> LoweringDesc {
        self.update_lowering_desc(self.parity());
        self.lowering.lowering_desc.clone()
    }

    /// Uses `tables` for frames lowered for `lowering_desc`, instead of those that [`lower`](crate::lower::lower) would make: every frame that begins
    /// in that state is recorded and submitted from `tables`. They are checked once, here.
    ///
    /// They may differ in order, transitions, load and store operations and waits, but must use the created objects: memory, images, buffers and
    /// views, the layouts of accesses and the formats of render passes are those of the bound plan.
    ///
    /// ```no_run
    /// # use tileheap::lower::Lowered;
    /// # use tileheap::runtime::BoundFrame;
    /// # fn f(bound: &mut BoundFrame, text: &str) -> tileheap::Result<()> {
    /// let (tables, lowering_desc) = Lowered::from_json(bound.plan().frame.name(), text)?;
    /// bound.adopt(tables, &lowering_desc)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If `lowering_desc` is for other queues, the checker rejects the tables, they need objects that were not created, or memory runs out.
    pub fn adopt(&mut self, tables: Lowered, lowering_desc: &LoweringDesc) -> Result<()> {
        let other = |what: String| {
            RuntimeRule::OtherTables.broken(format!(
                "these tables cannot run bound frame `{frame}`: {what}",
                frame = self.plan.frame.name()
            ))
        };
        if lowering_desc.queues != self.lowering.lowering_desc.queues {
            let pair = |queue: FamilyQueue| (queue.family, queue.index);
            let list = |one: &LoweringDesc| one.queues.iter().map(pair).collect::<Vec<_>>();
            let (theirs, ours) = (list(lowering_desc), list(&self.lowering.lowering_desc));
            let what = format!(
                "the tables are for queues (family, index) {theirs:?}, but the frame is bound to {ours:?}"
            );
            return Err(other(what));
        }
        let ends = self.queues.iter().map(|queue| queue.family + 1);
        let count = ends.max().unwrap_or(0);
        let mut families = vec![vk::QueueFlags::empty(); count as usize];
        for queue in &self.queues {
            families[queue.family as usize] |= queue.capabilities;
        }
        let device = DeviceFacts {
            profile: self.plan.profile.clone(),
            requirements: self.plan.requirements.clone(),
            families,
        };
        let differs = match lowering_desc.parity {
            Parity::Odd if self.parities == 2 => {
                let first = LoweringDesc::first(self.lowering.lowering_desc.queues.clone());
                let own = self
                    .lowering
                    .lowerer
                    .lower(&self.plan, &first.after(self.tables()))?;
                let differs = difference(&tables, &own);
                self.lowering.lowerer.recycle(own);
                differs
            }
            _ => difference(&tables, self.tables()),
        };
        if let Some(table) = differs {
            return Err(other(format!(
                "their {table} differ from those that were created"
            )));
        }
        let tables = tables.check(&self.plan.frame, lowering_desc, &device)?;
        let (parity, before) = (lowering_desc.parity, lowering_desc.before.clone());
        let mut encoded = self.with_encoding(|_, with| EncodedFrame::new(parity, before, tables, with))?;
        encoded.adopted = true;
        let same = |one: &EncodedFrame| one.parity == parity && one.before == encoded.before;
        match self.lowering.encoded.iter().position(same) {
            Some(index) => self.lowering.encoded[index] = encoded,
            None => self.lowering.encoded.push(encoded),
        }
        Ok(())
    }
}

/// The name of the first table that requires other objects than those that were created.
fn difference(tables: &Lowered, own: &Lowered) -> Option<&'static str> {
    let fixed = |one: &AttachmentRow| (one.view, one.format, one.samples, one.layout, one.resolve);
    let attachments = tables
        .attachments
        .iter()
        .map(fixed)
        .eq(own.attachments.iter().map(fixed));
    // Render pass objects have their own load and store operations.
    let objects = || {
        let mut objects = own.instances.iter().filter(|row| !row.dynamic);
        objects.all(|row| row.attachments.of(&tables.attachments) == row.attachments.of(&own.attachments))
    };
    [
        (tables.queues == own.queues, "queues"),
        (tables.memory == own.memory, "memory objects"),
        (tables.images == own.images, "images"),
        (tables.buffers == own.buffers, "buffers"),
        (tables.views == own.views, "views"),
        (tables.families == own.families, "queue families"),
        (tables.formats == own.formats, "formats"),
        (tables.accesses == own.accesses, "accesses"),
        (tables.instances == own.instances, "render passes"),
        (tables.subpasses == own.subpasses, "subpasses"),
        (tables.references == own.references, "references to attachments"),
        (
            tables.indices == own.indices,
            "locations or preserved attachments",
        ),
        (tables.stores == own.stores, "stores"),
        (
            tables.subpass_dependencies == own.subpass_dependencies,
            "subpass dependencies",
        ),
        (attachments && objects(), "attachments"),
    ]
    .into_iter()
    .find_map(|(same, table)| (!same).then_some(table))
}
