//! Interprets the passes of a loose description, with their reads and writes.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;

use super::ImportError;
use super::document::{Document, Entry, Pass};
use super::formats::{FormatReading, parse_format};
use super::uses::{Use, accepted_uses, parse_use};
use crate::frame::tables::{Access, HistoryVersion, PassKind, ViewDesc};
use crate::frame::{
    AccessKind, ClearValue, FrameError, FrameRule, LoadOp, PassId, ResourceId, SubresourceRange,
};
use crate::names::shortened;
use tileheap_json::did_you_mean;

/// The interpreted passes; accesses refer to resources by their position in the file.
pub(super) struct Interpreted {
    /// Per pass of the file, its kind and accesses; `None` if it only presents.
    pub(super) passes: Vec<Option<(PassKind, Vec<Access>)>>,
    /// Per resource, its accesses in the order of the passes.
    pub(super) by_resource: Vec<Vec<Access>>,
    /// Per resource, true if it is an image.
    pub(super) is_image: Vec<bool>,
    /// Per resource, true if it is used or declared as depth attachment.
    pub(super) used_as_depth: Vec<bool>,
    /// Per resource, true if it is presented.
    pub(super) presented: Vec<bool>,
}

/// Entries of one pass for the same resource and use.
#[derive(Clone, Copy)]
struct Merged {
    resource: usize,
    kind: AccessKind,
    reads: bool,
    writes: bool,
}

/// Interprets the passes of a loose description.
pub(super) fn interpret(
    document: &Document,
    indices: &BTreeMap<&str, usize>,
    notes: &mut Vec<String>,
) -> Result<Interpreted, FrameError> {
    let count = document.resources.len();
    let mut is_image = Vec::with_capacity(count);
    for resource in &document.resources {
        is_image.push(resource.is_image().ok_or_else(|| {
            let kind = shortened(resource.kind.as_deref().unwrap_or_default());
            ImportError::of_resource(
                &resource.name,
                format!("kind `{kind}` is neither `image` nor `buffer`"),
            )
        })?);
    }
    let mut presented = vec![false; count];
    let mut used_as_depth: Vec<bool> = document
        .resources
        .iter()
        .map(|resource| {
            resource
                .usage
                .iter()
                .any(|word| is_depth(parse_use(word, true, None)))
        })
        .collect();
    let mut merged = Vec::with_capacity(document.passes.len());
    for pass in &document.passes {
        let kind = parse_kind(pass)?;
        let entries = merge(pass, indices, &is_image, &mut presented)?;
        for entry in &entries {
            used_as_depth[entry.resource] |= entry.kind == AccessKind::DepthStencilAttachment;
        }
        if kind.is_none() {
            if !entries.is_empty() {
                return Err(
                    ImportError::of_pass(&pass.name, "presents, so it cannot do anything else").into(),
                );
            }
            notes.push(format!("pass `{}` only presents: it was left out", pass.name));
        }
        merged.push((kind, entries));
    }

    // Clears depend on the kind of format; an unknown format is reported with its resource.
    let formats: Vec<vk::Format> = document
        .resources
        .iter()
        .zip(&used_as_depth)
        .map(|(resource, &used_as_depth)| {
            match parse_format(
                &resource.format,
                resource.bytes_per_texel.unwrap_or(0),
                used_as_depth,
            ) {
                Some(FormatReading::Named(format) | FormatReading::Guessed(format)) => format,
                None => vk::Format::UNDEFINED,
            }
        })
        .collect();

    let mut first_writer: Vec<Option<usize>> = vec![None; count];
    for (index, (_, entries)) in merged.iter().enumerate() {
        for entry in entries.iter().filter(|entry| entry.writes) {
            first_writer[entry.resource].get_or_insert(index);
        }
    }
    let mut used = vec![false; count];
    let mut passes = Vec::with_capacity(merged.len());
    for (index, (kind, entries)) in merged.into_iter().enumerate() {
        let Some(kind) = kind else {
            passes.push(None);
            continue;
        };
        let mut accesses = Vec::with_capacity(entries.len());
        for entry in &entries {
            let resource = &document.resources[entry.resource];
            let previous =
                resource.history && first_writer[entry.resource].is_none_or(|first| index <= first);
            let context = Context {
                used_before: used[entry.resource],
                previous,
                clear: ClearValue::zero_of(formats[entry.resource]),
                pass_kind: kind,
            };
            if previous && entry.reads && entry.writes && entry.kind.is_attachment() {
                let problem = format!(
                    "reads the previous frame's contents of `{}` through the attachment that it writes: sample them instead",
                    resource.name
                );
                return Err(ImportError::of_pass(&document.passes[index].name, problem).into());
            }
            accesses.extend(context.accesses(entry));
        }
        resolve_sources(document, &formats, &mut accesses);
        for access in accesses
            .iter()
            .filter(|access| access.version == HistoryVersion::Current)
        {
            used[access.resource.index()] = true;
        }
        passes.push(Some((kind, accesses)));
    }
    let mut by_resource: Vec<Vec<Access>> = vec![Vec::new(); count];
    for access in passes.iter().flatten().flat_map(|(_, accesses)| accesses) {
        by_resource[access.resource.index()].push(*access);
    }
    Ok(Interpreted {
        passes,
        by_resource,
        is_image,
        used_as_depth,
        presented,
    })
}

fn is_depth(meaning: Option<Use>) -> bool {
    let depth = AccessKind::DepthStencilAttachment;
    meaning == Some(Use::Access(depth)) || meaning == Some(Use::ReadOnly(depth))
}

/// The kind of a pass; `None` for a `present` pass.
pub(super) fn parse_kind(pass: &Pass) -> Result<Option<PassKind>, ImportError> {
    Ok(Some(match pass.kind.to_ascii_lowercase().as_str() {
        "raster" | "graphics" | "render" | "draw" | "rasterization" => PassKind::Render,
        "compute" | "dispatch" | "async_compute" | "raytracing" | "ray_tracing" => PassKind::Compute,
        "transfer" | "copy" | "blit" | "clear" | "upload" => PassKind::Transfer,
        "present" => return Ok(None),
        _ => {
            let kind = shortened(&pass.kind);
            let problem =
                format!("type `{kind}` is unknown: use `raster`, `compute`, `transfer` or `present`");
            return Err(ImportError::of_pass(&pass.name, problem));
        }
    }))
}

/// Merges the entries of a pass into one per resource and use: first those that only read, then those that write, in the order of the file, which numbers the
/// attachments.
fn merge(
    pass: &Pass,
    indices: &BTreeMap<&str, usize>,
    is_image: &[bool],
    presented: &mut [bool],
) -> Result<Vec<Merged>, FrameError> {
    let mut understand = |entry: &Entry, writes: bool| -> Result<Option<(usize, AccessKind)>, FrameError> {
        let fault = |problem: &str| {
            let (word, list) = (shortened(&entry.usage), if writes { "writes" } else { "reads" });
            let problem = format!("{list} `{}` as `{word}`: {problem}", entry.resource);
            FrameError::from(ImportError::of_pass(&pass.name, problem))
        };
        let Some(&index) = indices.get(entry.resource.as_str()) else {
            return Err(FrameRule::Unknown.broken(format!(
                "pass `{}` refers to resource `{}`, which the frame does not declare{}",
                pass.name,
                shortened(&entry.resource),
                did_you_mean(&entry.resource, indices.keys().copied())
            )));
        };
        match parse_use(&entry.usage, is_image[index], Some(writes)) {
            None => Err(fault(&format!(
                "unknown use{}",
                accepted_uses(&entry.usage, is_image[index])
            ))),
            Some(Use::ReadOnly(_)) if writes => Err(fault("this use cannot write: list it in `reads`")),
            Some(Use::Present) if writes => Err(fault("presenting does not write: list it in `reads`")),
            Some(Use::Present) => {
                presented[index] = true;
                Ok(None)
            }
            Some(Use::Access(kind) | Use::ReadOnly(kind)) => Ok(Some((index, kind))),
        }
    };
    let twice = |entry: &Entry, list: &str| {
        let problem = format!(
            "lists `{}` twice as `{}` in its {list}",
            entry.resource, entry.usage
        );
        FrameError::from(ImportError::of_pass(&pass.name, problem))
    };
    let mut read = BTreeMap::new();
    let mut merged = Vec::with_capacity(pass.reads.len() + pass.writes.len());
    for entry in &pass.reads {
        let Some(key) = understand(entry, false)? else {
            continue;
        };
        if read.insert(key, false).is_some() {
            return Err(twice(entry, "reads"));
        }
    }
    let mut writes = Vec::with_capacity(pass.writes.len());
    let mut written = BTreeSet::new();
    for entry in &pass.writes {
        let Some((resource, kind)) = understand(entry, true)? else {
            continue;
        };
        if !written.insert(resource) {
            return Err(FrameRule::TwoWriters.broken(format!(
                "pass `{pass}` declares two writers of `{resource}`: merge the accesses or split \
                 the pass",
                pass = pass.name,
                resource = entry.resource
            )));
        }
        let read_too = read.get_mut(&(resource, kind)).map(|merged| *merged = true);
        writes.push(Merged {
            resource,
            kind,
            reads: read_too.is_some(),
            writes: true,
        });
    }
    for entry in &pass.reads {
        let Some((resource, kind)) = understand(entry, false)? else {
            continue;
        };
        if read.get(&(resource, kind)) == Some(&false) {
            merged.push(Merged {
                resource,
                kind,
                reads: true,
                writes: false,
            });
        }
    }
    merged.extend(writes);
    Ok(merged)
}

/// The inputs, other than the entry itself, that determine the accesses of an entry.
struct Context {
    /// True if an earlier pass used the current contents.
    used_before: bool,
    /// True if reads refer to the previous frame's contents.
    previous: bool,
    clear: ClearValue,
    pass_kind: PassKind,
}

impl Context {
    /// The entry as one access, or as two if it reads one version and writes the other.
    fn accesses(&self, entry: &Merged) -> impl Iterator<Item = Access> {
        let access = |reads: bool, writes: bool, version: HistoryVersion, load_op: LoadOp| Access {
            // Known once the pass is declared.
            pass: PassId(0),
            subpass: 0,
            resource: ResourceId(entry.resource as u32),
            kind: entry.kind,
            range: SubresourceRange::ALL,
            view: ViewDesc::default(),
            reads,
            writes,
            version,
            stages: entry.kind.default_stages(self.pass_kind),
            load_op,
            resolves: None,
            measured: None,
            share: None,
            reach: None,
            continues_attachment: false,
        };
        let previous = (self.previous && entry.reads)
            .then(|| access(true, false, HistoryVersion::Previous, LoadOp::Load));
        let current = if !entry.writes {
            (!self.previous).then(|| access(true, false, HistoryVersion::Current, LoadOp::Load))
        } else if entry.reads && !self.previous {
            Some(access(true, true, HistoryVersion::Current, LoadOp::Load))
        } else {
            let before = match entry.kind {
                AccessKind::ColorAttachment | AccessKind::DepthStencilAttachment if self.used_before => {
                    LoadOp::Load
                }
                AccessKind::ColorAttachment | AccessKind::DepthStencilAttachment => LoadOp::Clear(self.clear),
                _ => LoadOp::DontCare,
            };
            Some(access(false, true, HistoryVersion::Current, before))
        };
        previous.into_iter().chain(current)
    }
}

/// Finds the sources of resolve attachments: the n-th color target receives the n-th multisampled color attachment, and the n-th depth target the n-th
/// multisampled depth attachment.
fn resolve_sources(document: &Document, formats: &[vk::Format], accesses: &mut [Access]) {
    let samples = |access: &Access| document.resources[access.resource.index()].samples;
    let of_kind = |kind: AccessKind| {
        let found = accesses
            .iter()
            .filter(|access| access.kind == kind && samples(access) > 1);
        found.map(|access| access.resource).collect::<Vec<_>>()
    };
    let mut colors = of_kind(AccessKind::ColorAttachment).into_iter();
    let mut depths = of_kind(AccessKind::DepthStencilAttachment).into_iter();
    for access in accesses
        .iter_mut()
        .filter(|access| access.kind == AccessKind::ResolveAttachment)
    {
        let aspects = crate::format::aspects(formats[access.resource.index()]);
        let sources = if aspects.contains(vk::ImageAspectFlags::COLOR) {
            &mut colors
        } else {
            &mut depths
        };
        access.resolves = sources.next();
    }
}
