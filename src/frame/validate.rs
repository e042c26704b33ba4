//! Validation: from a description to tables known to be sound.

use std::collections::BTreeSet;

use ash::vk;

use super::*;

/// What is wrong with a frame's description. Every message names the pass or resource and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameFault {
    /// A batch, command buffer or pass was added to something that is not the last of its kind.
    #[error("{what} is declared out of submission order: add it before anything that is submitted later")]
    OutOfOrder {
        /// What was declared.
        what: String,
    },
    /// No pass at all.
    #[error("frame `{frame}` has no passes: declare at least one")]
    Empty {
        /// The frame.
        frame: String,
    },
    /// Two things of one kind share a name.
    #[error("two {what} are named `{name}`: give each its own name")]
    DuplicateName {
        /// Resources, passes, ….
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An id or name that the frame does not have.
    #[error("{by} refers to {what} `{name}`, which the frame does not declare")]
    Unknown {
        /// Resource, queue, ….
        what: &'static str,
        /// The id's number or the name.
        name: String,
        /// Who refers to it.
        by: String,
    },
    /// An image without texels.
    #[error(
        "image `{resource}` has a zero extent ({width} x {height} x {depth}): every side must be at least 1 texel"
    )]
    ZeroExtent {
        /// The image.
        resource: String,
        /// Texels across.
        width: u32,
        /// Texels down.
        height: u32,
        /// Texels deep.
        depth: u32,
    },
    /// A buffer without bytes, or an image without levels, layers or samples.
    #[error("resource `{resource}` has no {what}: it must be at least 1")]
    ZeroCount {
        /// The resource.
        resource: String,
        /// Bytes, mip levels, ….
        what: &'static str,
    },
    /// A format of which the size is not known.
    #[error(
        "image `{resource}` has format {format}, whose texel size is not defined: use a single-plane format"
    )]
    Format {
        /// The image.
        resource: String,
        /// The format.
        format: String,
    },
    /// An access that resources of this type or format cannot have.
    #[error("pass `{pass}` uses `{resource}` as {kind:?}: {why}")]
    Misuse {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// The access.
        kind: AccessKind,
        /// What does not fit.
        why: &'static str,
    },
    /// Contents are needed that nothing wrote.
    #[error(
        "pass `{pass}` reads `{resource}` before anything in the frame has written it: write or clear it first, or declare it History or External"
    )]
    ReadBeforeWrite {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
    },
    /// One pass writes one resource through two accesses.
    #[error("pass `{pass}` declares two writers of `{resource}`: merge the accesses or split the pass")]
    TwoWriters {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
    },
    /// The previous version of something that has none, or is written.
    #[error("pass `{pass}` uses the previous version of `{resource}`: {why}")]
    Previous {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// What is wrong.
        why: &'static str,
    },
    /// A pass on a queue that cannot run it.
    #[error("pass `{pass}` needs a {needs} queue, and queue `{queue}` is not declared as one")]
    QueueCapability {
        /// The pass.
        pass: String,
        /// The queue.
        queue: String,
        /// Graphics, compute or transfer.
        needs: &'static str,
    },
    /// A wait that can never end, or only by an earlier frame.
    #[error(
        "batch {batch} waits for semaphore `{semaphore}`, which no earlier batch signals: the frame is cyclic, or its submits are in the wrong order"
    )]
    Cyclic {
        /// Index of the waiting batch.
        batch: usize,
        /// The semaphore.
        semaphore: String,
    },
    /// More than one signal, or more than one wait, of a semaphore inside the frame.
    #[error("semaphore `{semaphore}` is {what} more than once: use one semaphore for each pair of batches")]
    SemaphoreReuse {
        /// The semaphore.
        semaphore: String,
        /// `signalled` or `waited for`.
        what: &'static str,
    },
    /// A frame semaphore that is signalled and never waited for, which would leave a binary one signalled.
    #[error(
        "semaphore `{semaphore}` is signalled and no batch waits for it: remove the signal, or declare the semaphore external"
    )]
    NeverWaited {
        /// The semaphore.
        semaphore: String,
    },
    /// A use on one queue that neither follows nor precedes a use on another.
    #[error(
        "passes `{first}` and `{second}` use `{resource}` on two queues with nothing between them: signal and wait for a semaphore"
    )]
    Unordered {
        /// The resource.
        resource: String,
        /// The earlier declared pass.
        first: String,
        /// The later declared pass.
        second: String,
    },
    /// Attachments of one pass that no framebuffer can hold together.
    #[error("attachments of pass `{pass}` differ in {what}")]
    Attachments {
        /// The pass.
        pass: String,
        /// Samples or layers.
        what: &'static str,
    },
    /// A resolve attachment whose source is not an attachment of the pass.
    #[error("pass `{pass}` resolves into `{resource}`, but its source is not an attachment of the pass")]
    ResolveSource {
        /// The pass.
        pass: String,
        /// The resolve attachment.
        resource: String,
    },
    /// Secondary contents outside a render pass.
    #[error(
        "pass `{pass}` is no render pass, so its contents are inline: record secondary command buffers inside it as you like"
    )]
    SecondaryContents {
        /// The pass.
        pass: String,
    },
}

/// Checks everything and fills in what follows from the description.
pub(super) fn finish(mut tables: Tables) -> Result<Tables, FrameFault> {
    check_names(&tables)?;
    resolve_sizes(&mut tables)?;
    check_references(&tables)?;
    check_queues(&tables)?;
    check_semaphores(&tables)?;
    check_accesses(&tables)?;
    derive_usage(&mut tables);
    derive_render_areas(&mut tables)?;
    derive_uses(&mut tables);
    check_contents(&tables)?;
    derive_order(&mut tables);
    check_order(&tables)?;
    Ok(tables)
}

fn check_names(tables: &Tables) -> Result<(), FrameFault> {
    fn unique<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), FrameFault> {
        let mut seen = BTreeSet::new();
        for name in names {
            if !seen.insert(name) {
                return Err(FrameFault::DuplicateName {
                    what,
                    name: name.to_owned(),
                });
            }
        }
        Ok(())
    }
    if tables.passes.is_empty() {
        return Err(FrameFault::Empty {
            frame: tables.name.clone(),
        });
    }
    unique(
        "resources",
        tables.resources.iter().map(|resource| resource.name.as_str()),
    )?;
    unique("passes", tables.passes.iter().map(|pass| pass.name.as_str()))?;
    unique(
        "command buffers",
        tables
            .command_buffers
            .iter()
            .map(|commands| commands.name.as_str()),
    )?;
    unique("queues", tables.queues.iter().map(|queue| queue.name.as_str()))?;
    unique(
        "semaphores",
        tables.semaphores.iter().map(|semaphore| semaphore.name.as_str()),
    )
}

fn resolve_sizes(tables: &mut Tables) -> Result<(), FrameFault> {
    let base = tables.base_extent;
    for resource in &mut tables.resources {
        let zero = |what| FrameFault::ZeroCount {
            resource: resource.name.clone(),
            what,
        };
        match &mut resource.kind {
            ResourceKind::Image { desc, extent, .. } => {
                let scaled = matches!(desc.extent, Extent::Scaled(_));
                if scaled && (base.width == 0 || base.height == 0) {
                    *extent = vk::Extent3D {
                        width: base.width,
                        height: base.height,
                        depth: 1,
                    };
                } else {
                    *extent = desc.extent.resolve(base);
                }
                if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
                    let vk::Extent3D { width, height, depth } = *extent;
                    return Err(FrameFault::ZeroExtent {
                        resource: resource.name.clone(),
                        width,
                        height,
                        depth,
                    });
                }
                if desc.mip_levels == 0 {
                    return Err(zero("mip levels"));
                }
                if desc.array_layers == 0 {
                    return Err(zero("array layers"));
                }
                if desc.samples.is_empty() {
                    return Err(zero("samples"));
                }
                if texel_block(desc.format).is_none() {
                    let format = format!("{:?}", desc.format);
                    return Err(FrameFault::Format {
                        resource: resource.name.clone(),
                        format,
                    });
                }
            }
            ResourceKind::Buffer { desc, .. } => {
                if desc.size == crate::units::Bytes::ZERO {
                    return Err(zero("bytes"));
                }
            }
        }
    }
    Ok(())
}

fn check_references(tables: &Tables) -> Result<(), FrameFault> {
    let unknown = |what, index: u32, by: String| FrameFault::Unknown {
        what,
        name: format!("#{index}"),
        by,
    };
    for access in &tables.accesses {
        let ids = [Some(access.resource), access.resolves];
        for id in ids.into_iter().flatten() {
            if id.index() >= tables.resources.len() {
                let by = format!("pass `{}`", tables.passes[access.pass.index()].name);
                return Err(unknown("resource", id.0, by));
            }
        }
    }
    for (index, submit) in tables.submits.iter().enumerate() {
        if submit.queue.index() >= tables.queues.len() {
            return Err(unknown("queue", submit.queue.0, format!("submit {index}")));
        }
    }
    for (index, batch) in tables.batches.iter().enumerate() {
        for op in batch.waits.iter().chain(&batch.signals) {
            if op.semaphore.index() >= tables.semaphores.len() {
                return Err(unknown("semaphore", op.semaphore.0, format!("batch {index}")));
            }
        }
    }
    Ok(())
}

fn queue_of(tables: &Tables, pass: &Pass) -> QueueId {
    let batch = tables.command_buffers[pass.command_buffer.index()].batch;
    tables.submits[tables.batches[batch.index()].submit.index()].queue
}

fn check_queues(tables: &Tables) -> Result<(), FrameFault> {
    for pass in &tables.passes {
        let queue = &tables.queues[queue_of(tables, pass).index()];
        // Graphics and compute queues can always transfer; their transfer bit is optional.
        let transfers = vk::QueueFlags::TRANSFER | vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let (needs, fits) = match pass.kind {
            PassKind::Render => ("graphics", vk::QueueFlags::GRAPHICS),
            PassKind::Compute => ("compute", vk::QueueFlags::COMPUTE),
            PassKind::Transfer => ("transfer", transfers),
        };
        // Vulkan guarantees that some graphics family also computes, and renderers treat graphics queues so.
        let fits = if pass.kind == PassKind::Compute {
            fits | vk::QueueFlags::GRAPHICS
        } else {
            fits
        };
        if !queue.capabilities.intersects(fits) {
            let (pass, queue) = (pass.name.clone(), queue.name.clone());
            return Err(FrameFault::QueueCapability { pass, queue, needs });
        }
    }
    Ok(())
}

fn check_semaphores(tables: &Tables) -> Result<(), FrameFault> {
    let mut signalled = vec![false; tables.semaphores.len()];
    let mut waited = vec![false; tables.semaphores.len()];
    for (index, batch) in tables.batches.iter().enumerate() {
        for op in &batch.waits {
            let semaphore = &tables.semaphores[op.semaphore.index()];
            let name = || semaphore.name.clone();
            if !semaphore.external && !signalled[op.semaphore.index()] {
                return Err(FrameFault::Cyclic {
                    batch: index,
                    semaphore: name(),
                });
            }
            if std::mem::replace(&mut waited[op.semaphore.index()], true) {
                return Err(FrameFault::SemaphoreReuse {
                    semaphore: name(),
                    what: "waited for",
                });
            }
        }
        for op in &batch.signals {
            if std::mem::replace(&mut signalled[op.semaphore.index()], true) {
                let semaphore = tables.semaphores[op.semaphore.index()].name.clone();
                return Err(FrameFault::SemaphoreReuse {
                    semaphore,
                    what: "signalled",
                });
            }
        }
    }
    for (index, semaphore) in tables.semaphores.iter().enumerate() {
        if !semaphore.external && signalled[index] && !waited[index] {
            return Err(FrameFault::NeverWaited {
                semaphore: semaphore.name.clone(),
            });
        }
    }
    Ok(())
}

fn check_accesses(tables: &Tables) -> Result<(), FrameFault> {
    for pass in &tables.passes {
        if pass.contents == Contents::Secondary && pass.kind != PassKind::Render {
            return Err(FrameFault::SecondaryContents {
                pass: pass.name.clone(),
            });
        }
        let accesses = pass.accesses.of(&tables.accesses);
        for (index, access) in accesses.iter().enumerate() {
            check_access(tables, pass, access)?;
            let twice = accesses[..index].iter().any(|other| {
                other.resource == access.resource
                    && other.version == access.version
                    && ((other.writes && access.writes)
                        || (other.kind == access.kind && access.kind == AccessKind::DepthStencilAttachment))
            });
            let resource = || tables.resources[access.resource.index()].name.clone();
            if twice {
                return Err(FrameFault::TwoWriters {
                    pass: pass.name.clone(),
                    resource: resource(),
                });
            }
            if access.kind == AccessKind::ResolveAttachment {
                let sources = [AccessKind::ColorAttachment, AccessKind::DepthStencilAttachment];
                let found = accesses
                    .iter()
                    .any(|other| Some(other.resource) == access.resolves && sources.contains(&other.kind));
                if !found {
                    return Err(FrameFault::ResolveSource {
                        pass: pass.name.clone(),
                        resource: resource(),
                    });
                }
            }
        }
        let mut depths = accesses
            .iter()
            .filter(|access| access.kind == AccessKind::DepthStencilAttachment);
        if let Some(second) = depths.nth(1) {
            return Err(misuse(
                tables,
                second,
                "a pass has at most one depth and stencil attachment",
            ));
        }
    }
    Ok(())
}

fn misuse(tables: &Tables, access: &Access, why: &'static str) -> FrameFault {
    FrameFault::Misuse {
        pass: tables.passes[access.pass.index()].name.clone(),
        resource: tables.resources[access.resource.index()].name.clone(),
        kind: access.kind,
        why,
    }
}

fn check_access(tables: &Tables, pass: &Pass, access: &Access) -> Result<(), FrameFault> {
    let resource = &tables.resources[access.resource.index()];
    let misuse = |why| Err(misuse(tables, access, why));
    let previous = |why| {
        let (pass, resource) = (pass.name.clone(), resource.name.clone());
        Err(FrameFault::Previous { pass, resource, why })
    };
    let kind = access.kind;
    if resource.is_image() && !kind.fits_images() {
        return misuse("only buffers can be used so");
    }
    if !resource.is_image() && !kind.fits_buffers() {
        return misuse("only images can be used so");
    }
    if pass.kind != PassKind::Render && (kind.is_attachment() || kind == AccessKind::InputAttachment) {
        return misuse("only render passes have attachments");
    }
    if pass.kind == PassKind::Transfer && !kind.is_transfer() {
        return misuse("a transfer pass can only copy, fill and clear");
    }
    if pass.kind == PassKind::Render && kind.is_transfer() {
        return misuse("transfers are not allowed inside a render pass");
    }
    let color = resource.aspects().contains(vk::ImageAspectFlags::COLOR);
    if kind == AccessKind::ColorAttachment && !color {
        return misuse("its format has no colour aspect");
    }
    if kind == AccessKind::DepthStencilAttachment && color {
        return misuse("its format has no depth or stencil aspect");
    }
    if !access.reads && !access.writes {
        return misuse("it neither reads nor writes");
    }
    if access.writes && kind.access_flags(false, true).is_empty() {
        return misuse("such accesses cannot write");
    }
    if access.reads && !access.writes && kind.access_flags(true, false).is_empty() {
        return misuse("such accesses cannot read");
    }
    if matches!(access.before, Before::Clear(_)) && access.writes && !kind.is_attachment() {
        return misuse("only attachments can be cleared by the pass: clear in a transfer pass, or overwrite");
    }
    if access.version == Version::Previous {
        if resource.lifetime != Lifetime::History {
            return previous("only History resources have one");
        }
        if access.writes {
            return previous("it cannot be written");
        }
    }
    Ok(())
}

fn derive_usage(tables: &mut Tables) {
    for access in &tables.accesses {
        let resource = &mut tables.resources[access.resource.index()];
        let depth = !resource.aspects().contains(vk::ImageAspectFlags::COLOR);
        match &mut resource.kind {
            ResourceKind::Image { usage, .. } => *usage |= access.kind.image_usage(depth),
            ResourceKind::Buffer { usage, .. } => *usage |= access.kind.buffer_usage(),
        }
    }
}

fn derive_render_areas(tables: &mut Tables) -> Result<(), FrameFault> {
    for pass in tables
        .passes
        .iter_mut()
        .filter(|pass| pass.kind == PassKind::Render)
    {
        let mut area: Option<(vk::Extent2D, u32)> = None;
        let mut samples = vk::SampleCountFlags::empty();
        for access in pass
            .accesses
            .of(&tables.accesses)
            .iter()
            .filter(|access| access.kind.is_attachment())
        {
            let ResourceKind::Image { desc, extent, .. } = tables.resources[access.resource.index()].kind
            else {
                continue;
            };
            if access.kind != AccessKind::ResolveAttachment {
                if !samples.is_empty() && samples != desc.samples {
                    return Err(FrameFault::Attachments {
                        pass: pass.name.clone(),
                        what: "samples",
                    });
                }
                samples = desc.samples;
            }
            let (seen, layers) = area.get_or_insert((
                vk::Extent2D {
                    width: extent.width,
                    height: extent.height,
                },
                desc.array_layers,
            ));
            seen.width = seen.width.min(extent.width);
            seen.height = seen.height.min(extent.height);
            *layers = (*layers).min(desc.array_layers);
        }
        (pass.area, pass.layers) = area.unwrap_or((tables.base_extent, 1));
    }
    Ok(())
}

fn derive_uses(tables: &mut Tables) {
    let mut counts = vec![0u32; tables.resources.len() + 1];
    for access in &tables.accesses {
        counts[access.resource.index() + 1] += 1;
    }
    for index in 1..counts.len() {
        counts[index] += counts[index - 1];
    }
    tables.uses_of = counts
        .windows(2)
        .map(|pair| Run {
            first: pair[0],
            end: pair[1],
        })
        .collect();
    tables.uses = vec![0; tables.accesses.len()];
    tables.lives = vec![Span::default(); tables.resources.len()];
    let mut next = counts;
    for (index, access) in tables.accesses.iter().enumerate() {
        let slot = &mut next[access.resource.index()];
        tables.uses[*slot as usize] = index as u32;
        *slot += 1;
        let life = &mut tables.lives[access.resource.index()];
        if life.is_empty() {
            life.first = access.pass.step();
        }
        life.end = Step(access.pass.0 + 1);
    }
}

fn check_contents(tables: &Tables) -> Result<(), FrameFault> {
    for (index, resource) in tables.resources.iter().enumerate() {
        // An external image that comes in as UNDEFINED has no contents either; a buffer has no layout to say so.
        if let Lifetime::External(desc) = resource.lifetime
            && !(resource.is_image() && desc.entry.layout == vk::ImageLayout::UNDEFINED)
        {
            continue;
        }
        let uses = tables.uses_of[index].of(&tables.uses);
        let mut written_before: Option<PassId> = None;
        for &use_index in uses {
            let access = &tables.accesses[use_index as usize];
            let available = written_before.is_some_and(|pass| pass < access.pass);
            // A pass may read what it writes itself if the write comes with a clear or overwrites: an attachment read as
            // input attachment in the same pass.
            let same_pass = access.kind == AccessKind::InputAttachment
                && tables.passes[access.pass.index()]
                    .accesses
                    .of(&tables.accesses)
                    .iter()
                    .any(|other| {
                        other.resource == access.resource && other.writes && other.before != Before::Load
                    });
            let needs = access.needs_contents() && access.version == Version::Current;
            if access.version == Version::Previous
                && !uses.iter().any(|&index| tables.accesses[index as usize].writes)
            {
                return Err(FrameFault::Previous {
                    pass: tables.passes[access.pass.index()].name.clone(),
                    resource: resource.name.clone(),
                    why: "no pass writes its current version",
                });
            }
            if needs && !available && !same_pass {
                let pass = tables.passes[access.pass.index()].name.clone();
                return Err(FrameFault::ReadBeforeWrite {
                    pass,
                    resource: resource.name.clone(),
                });
            }
            if access.writes && written_before.is_none() {
                written_before = Some(access.pass);
            }
        }
    }
    Ok(())
}

fn derive_order(tables: &mut Tables) {
    if tables.queues.len() < 2 {
        return;
    }
    let words = tables.batches.len().div_ceil(64);
    let mut signaller: Vec<Option<usize>> = vec![None; tables.semaphores.len()];
    let mut last_on_queue: Vec<Option<usize>> = vec![None; tables.queues.len()];
    let mut before: Vec<Vec<u64>> = Vec::with_capacity(tables.batches.len());
    for (index, batch) in tables.batches.iter().enumerate() {
        let queue = tables.submits[batch.submit.index()].queue.index();
        let mut set = vec![0u64; words];
        let earlier = batch
            .waits
            .iter()
            .filter_map(|op| signaller[op.semaphore.index()]);
        for earlier in earlier.chain(last_on_queue[queue]) {
            for (word, more) in set.iter_mut().zip(&before[earlier]) {
                *word |= more;
            }
            set[earlier / 64] |= 1 << (earlier % 64);
        }
        before.push(set);
        last_on_queue[queue] = Some(index);
        for op in &batch.signals {
            signaller[op.semaphore.index()] = Some(index);
        }
    }
    tables.before = before;
}

/// Uses of one resource on two queues must be ordered, unless both only read.
fn check_order(tables: &Tables) -> Result<(), FrameFault> {
    if tables.before.is_empty() {
        return Ok(());
    }
    let batch_of = |pass: PassId| {
        tables.command_buffers[tables.passes[pass.index()].command_buffer.index()]
            .batch
            .index()
    };
    for (index, resource) in tables.resources.iter().enumerate() {
        let uses = tables.uses_of[index].of(&tables.uses);
        for (position, &second) in uses.iter().enumerate() {
            let second = &tables.accesses[second as usize];
            let second_queue = queue_of(tables, &tables.passes[second.pass.index()]);
            for &first in &uses[..position] {
                let first = &tables.accesses[first as usize];
                let first_queue = queue_of(tables, &tables.passes[first.pass.index()]);
                let (a, b) = (batch_of(first.pass), batch_of(second.pass));
                let ordered = first_queue == second_queue || tables.before[b][a / 64] >> (a % 64) & 1 == 1;
                // Two readers in different layouts or families would still need an order; ask for it always.
                if !ordered && first.version == second.version {
                    return Err(FrameFault::Unordered {
                        resource: resource.name.clone(),
                        first: tables.passes[first.pass.index()].name.clone(),
                        second: tables.passes[second.pass.index()].name.clone(),
                    });
                }
            }
        }
    }
    Ok(())
}
