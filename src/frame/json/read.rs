//! Reads a frame from text: parses its document, and builds the frame.

use std::collections::BTreeMap;

use ash::vk;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::document as doc;
use super::document::{FORMAT, VERSION};
use super::error::JsonError;
use super::forms;
use crate::frame::tables::{Resource, ResourceKind, SeparateLevel, Tables};
use crate::frame::{
    CommandBufferId, Frame, FrameBuilder, FrameError, FrameRule, QueueId, ResourceId, SemaphoreId, SubmitId,
};
use crate::names::shortened;
use tileheap_json::{did_you_mean, nearest, parse};

/// Parses text as a frame document of type `T`: native or loose.
#[cfg(feature = "import")]
pub(in crate::frame) fn document<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, FrameError> {
    parse(text).map_err(|fault| FrameError::Json(JsonError::Syntax(fault)))
}

/// Formats in which text may describe a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::frame) enum Dialect {
    /// `"format": "tileheap-frame"`.
    Native,
    /// No `format` field.
    Loose,
}

/// Determines the dialect of a text from its field `format`; another format or version is an error.
pub(in crate::frame) fn dialect(text: &str) -> Result<Dialect, JsonError> {
    #[derive(Deserialize)]
    #[serde(expecting = "a frame description")]
    struct Header {
        format: Option<String>,
        version: Option<u64>,
    }
    let header: Header = parse(text)?;
    match (header.format, header.version) {
        (None, _) => loose(text),
        (Some(format), _) if format != FORMAT => Err(JsonError::Format {
            found: shortened(&format),
        }),
        (Some(_), Some(found)) if found != VERSION => Err(JsonError::Version { found }),
        (Some(_), _) => Ok(Dialect::Native),
    }
}

/// Returns the loose dialect for a text without the field `format`, unless the text has fields that only native documents have.
fn loose(text: &str) -> Result<Dialect, JsonError> {
    let fields: BTreeMap<String, IgnoredAny> = parse(text)?;
    let is_native = ["version", "queues", "submits", "semaphores"];
    let Some(field) = is_native.into_iter().find(|field| fields.contains_key(*field)) else {
        return Ok(Dialect::Loose);
    };
    if fields.contains_key("passes") {
        return Ok(Dialect::Loose);
    }
    let misspelt = fields.keys().find(|key| nearest(key, ["format"]).is_some());
    let misspelt = misspelt.map_or_else(String::new, |key| format!(" (`{}` is misspelt)", shortened(key)));
    Err(JsonError::Field {
        path: "`format`".to_owned(),
        problem: format!(
            "the field is missing{misspelt}: a document with `{field}` needs `\"format\": \"{FORMAT}\"`; without `{field}`, it is read in the loose form"
        ),
    })
}

/// Parses a native document. Errors list the accepted forms of the field.
fn native(text: &str) -> Result<doc::Document, FrameError> {
    parse(text).map_err(|mut error| {
        if let Some(problem) = forms::with_forms(&error.path, &error.problem) {
            error.problem = problem;
        }
        FrameError::Json(JsonError::Syntax(error))
    })
}

pub(super) fn frame(text: &str) -> crate::Result<Frame> {
    // The header first: a later version has other fields, and errors about those would be less helpful.
    dialect(text).map_err(FrameError::from)?;
    let mut document = native(text)?;
    let [width, height] = document.base_extent;
    let resources = document.resources.iter_mut();
    let levels: Vec<Option<doc::LevelOf>> = resources.map(|it| it.level_of.take()).collect();
    let resources: Result<_, FrameError> = document.resources.into_iter().map(resource).collect();
    let tables = Tables {
        name: document.name,
        base_extent: vk::Extent2D { width, height },
        queues: document.queues,
        semaphores: document.semaphores,
        resources: resources?,
        ..Tables::default()
    };
    let names = Names {
        queues: ids(tables.queues.iter().map(|queue| &queue.name), QueueId),
        semaphores: ids(tables.semaphores.iter().map(|it| &it.name), SemaphoreId),
        resources: ids(tables.resources.iter().map(|it| &it.name), ResourceId),
    };
    let mut frame = FrameBuilder::from_tables(tables);
    for (index, level_of) in levels.into_iter().enumerate() {
        if let Some(doc::LevelOf { image, level }) = level_of {
            let by = || format!("resource {index}");
            let image = find(&names.resources, "resource", &image, by)?;
            frame.set_level_of(ResourceId(index as u32), Some(SeparateLevel { image, level }));
        }
    }
    for (index, submit) in document.submits.into_iter().enumerate() {
        let queue = find(&names.queues, "queue", &submit.queue, || {
            format!("submit {index}")
        })?;
        let id = frame.submit(queue);
        for described in submit.batches {
            batch(&mut frame, &names, id, described)?;
        }
    }
    frame.build()
}

/// Ids by name. If two objects have the same name, the map contains the later one; building the frame then fails.
struct Names {
    queues: BTreeMap<String, QueueId>,
    semaphores: BTreeMap<String, SemaphoreId>,
    resources: BTreeMap<String, ResourceId>,
}

fn ids<'a, Id>(names: impl Iterator<Item = &'a String>, id: fn(u32) -> Id) -> BTreeMap<String, Id> {
    // In a loop: collecting them instantiates a sort.
    let mut ids = BTreeMap::new();
    ids.extend(names.cloned().zip((0..).map(id)));
    ids
}

fn resource(resource: doc::Resource) -> Result<Resource, FrameError> {
    let problem = match (resource.image, resource.buffer) {
        (Some(_), Some(_)) => "is both an `image` and a `buffer`",
        (image, buffer) => match image.map(ResourceKind::from).or(buffer.map(ResourceKind::from)) {
            Some(kind) => {
                return Ok(Resource {
                    name: resource.name,
                    kind,
                    persistence: resource.persistence,
                    tile_constraint: resource.tile_memory,
                    level_of: None,
                });
            }
            None => "is neither an `image` nor a `buffer`",
        },
    };
    let path = format!("resource `{}`", shortened(&resource.name));
    let problem = problem.to_owned();
    Err(JsonError::Field { path, problem }.into())
}

fn batch(
    frame: &mut FrameBuilder,
    names: &Names,
    submit: SubmitId,
    batch: doc::Batch,
) -> Result<(), FrameError> {
    let id = frame.batch(submit);
    let find_semaphore = |name: &str| {
        find(&names.semaphores, "semaphore", name, || {
            format!("batch {}", id.index())
        })
    };
    for op in batch.waits {
        frame.wait(id, find_semaphore(&op.semaphore)?, op.stages);
    }
    for op in batch.signals {
        frame.signal(id, find_semaphore(&op.semaphore)?, op.stages);
    }
    for commands in batch.command_buffers {
        let commands_id = frame.command_buffer(id, commands.name);
        for described in commands.passes {
            pass(frame, names, commands_id, described)?;
        }
    }
    Ok(())
}

fn pass(
    frame: &mut FrameBuilder,
    names: &Names,
    commands: CommandBufferId,
    pass: doc::Pass,
) -> Result<(), FrameError> {
    let find_resource = |name: &str| {
        find(&names.resources, "resource", name, || {
            format!("pass `{}`", shortened(&pass.name))
        })
    };
    let mut builder = frame.pass(commands, &*pass.name, pass.kind).change(|row| {
        (row.contents, row.tile_shading) = (pass.contents, pass.tile_shading);
        row.render_area = pass.render_area.map(|(x, y, width, height)| vk::Rect2D {
            offset: vk::Offset2D { x, y },
            extent: vk::Extent2D { width, height },
        });
        (row.view_mask, row.hook) = (pass.view_mask, pass.hook);
        row.samples = pass.samples.map(vk::SampleCountFlags::from_raw);
        (row.repeat_bytes, row.optional) = (pass.repeat_bytes, pass.optional);
    });
    for access in pass.accesses {
        let resource = find_resource(&access.resource)?;
        let resolves = access.resolves.as_deref().map(find_resource).transpose()?;
        builder = builder
            .in_subpass(access.subpass)
            .access(resource, access.kind, access.reads, access.writes, access.load_op)
            .change_last(|last| {
                if let Some(doc::Stages(stages)) = access.stages {
                    last.stages = stages;
                }
                (last.range, last.view) = (access.part, access.view);
                last.version = access.version;
                (last.measured, last.share) = (access.measured, access.share);
                last.reach = access.reach;
                last.resolves = resolves;
            });
    }
    Ok(())
}

fn find<Id: Copy>(
    ids: &BTreeMap<String, Id>,
    what: &'static str,
    name: &str,
    by: impl FnOnce() -> String,
) -> Result<Id, FrameError> {
    ids.get(name).copied().ok_or_else(|| {
        FrameRule::Unknown.broken(format!(
            "{by} refers to {what} `{name}`, which the frame does not declare{near}",
            near = did_you_mean(name, ids.keys().map(String::as_str)),
            name = shortened(name),
            by = by()
        ))
    })
}
