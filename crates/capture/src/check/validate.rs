//! Validation of a recording: every index is in range, and render pass instances are complete.

use crate::document::recording::{
    AffectedMemory, CommandBuffer, CommandEffect, Dependency, RecordedAccess, RecordedStep, Recording,
    RenderPassInstance, ResourceKind, ResourcePart,
};

/// Maximum number of mip levels of an image.
const MAX_LEVELS: u32 = 32;
/// Maximum number of array layers of an image, or of slices of a 3D image.
const MAX_LAYERS: u32 = 1 << 16;

/// The reason why a recording cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recording is damaged: {0}; capture it again")]
pub struct MalformedRecording(String);

/// Fails if the rest of the check cannot process the recording.
pub(super) fn validate(recording: &Recording) -> Result<(), MalformedRecording> {
    for resource in &recording.resources {
        let name = &resource.name;
        if let Some(placement) = resource.placement {
            within("memory", placement.object, recording.memories.len())?;
        }
        if let ResourceKind::Image {
            levels,
            layers,
            extent,
            ..
        } = resource.kind
        {
            if levels > MAX_LEVELS || layers > MAX_LAYERS || extent[2] > MAX_LAYERS {
                return error(format!(
                    "`{name}` has mipLevels {levels}, arrayLayers {layers} and depth {}: the limits are {MAX_LEVELS}, {MAX_LAYERS} and {MAX_LAYERS}",
                    extent[2]
                ));
            }
        }
    }
    for buffer in &recording.command_buffers {
        commands(recording, buffer)?;
    }
    for step in &recording.steps {
        match step {
            RecordedStep::Submit(batch) => {
                for &buffer in &batch.command_buffers {
                    within("command buffer", buffer, recording.command_buffers.len())?;
                }
            }
            RecordedStep::Acquire { resource, .. } => image(recording, *resource)?,
            RecordedStep::Present { resources, .. } => {
                for &resource in resources {
                    image(recording, resource)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn error(what: String) -> Result<(), MalformedRecording> {
    Err(MalformedRecording(what))
}

fn within(what: &str, index: u32, length: usize) -> Result<(), MalformedRecording> {
    match (index as usize) < length {
        true => Ok(()),
        false => error(format!("{what} index {index} is out of range [0, {length})")),
    }
}

fn commands(recording: &Recording, buffer: &CommandBuffer) -> Result<(), MalformedRecording> {
    // The number of subpasses of the open instance, and the current one.
    let mut open: Option<(usize, usize)> = None;
    for command in &buffer.commands {
        let misplaced = || {
            let (number, call, name) = (command.number, &command.call, &buffer.name);
            error(format!(
                "command {number} of `{name}`, `{call}`, is not allowed at this point: render passes and subpasses must begin and end in order"
            ))
        };
        for unresolved in &command.unresolved {
            for &resource in &unresolved.resources {
                within("resource", resource, recording.resources.len())?;
            }
        }
        match &command.action {
            CommandEffect::Access(accesses) => accesses.iter().try_for_each(|one| access(recording, one))?,
            CommandEffect::Barrier(dependencies) | CommandEffect::WaitEvents { dependencies, .. } => {
                dependencies
                    .iter()
                    .try_for_each(|one| dependency(recording, one))?;
            }
            CommandEffect::Begin(instance) => {
                if open.is_some() {
                    return misplaced();
                }
                attachments(recording, instance)?;
                open = Some((instance.subpasses.len(), 0));
            }
            CommandEffect::NextSubpass => match &mut open {
                Some((subpasses, current)) if *current + 1 < *subpasses => *current += 1,
                _ => return misplaced(),
            },
            CommandEffect::End => match open.take() {
                Some((subpasses, current)) if current + 1 == subpasses => {}
                _ => return misplaced(),
            },
            CommandEffect::None | CommandEffect::SetEvent { .. } | CommandEffect::ResetEvent { .. } => {}
        }
    }
    match open {
        None => Ok(()),
        Some(_) => error(format!("`{}` ends inside a render pass instance", buffer.name)),
    }
}

fn access(recording: &Recording, access: &RecordedAccess) -> Result<(), MalformedRecording> {
    // The model would treat an access of no type as one of unknown type, which conflicts with all others.
    if access.access.is_empty() || access.stage.is_empty() {
        return error("an access has no stage or no type".to_owned());
    }
    match access.part {
        ResourcePart::Bytes(..) => of_buffer(recording, access.resource),
        ResourcePart::Texels { .. } => image(recording, access.resource),
    }
}

fn dependency(recording: &Recording, dependency: &Dependency) -> Result<(), MalformedRecording> {
    match dependency.memory {
        AffectedMemory::None | AffectedMemory::All => Ok(()),
        AffectedMemory::Buffer { resource, .. } => of_buffer(recording, resource),
        AffectedMemory::Image { resource, .. } => image(recording, resource),
    }
}

fn attachments(recording: &Recording, instance: &RenderPassInstance) -> Result<(), MalformedRecording> {
    for attachment in &instance.attachments {
        image(recording, attachment.resource)?;
    }
    if instance.subpasses.is_empty() {
        return error("a render pass instance has no subpasses".to_owned());
    }
    let uses = instance.subpasses.iter().flat_map(|subpass| &subpass.uses);
    for one in uses {
        within("attachment", one.attachment, instance.attachments.len())?;
    }
    let ends = instance.dependencies.iter().flat_map(|one| [one.from, one.to]);
    for subpass in ends.flatten() {
        within("subpass", subpass, instance.subpasses.len())?;
    }
    Ok(())
}

fn is_image(recording: &Recording, resource: u32) -> Result<bool, MalformedRecording> {
    within("resource", resource, recording.resources.len())?;
    let kind = &recording.resources[resource as usize].kind;
    Ok(matches!(kind, ResourceKind::Image { .. }))
}

fn image(recording: &Recording, resource: u32) -> Result<(), MalformedRecording> {
    match is_image(recording, resource)? {
        true => Ok(()),
        false => error(format!(
            "resource {resource} is a buffer, but is used as an image"
        )),
    }
}

fn of_buffer(recording: &Recording, resource: u32) -> Result<(), MalformedRecording> {
    match is_image(recording, resource)? {
        false => Ok(()),
        true => error(format!(
            "resource {resource} is an image, but is used as a buffer"
        )),
    }
}
