//! The map from an executed frame to the described one.

use std::sync::Arc;

use ash::vk;

use super::strip::Strip;
use crate::frame::{Frame, PassId, ResourceId};

/// Maps the passes, resources and accesses of an executed frame to the described ones.
///
/// Cloning shares the tables; the identity has none. Ids are positions in the two frames, which an [`ExecutedFrame`](super::ExecutedFrame) keeps together with
/// the map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// `None`: the identity. Comparing clones takes constant time: `Arc` compares addresses first if its contents are `Eq`.
    tables: Option<Arc<Tables>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Tables {
    own: OriginTables,
    /// Per described pass, the first executed pass that runs it.
    executed: Vec<Option<PassId>>,
    /// Per described resource, the first executed one that is all of it, or one of its values.
    wholes: Vec<Option<ResourceId>>,
}

/// The tables of [`Origins`] as plain data, to build or edit a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginTables {
    /// Per pass of the executed frame, its origin.
    pub passes: Vec<PassOrigin>,
    /// Per resource of the executed frame, its origin in the described frame.
    pub resources: Vec<ResourceOrigin>,
    /// Per access of the executed frame, the index of the described access in [`Frame::accesses`]; `None` if the runtime records the pass.
    pub accesses: Vec<Option<u32>>,
}

/// Origin of a pass of an executed frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassOrigin {
    /// The pass runs described passes in this order: several if they were merged.
    Runs(Vec<PassRun>),
    /// The pass ends a stretch of a lifetime; the runtime records it.
    Store {
        /// The described resource that the pass stores.
        resource: ResourceId,
        /// The described pass after which the store runs; if the store follows a copy at the border of a strip, the pass next to that copy.
        after: PassId,
    },
    /// The pass copies a part of an image into the image of a strip before the strip uses it, or back afterwards; the runtime records it.
    ///
    /// ```text
    /// strip 1    load lit   │ tone #1   │ blur #1   │ store out
    /// whole      lit (rows 270 to 540, and what blur reads around them)     out (rows 270 to 540)
    /// ```
    Border {
        /// The described resource.
        resource: ResourceId,
        /// The described pass next to the copy: the next one of the strip for a copy into the strip's image, the previous one for a copy out of it.
        beside: PassId,
    },
}

/// One execution of a described pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassRun {
    /// The described pass.
    pub pass: PassId,
    /// The subpass of the executed pass in which the described pass begins: merged passes become subpasses of one pass.
    pub subpass: u32,
    /// The part of the image that the pass computes; `None` for all of it.
    pub strip: Option<Strip>,
}

impl PassRun {
    /// A run of a whole described pass that begins in subpass 0.
    pub const fn whole(pass: PassId) -> PassRun {
        PassRun {
            pass,
            subpass: 0,
            strip: None,
        }
    }
}

/// Origin of a resource of an executed frame. Images of [separate levels](crate::frame::ImageDesc::separate_levels) are resources of the described
/// frame: [`ExecutedFrame::part`](super::ExecutedFrame::part) resolves them to the declared image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceOrigin {
    /// The resource of the described frame.
    pub resource: ResourceId,
    /// For a stretch of a lifetime: the described pass after which a store ends it, or the pass next to the border copy that the store follows.
    pub until: Option<PassId>,
    /// For the image of a strip: its area in the described image. For the buffer of a strip: its [lists](crate::frame::TileLists) in the grid of tiles.
    pub area: Option<vk::Rect2D>,
    /// The value that the resource of the executed frame holds, if values are stored separately (`value 2 of 3`).
    pub value: Option<ResourceValue>,
}

impl ResourceOrigin {
    /// The origin of a resource that is all of a described one.
    pub const fn whole(resource: ResourceId) -> ResourceOrigin {
        ResourceOrigin {
            resource,
            until: None,
            area: None,
            value: None,
        }
    }

    /// Returns true if this is the origin of all of the described resource.
    pub fn is_whole(&self) -> bool {
        *self == ResourceOrigin::whole(self.resource)
    }
}

/// Translates the area `later`, relative to `whole`, to the described image.
fn part_of_part(whole: Option<vk::Rect2D>, later: Option<vk::Rect2D>) -> Option<vk::Rect2D> {
    let (Some(whole), Some(later)) = (whole, later) else {
        return whole.or(later);
    };
    Some(vk::Rect2D {
        offset: vk::Offset2D {
            x: whole.offset.x + later.offset.x,
            y: whole.offset.y + later.offset.y,
        },
        extent: later.extent,
    })
}

/// Sets an entry of a table, which grows as needed, unless the entry is already set.
fn set_first<T: Copy>(table: &mut Vec<Option<T>>, index: usize, value: T) {
    if table.len() <= index {
        table.resize(index + 1, None);
    }
    table[index].get_or_insert(value);
}

/// A value of a resource (a version of its contents) that a resource of an executed frame [holds](super::ExecutedFrame::separate_values).
///
/// Displayed as `value 2 of 3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceValue {
    /// Number of the value from 1, in pass order.
    pub number: u32,
    /// Number of values of the resource.
    pub count: u32,
}

impl std::fmt::Display for ResourceValue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ResourceValue { number, count } = self;
        write!(formatter, "value {number} of {count}")
    }
}

impl From<OriginTables> for Origins {
    fn from(own: OriginTables) -> Origins {
        let (mut executed, mut wholes) = (Vec::new(), Vec::new());
        // The checker refuses a map that names more passes or resources than it can cover.
        let runs = own.passes.iter().map(|origin| match origin {
            PassOrigin::Runs(runs) => runs.len(),
            PassOrigin::Store { .. } | PassOrigin::Border { .. } => 0,
        });
        let most: usize = runs.sum();
        for (pass, origin) in (0..).map(PassId).zip(&own.passes) {
            let PassOrigin::Runs(runs) = origin else { continue };
            for run in runs.iter().filter(|run| run.pass.index() < most) {
                set_first(&mut executed, run.pass.index(), pass);
            }
        }
        for (resource, origin) in (0..).map(ResourceId).zip(&own.resources) {
            let known = origin.resource.index() < own.resources.len();
            if known && origin.until.is_none() && origin.area.is_none() {
                set_first(&mut wholes, origin.resource.index(), resource);
            }
        }
        Origins {
            tables: Some(Arc::new(Tables {
                own,
                executed,
                wholes,
            })),
        }
    }
}

impl Origins {
    /// The map of a frame that runs as described.
    pub const IDENTITY: Origins = Origins { tables: None };

    /// Returns true if the map is the identity.
    pub fn is_identity(&self) -> bool {
        self.tables.is_none()
    }

    /// The described passes that a pass of the executed frame runs, in order; empty for a store or a copy at the border of a strip.
    pub fn runs(&self, pass: PassId) -> impl Iterator<Item = PassRun> + use<'_> {
        let (itself, runs) = match self.own(pass) {
            None => (Some(PassRun::whole(pass)), &[][..]),
            Some(PassOrigin::Runs(runs)) => (None, &runs[..]),
            Some(PassOrigin::Store { .. } | PassOrigin::Border { .. }) => (None, &[][..]),
        };
        itself.into_iter().chain(runs.iter().copied())
    }

    /// The described pass for a pass of the executed frame: the first one that it runs; for a store the pass that it follows; for a copy at the
    /// border of a strip the pass next to it.
    ///
    /// # Panics
    /// If the map has no such pass.
    pub fn described_pass(&self, pass: PassId) -> PassId {
        match self.own(pass) {
            None => pass,
            Some(PassOrigin::Store { after, .. }) => *after,
            Some(PassOrigin::Border { beside, .. }) => *beside,
            Some(PassOrigin::Runs(runs)) => runs.first().expect("a `Runs` origin lists a pass").pass,
        }
    }

    /// The first pass of the executed frame that runs a described one.
    ///
    /// # Panics
    /// If none does, a fault that [`ExecutedFrame::check`](super::ExecutedFrame::check) finds.
    pub fn executed_pass(&self, described: PassId) -> PassId {
        match &self.tables {
            None => described,
            Some(tables) => {
                tables.executed[described.index()].expect("every described pass is run by an executed pass")
            }
        }
    }

    /// Every pass of the executed frame that runs a described one, in order.
    ///
    /// O(passes of the executed frame) unless the map is the identity.
    pub fn executed_passes(&self, described: PassId) -> impl Iterator<Item = PassId> + use<'_> {
        let itself = self.is_identity().then_some(described);
        let tables = self.tables.iter();
        let passes = tables.flat_map(|tables| (0..).map(PassId).zip(&tables.own.passes));
        let runs = move |origin: &PassOrigin| match origin {
            PassOrigin::Runs(runs) => runs.iter().any(|run| run.pass == described),
            PassOrigin::Store { .. } | PassOrigin::Border { .. } => false,
        };
        let later = passes.filter(move |(_, origin)| runs(origin));
        itself.into_iter().chain(later.map(|(pass, _)| pass))
    }

    /// The stores of the executed frame, in order: the pass, the described resource, and the described pass that the store follows.
    pub fn stores(&self) -> impl Iterator<Item = (PassId, ResourceId, PassId)> + use<'_> {
        let tables = self.tables.iter();
        let passes = tables.flat_map(|tables| (0..).map(PassId).zip(&tables.own.passes));
        passes.filter_map(|(pass, origin)| match *origin {
            PassOrigin::Store { resource, after } => Some((pass, resource, after)),
            PassOrigin::Runs(_) | PassOrigin::Border { .. } => None,
        })
    }

    /// Origin of a resource of the executed frame.
    ///
    /// # Panics
    /// If the map has no such resource.
    pub fn resource(&self, resource: ResourceId) -> ResourceOrigin {
        match &self.tables {
            None => ResourceOrigin::whole(resource),
            Some(tables) => tables.own.resources[resource.index()],
        }
    }

    /// The first resource of the executed frame that is all of a described one, or its first value.
    ///
    /// # Panics
    /// If there is none, a fault that [`ExecutedFrame::check`](super::ExecutedFrame::check) finds.
    pub fn whole(&self, described: ResourceId) -> ResourceId {
        match &self.tables {
            None => described,
            Some(tables) => tables.wholes[described.index()]
                .expect("every described resource exists as a whole or as values"),
        }
    }

    /// The index of the described access for an access of the executed frame; `None` if its pass is recorded by the runtime.
    ///
    /// # Panics
    /// If the map has no such access.
    pub fn access(&self, access: usize) -> Option<usize> {
        match &self.tables {
            None => Some(access),
            Some(tables) => tables.own.accesses[access].map(|described| described as usize),
        }
    }

    /// The tables as plain data; the tables of the identity are made for `executed`, the executed frame.
    pub fn to_tables(&self, executed: &Frame) -> OriginTables {
        if let Some(tables) = &self.tables {
            return tables.own.clone();
        }
        let passes = executed.pass_ids().map(PassRun::whole);
        OriginTables {
            passes: passes.map(|run| PassOrigin::Runs(vec![run])).collect(),
            resources: executed.resource_ids().map(ResourceOrigin::whole).collect(),
            accesses: (0..executed.accesses().len() as u32).map(Some).collect(),
        }
    }

    /// Composes the map of this rewrite with that of a later one, whose described frame is the executed frame of this one.
    ///
    /// # Panics
    /// If the later map names something that this one does not have, or merges a store with another pass.
    pub fn then(&self, later: &Origins) -> Origins {
        let (Some(_), Some(tables)) = (&self.tables, &later.tables) else {
            return if self.is_identity() { later } else { self }.clone();
        };
        let passes = tables.own.passes.iter().map(|origin| self.pass_before(origin));
        let resources = tables.own.resources.iter().map(|later| {
            let whole = self.resource(later.resource);
            ResourceOrigin {
                resource: whole.resource,
                // A stretch of a stretch ends with the shorter one.
                until: later.until.map(|pass| self.last_run(pass)).or(whole.until),
                area: part_of_part(whole.area, later.area),
                // A value is never divided again.
                value: whole.value.or(later.value),
            }
        });
        let accesses = tables.own.accesses.iter();
        let before = |access: u32| Some(self.access(access as usize)? as u32);
        Origins::from(OriginTables {
            passes: passes.collect(),
            resources: resources.collect(),
            accesses: accesses.map(|access| access.and_then(before)).collect(),
        })
    }

    /// Translates an origin in the executed frame of this map to the described one.
    fn pass_before(&self, origin: &PassOrigin) -> PassOrigin {
        let runs = match origin {
            PassOrigin::Runs(runs) => runs,
            PassOrigin::Store { resource, after } => {
                return PassOrigin::Store {
                    resource: self.resource(*resource).resource,
                    after: self.last_run(*after),
                };
            }
            PassOrigin::Border { resource, beside } => {
                return PassOrigin::Border {
                    resource: self.resource(*resource).resource,
                    beside: self.last_run(*beside),
                };
            }
        };
        if let [run] = runs[..] {
            let own = self.own(run.pass);
            if let Some(own) = own.filter(|_| run == PassRun::whole(run.pass)) {
                return own.clone();
            }
        }
        let described = runs.iter().flat_map(|later| {
            let mut own = self.runs(later.pass).peekable();
            assert!(own.peek().is_some(), "a store is never merged with another pass");
            own.map(|run| PassRun {
                subpass: later.subpass + run.subpass,
                strip: match (run.strip, later.strip) {
                    (Some(strip), Some(later)) => Some(strip.then(&later)),
                    (own, later) => own.or(later),
                },
                ..run
            })
        });
        PassOrigin::Runs(described.collect())
    }

    /// The origin of a pass in the tables; `None` for the identity.
    fn own(&self, pass: PassId) -> Option<&PassOrigin> {
        let tables = self.tables.as_ref()?;
        Some(&tables.own.passes[pass.index()])
    }

    /// The last described pass that a pass runs; for a store the one that it follows.
    fn last_run(&self, pass: PassId) -> PassId {
        let last = self.runs(pass).last();
        last.map_or_else(|| self.described_pass(pass), |run| run.pass)
    }
}
