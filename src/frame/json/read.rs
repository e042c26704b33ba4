//! From a text to a frame, through its document.

use std::collections::BTreeMap;

use ash::vk;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::document as doc;
use super::document::{FORMAT, VERSION};
use super::error::JsonError;
use crate::frame::external::{ExternalDesc, ResourceState};
use crate::frame::tables::Version;
use crate::frame::{
    BatchId, BufferDesc, CommandBufferId, Extent, Frame, FrameBuilder, FrameError, ImageDesc, Persistence,
    QueueId, ResourceId, SemaphoreId,
};
use crate::names::shortened;
use crate::units::Bytes;
use tileheap_json::parse;

/// Parses into any type of document of a frame.
pub(in crate::frame) fn document<T: DeserializeOwned>(text: &str) -> Result<T, FrameError> {
    parse(text).map_err(|fault| FrameError::Json(JsonError::Syntax(fault)))
}

/// The forms in which a text may describe a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::frame) enum Dialect {
    /// `"format": "tileheap-frame"`.
    Native,
    /// No `format` at all.
    Loose,
}

/// Which form a text has, by its `format` and `version`.
pub(in crate::frame) fn dialect(text: &str) -> Result<Dialect, JsonError> {
    #[derive(Deserialize)]
    #[serde(expecting = "a frame description")]
    struct Header {
        format: Option<String>,
        version: Option<u64>,
    }
    let header: Header = parse(text)?;
    match (header.format, header.version) {
        (None, _) => Ok(Dialect::Loose),
        (Some(format), _) if format != FORMAT => Err(JsonError::Format {
            found: shortened(&format),
        }),
        (Some(_), Some(found)) if found != VERSION => Err(JsonError::Version { found }),
        (Some(_), _) => Ok(Dialect::Native),
    }
}

pub(super) fn frame(text: &str) -> crate::Result<Frame> {
    // The header first: a later version has other fields, which would be the lesser complaint.
    dialect(text).map_err(FrameError::from)?;
    let document: doc::Document = document(text)?;
    let [width, height] = document.base_extent;
    let mut reader = Reader {
        frame: FrameBuilder::new(document.name, vk::Extent2D { width, height }),
        queues: BTreeMap::new(),
        semaphores: BTreeMap::new(),
        resources: BTreeMap::new(),
    };
    for queue in document.queues {
        let id = reader.frame.queue(&*queue.name, queue.capabilities);
        reader.queues.insert(queue.name, id);
    }
    for semaphore in document.semaphores {
        let id = if semaphore.external {
            reader.frame.external_semaphore(&*semaphore.name)
        } else {
            reader.frame.semaphore(&*semaphore.name)
        };
        reader.semaphores.insert(semaphore.name, id);
    }
    for resource in document.resources {
        reader.resource(resource)?;
    }
    for (index, submit) in document.submits.into_iter().enumerate() {
        reader.submit(index, submit)?;
    }
    reader.frame.build()
}

/// The frame so far, and the ids of its names.
///
/// Of two things of one name the later counts here; building refuses them both.
struct Reader {
    frame: FrameBuilder,
    queues: BTreeMap<String, QueueId>,
    semaphores: BTreeMap<String, SemaphoreId>,
    resources: BTreeMap<String, ResourceId>,
}

impl Reader {
    fn resource(&mut self, resource: doc::Resource) -> Result<(), FrameError> {
        let persistence = persistence(resource.persistence);
        let path = || format!("resource `{}`", shortened(&resource.name));
        let id = match (resource.image, resource.buffer) {
            (Some(image), None) => {
                let desc = image_desc(image).map_err(|problem| field(path(), problem))?;
                self.frame.resource(&*resource.name, desc, persistence)
            }
            (None, Some(buffer)) => {
                let desc = BufferDesc {
                    size: Bytes(buffer.size),
                    usage: buffer.usage,
                };
                self.frame.resource(&*resource.name, desc, persistence)
            }
            (None, None) => return Err(field(path(), "is neither an `image` nor a `buffer`")),
            (Some(_), Some(_)) => return Err(field(path(), "is both an `image` and a `buffer`")),
        };
        self.frame.constrain(id, resource.tile_memory);
        self.resources.insert(resource.name, id);
        Ok(())
    }

    fn submit(&mut self, index: usize, submit: doc::Submit) -> Result<(), FrameError> {
        let by = || format!("submit {index}");
        let queue = find(&self.queues, "queue", &submit.queue, by)?;
        let id = self.frame.submit(queue);
        for batch in submit.batches {
            let batch_id = self.frame.batch(id);
            self.batch(batch_id, batch)?;
        }
        Ok(())
    }

    fn batch(&mut self, id: BatchId, batch: doc::Batch) -> Result<(), FrameError> {
        let by = || format!("batch {}", id.index());
        for op in batch.waits {
            let semaphore = find(&self.semaphores, "semaphore", &op.semaphore, by)?;
            self.frame.wait(id, semaphore, op.stages);
        }
        for op in batch.signals {
            let semaphore = find(&self.semaphores, "semaphore", &op.semaphore, by)?;
            self.frame.signal(id, semaphore, op.stages);
        }
        for commands in batch.command_buffers {
            let commands_id = self.frame.command_buffer(id, commands.name);
            for pass in commands.passes {
                self.pass(commands_id, pass)?;
            }
        }
        Ok(())
    }

    fn pass(&mut self, commands: CommandBufferId, pass: doc::Pass) -> Result<(), FrameError> {
        let by = || format!("pass `{}`", shortened(&pass.name));
        let mut builder = self
            .frame
            .pass(commands, &*pass.name, pass.kind)
            .contents(pass.contents);
        if pass.tile_shading {
            builder = builder.tile_shading();
        }
        for access in pass.accesses {
            let resource = find(&self.resources, "resource", &access.resource, by)?;
            builder = builder.access(resource, access.kind, access.reads, access.writes, access.load_op);
            if let Some(doc::Stages(stages)) = access.stages {
                builder = builder.at(stages);
            }
            if access.version == Version::Previous {
                builder = builder.previous();
            }
            if let Some(bytes) = access.measured {
                builder = builder.measured(Bytes(bytes));
            }
            if let Some(source) = access.resolves {
                builder = builder.resolving(find(&self.resources, "resource", &source, by)?);
            }
        }
        Ok(())
    }
}

fn find<Id: Copy>(
    ids: &BTreeMap<String, Id>,
    what: &'static str,
    name: &str,
    by: impl FnOnce() -> String,
) -> Result<Id, FrameError> {
    ids.get(name).copied().ok_or_else(|| FrameError::Unknown {
        what,
        name: shortened(name),
        by: by(),
    })
}

fn field(path: String, problem: impl Into<String>) -> FrameError {
    let problem = problem.into();
    JsonError::Field { path, problem }.into()
}

fn image_desc(image: doc::Image) -> Result<ImageDesc, &'static str> {
    let extent = match (image.extent.as_deref(), image.scale) {
        (Some(&[width, height]), None) => Extent::from(vk::Extent2D { width, height }),
        (Some(&[width, height, depth]), None) => Extent::from(vk::Extent3D { width, height, depth }),
        (Some(_), None) => return Err("has an `extent` of other than 2 or 3 numbers"),
        (None, Some(scale)) => Extent::Scaled(scale),
        (None, None) => return Err("has neither `extent` nor `scale`"),
        (Some(_), Some(_)) => return Err("has both `extent` and `scale`"),
    };
    Ok(ImageDesc {
        format: image.format,
        extent,
        image_type: image.image_type,
        mip_levels: image.mip_levels,
        array_layers: image.array_layers,
        samples: image.samples,
        usage: image.usage,
        flags: image.flags,
    })
}

fn persistence(persistence: doc::Persistence) -> Persistence {
    let state = |state: doc::State| ResourceState {
        layout: state.layout,
        stages: state.stages,
        access: state.access,
    };
    match persistence {
        doc::Persistence::Transient => Persistence::Transient,
        doc::Persistence::History => Persistence::History,
        doc::Persistence::External(external) => Persistence::External(ExternalDesc {
            entry: state(external.entry),
            exit: state(external.exit),
        }),
    }
}
