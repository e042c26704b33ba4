//! The reasons of a plan as text: why each resource is placed where it is, and a remedy if it is off chip.

use ash::vk;

use super::{Ladder, OffChipReason, PlacementReason, Plan, ResidencyStrategy, WindowRule};
use crate::frame::tables::{PassKind, ResourceKind};
use crate::frame::{AccessKind, PassId, Persistence, ResourceId, viewed_extent};
use crate::measure::DedicatedRequirement;
use crate::names;
use crate::units::Run;

impl ResidencyStrategy {
    /// Every strategy, the default first.
    pub const ALL: [ResidencyStrategy; 5] = [
        ResidencyStrategy::Optimal,
        ResidencyStrategy::Greedy,
        ResidencyStrategy::Fast,
        ResidencyStrategy::FirstCome,
        ResidencyStrategy::Off,
    ];

    /// The name that JSON and the command line use.
    pub const fn name(self) -> &'static str {
        match self {
            ResidencyStrategy::Optimal => "optimal",
            ResidencyStrategy::Greedy => "greedy",
            ResidencyStrategy::Fast => "fast",
            ResidencyStrategy::FirstCome => "first-come",
            ResidencyStrategy::Off => "off",
        }
    }
}

impl Ladder {
    /// Every variant, the default first.
    pub const ALL: [Ladder; 3] = [Ladder::Auto, Ladder::Always, Ladder::Off];

    /// The name that JSON and the command line use.
    pub const fn name(self) -> &'static str {
        match self {
            Ladder::Off => "off",
            Ladder::Auto => "auto",
            Ladder::Always => "always",
        }
    }
}

impl OffChipReason {
    /// The rule that keeps a resource (an image or a buffer) out of tile memory, with its VUID if it has one.
    pub const fn rule(&self, image: bool) -> &'static str {
        match self {
            OffChipReason::NoTileHeap => "VUID-vkAllocateMemory-tileMemoryHeap-10976",
            OffChipReason::History | OffChipReason::CrossesWindows { .. } => {
                "tile contents end with the batch, or with the submit where the device has queueSubmitBoundary"
            }
            OffChipReason::CrossesQueues { .. } => "each queue has its own tile contents",
            OffChipReason::Transfer { .. } | OffChipReason::DeclaredUsage if image => {
                "tile images have no transfer usage: VK_QCOM_tile_memory_heap, VkImages"
            }
            OffChipReason::Transfer { .. }
            | OffChipReason::DeclaredUsage
            | OffChipReason::BufferUse { .. } => "VUID-VkBufferCreateInfo-usage-10764",
            OffChipReason::TransferQueue { .. } => "VUID-vkCmdBindTileMemoryQCOM-commandBuffer-cmdpool",
            OffChipReason::ResolveTarget { .. } => {
                "VUID-VkRenderingAttachmentInfo-resolveImageView-10728, VUID-VkFramebufferCreateInfo-pAttachments-12327"
            }
            OffChipReason::Stored { .. } => "stored to ordinary memory by a split",
            OffChipReason::OnePass { .. } => "only one render pass uses it",
            OffChipReason::Refused => "the driver has no VkTileMemoryRequirementsQCOM for it",
            OffChipReason::TooLarge { .. } => "VUID-vkAllocateMemory-pAllocateInfo-01713",
            OffChipReason::CostExceedsSavings { .. } => {
                "bound tile memory reduces the GMEM for binning: VK_QCOM_tile_memory_heap, vkCmdBindTileMemoryQCOM"
            }
            OffChipReason::Excluded { .. } => "excluded by the frame",
            OffChipReason::NoRoom { .. } => "resources with overlapping lifetimes must not share bytes",
        }
    }
}

impl Plan {
    /// The reason for the placement of `resource`, and a remedy if it is not on chip.
    ///
    /// One line without a full stop: `keeps 3.7 MiB of traffic per frame on chip`.
    pub fn reason_text(&self, resource: ResourceId) -> String {
        let text = match self.resources[resource.index()].reason {
            PlacementReason::Unused => "unused: no pass accesses it".to_owned(),
            PlacementReason::External => "external memory".to_owned(),
            PlacementReason::Lazy { pass } => {
                format!("used only in {}, and never leaves the chip", self.pass(pass))
            }
            PlacementReason::Tile { savings } => {
                let store = self.stores().find(|store| store.from == resource);
                let less = store.map_or_else(String::new, |store| {
                    format!(
                        ", less {:#} stored by {}",
                        self.stored_bytes(&store),
                        self.pass(store.pass)
                    )
                });
                format!("keeps {savings:#} of traffic per frame on chip{less}")
            }
            PlacementReason::Arena(why) => self.not_tile_in_words(resource, why),
            PlacementReason::Dedicated(why) => {
                let asks = match self.requirements.resources[resource.index()].dedicated {
                    DedicatedRequirement::Required => "requires",
                    DedicatedRequirement::Preferred | DedicatedRequirement::No => "prefers",
                };
                format!(
                    "the driver {asks} a dedicated allocation; {}",
                    self.not_tile_in_words(resource, why)
                )
            }
        };
        match self.frame.joins_levels(resource) {
            Some(pass) => format!(
                "{text}; its levels are one image: {} uses several at once",
                self.pass(pass)
            ),
            None => text,
        }
    }

    fn not_tile_in_words(&self, resource: ResourceId, why: OffChipReason) -> String {
        let text = self.constraint_in_words(resource, why);
        let long = matches!(
            why,
            OffChipReason::NoRoom { .. }
                | OffChipReason::CostExceedsSavings { .. }
                | OffChipReason::CrossesWindows { .. }
                | OffChipReason::CrossesQueues { .. }
                | OffChipReason::History
        );
        match self.frame.check_splittable(resource) {
            Err(obstacle) if long && self.options.splits() => {
                format!("{text}; its lifetime cannot be split: {obstacle}")
            }
            _ => text,
        }
    }

    fn constraint_in_words(&self, resource: ResourceId, why: OffChipReason) -> String {
        if let Some(store) = self.stores().find(|store| store.to == resource) {
            return format!(
                "in tile memory until {} stores it here: the rest of its lifetime saves less than the space costs, or is not eligible",
                self.pass(store.pass)
            );
        }
        let kind = &self.frame.resource(resource).kind;
        match why {
            OffChipReason::NoTileHeap
                if self.profile.tile.is_some() && self.options.strategy == ResidencyStrategy::Off =>
            {
                "strategy `off` uses no tile memory".to_owned()
            }
            OffChipReason::NoTileHeap => "the device has no tile memory".to_owned(),
            OffChipReason::History => {
                "the next frame reads it, and tile contents do not last until then".to_owned()
            }
            OffChipReason::CrossesWindows { last, next } => self.crossing_in_words(last, next),
            OffChipReason::CrossesQueues { last, next } => format!(
                "moves from queue `{}` to queue `{}` after {}, and each queue has its own tile contents: keep {} on \
                 the first queue to keep it on chip",
                self.queue(last),
                self.queue(next),
                self.pass(last),
                self.pass(next),
            ),
            OffChipReason::Transfer { pass } if self.frame.resource(resource).is_image() => format!(
                "{} copies it, which tile images do not allow: draw or dispatch instead to keep it on chip",
                self.pass(pass)
            ),
            OffChipReason::Transfer { pass } => format!(
                "{} copies it, and the device lacks tileBufferTransfers: dispatch instead to keep it on chip",
                self.pass(pass)
            ),
            OffChipReason::TransferQueue { pass } => format!(
                "{} uses it on queue `{}`, which supports neither graphics nor compute and so cannot bind tile memory: use another queue to \
                 keep it on chip",
                self.pass(pass),
                self.queue(pass),
            ),
            OffChipReason::ResolveTarget { pass } => format!(
                "{} resolves into it, which tile memory does not allow: resolve in a shader to keep it on chip",
                self.pass(pass)
            ),
            OffChipReason::BufferUse { pass, kind } => format!(
                "{} uses it as {}, which tile buffers do not allow: {} to keep it on chip",
                self.pass(pass),
                kind.noun(),
                match kind {
                    AccessKind::IndirectBuffer => "draw or dispatch with sizes from the host",
                    _ => "fetch it as a storage buffer",
                }
            ),
            OffChipReason::Stored { pass } => format!("{} stores it here", self.pass(pass)),
            OffChipReason::OnePass { pass } => {
                let lazy = match (self.options.lazy, self.profile.lazy_type_bits() != 0) {
                    (false, true) => "lazily allocated memory, which could avoid the allocation, is disabled",
                    _ => "the device has no lazily allocated memory, which could avoid the allocation",
                };
                format!(
                    "used only in {}, whose own tiles keep it on chip; {lazy}",
                    self.pass(pass)
                )
            }
            OffChipReason::DeclaredUsage => {
                let beyond =
                    usage_beyond_tile(kind, self.profile.tile.is_some_and(|tile| tile.buffer_transfers));
                format!(
                    "its declared usage {} is not allowed in tile memory: declare only what passes need",
                    beyond.join(" | ")
                )
            }
            OffChipReason::Refused => self.refusal_in_words(resource),
            OffChipReason::Excluded { savings } => {
                format!("excluded from tile memory, where it could save {savings:#} of traffic per frame")
            }
            OffChipReason::TooLarge { size, heap }
                if self.profile.tile.is_some_and(|tile| heap < tile.size) =>
            {
                format!("its size of {size} in tile memory exceeds the plan option's limit of {heap}")
            }
            OffChipReason::TooLarge { size, heap } => format!(
                "its size of {size} in tile memory exceeds the heap of {heap}: it would fit with {} % fewer bytes (a smaller format or extent)",
                percent_up(size.0.saturating_sub(heap.0), size.0)
            ),
            OffChipReason::CostExceedsSavings {
                savings,
                binning_cost,
            } => format!(
                "its savings of {savings:#} of traffic per frame are less than the binning cost of {binning_cost:#} in its passes"
            ),
            OffChipReason::NoRoom { savings, conflicts } => format!(
                "no room beside {} despite its savings of {savings:#} per frame: shorten lifetimes, or shrink the \
                 resource",
                self.conflicts_text(conflicts)
            ),
        }
    }

    /// The area that a render pass renders to if it is a part of the largest attachment although the pass declares no area; `None` otherwise.
    pub(super) fn default_area_in_words(&self, pass: PassId) -> Option<String> {
        let (frame, planned) = (&self.frame, self.frame.pass(pass));
        if planned.kind != PassKind::Render || planned.render_area.is_some() {
            return None;
        }
        let extents = frame.accesses_of(pass).iter().filter_map(|access| {
            let resource = frame.resource(access.resource);
            let is_attached = access.kind.is_attachment() || access.kind == AccessKind::InputAttachment;
            match &resource.kind {
                ResourceKind::Image { desc, extent, .. } if is_attached => {
                    Some((viewed_extent(desc, *extent, access), resource))
                }
                _ => None,
            }
        });
        let texels = |extent: &vk::Extent2D| u64::from(extent.width) * u64::from(extent.height);
        let (largest, resource) = extents.reduce(|a, b| if texels(&b.0) > texels(&a.0) { b } else { a })?;
        let area = planned.area.extent;
        (largest != area).then(|| {
            format!(
                "renders {} x {} of the {} x {} of {}: no area is declared, and all attachments cover this part",
                area.width,
                area.height,
                largest.width,
                largest.height,
                quoted(&resource.name)
            )
        })
    }

    fn crossing_in_words(&self, last: PassId, next: PassId) -> String {
        let by_submit = self.profile.tile.is_some_and(|tile| tile.queue_submit_boundary);
        let (what, from, to) = if by_submit {
            (
                "submit",
                self.frame.submit_of(last).index(),
                self.frame.submit_of(next).index(),
            )
        } else {
            (
                "batch",
                self.frame.batch_of(last).index(),
                self.frame.batch_of(next).index(),
            )
        };
        let plural = if by_submit { "submits" } else { "batches" };
        format!(
            "crosses from {what} {from} to {what} {to} after {}: it could stay on chip if the {plural} were fused",
            self.pass(last)
        )
    }

    fn refusal_in_words(&self, resource: ResourceId) -> String {
        let needs = &self.requirements.resources[resource.index()];
        if needs.dedicated == DedicatedRequirement::Required && needs.tile.is_some() {
            return "a dedicated allocation cannot share tile memory".to_owned();
        }
        if self.options.windows == WindowRule::WholeFrame {
            return "it has no tile memory requirements".to_owned();
        }
        let refused = self.frame.resource(resource);
        let beyond = beyond_guaranteed(&refused.kind);
        if beyond.is_empty() {
            return "the driver refuses it in tile memory: another format or usage may help".to_owned();
        }
        let is_external = matches!(refused.persistence, Persistence::External(_));
        let remedy = match refused.kind {
            ResourceKind::Image { desc, .. }
                if desc.mip_levels > 1 && !desc.separate_levels && !is_external =>
            {
                "; `separate_levels` makes each level an image of its own"
            }
            _ => "",
        };
        format!(
            "the driver refuses {} in tile memory: every driver supports 2D images with one level, layer and sample{remedy}",
            beyond.join(", ")
        )
    }

    /// The names of the first conflicting residents, and the number of the others; if there are none, the bound tile memory is named instead.
    fn conflicts_text(&self, conflicts: Run) -> String {
        const NAMED: usize = 3;
        let residents = conflicts.of(&self.conflicts);
        if residents.is_empty() {
            return "the bound tile memory".to_owned();
        }
        let named = residents
            .iter()
            .take(NAMED)
            .map(|id| quoted(&self.frame.resource(*id).name));
        let mut text = named.collect::<Vec<_>>().join(", ");
        if residents.len() > NAMED {
            text += &format!(" and {} more", residents.len() - NAMED);
        }
        text
    }

    fn pass(&self, pass: PassId) -> String {
        quoted(&self.frame.pass(pass).name)
    }

    fn queue(&self, pass: PassId) -> String {
        printable(&self.frame.queues()[self.frame.queue_of(pass).index()].name)
    }
}

/// The kind of a pass, as in frame documents.
pub(super) const fn pass_kind_name(kind: PassKind) -> &'static str {
    match kind {
        PassKind::Render => "render",
        PassKind::Compute => "compute",
        PassKind::Transfer => "transfer",
    }
}

/// A name in backticks, on one line.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", printable(name))
}

/// A name with its control characters replaced, since those could move a terminal's cursor.
pub(super) fn printable(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

/// `part` of `whole` in percent, rounded up.
fn percent_up(part: u64, whole: u64) -> u128 {
    (u128::from(part) * 100).div_ceil(u128::from(whole).max(1))
}

/// Names of the usage bits that tile memory does not allow.
fn usage_beyond_tile(kind: &ResourceKind, buffer_transfers: bool) -> Vec<String> {
    match kind {
        ResourceKind::Image { usage, .. } => names::bit_names(*usage & !crate::profile::TILE_IMAGE_USES),
        ResourceKind::Buffer { usage, .. } => {
            names::bit_names(*usage & !crate::profile::tile_buffer_uses(buffer_transfers))
        }
    }
}

/// Properties of a resource outside the set that every driver supports in tile memory.
fn beyond_guaranteed(kind: &ResourceKind) -> Vec<String> {
    let mut beyond = Vec::new();
    if let ResourceKind::Image { desc, .. } = kind {
        if desc.image_type != vk::ImageType::TYPE_2D {
            beyond.push(format!("{:?}", desc.image_type).replace("TYPE_", "") + " images");
        }
        if desc.mip_levels > 1 {
            beyond.push(format!("{} mip levels", desc.mip_levels));
        }
        if desc.array_layers > 1 {
            beyond.push(format!("{} layers", desc.array_layers));
        }
        if desc.samples != vk::SampleCountFlags::TYPE_1 {
            beyond.push(format!("{} samples", desc.samples.as_raw()));
        }
        beyond.extend(names::bit_names(desc.flags & !vk::ImageCreateFlags::ALIAS));
    }
    beyond.extend(usage_beyond_tile(kind, false));
    beyond
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(quoted("a\n\u{1b}[31mb"), "`a\u{fffd}\u{fffd}[31mb`");
    }
}
