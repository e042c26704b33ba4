//! Layouts: in which layout every part of every image is, and which queue family owns every resource, step by step.

use ash::vk::ImageLayout as L;

use super::barriers::BarrierKind;
use super::checker::Checker;
use super::replay_errors::LayoutError;
use crate::frame::PassId;
use crate::lower::tables::Object;
use crate::lower::tables::commands::{Families, ImageBarrierRow};
use crate::lower::tables::objects::SubresourceRange;
use crate::plan::MemoryKind;
use crate::units::Run;

/// Layouts and owners of every image and buffer.
pub(super) struct Layouts {
    objects: Vec<Object>,
    states: Vec<State>,
}

#[derive(Clone, Debug)]
struct State {
    /// Per level and layer, its layout; of buffers, none.
    layouts: Vec<L>,
    owner: Owner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// It holds no contents, or those that families share.
    Anyone,
    Family(u32),
    /// Released, not yet acquired.
    Between(Families, PassId, [L; 2]),
}

impl Layouts {
    /// Images are in `UNDEFINED`, but for what earlier work left.
    pub(super) fn new(checker: &Checker<'_>) -> Layouts {
        let objects: Vec<Object> = checker.objects().collect();
        let state = |&object: &Object| {
            let left = checker
                .situation
                .before
                .contents
                .iter()
                .find(|left| left.object == object);
            let owner = left
                .and_then(|left| left.family)
                .map_or(Owner::Anyone, Owner::Family);
            State {
                layouts: vec![left.map_or(L::UNDEFINED, |left| left.layout); subresources(checker, object)],
                owner,
            }
        };
        Layouts {
            states: objects.iter().map(state).collect(),
            objects,
        }
    }

    fn state(&mut self, object: Object) -> &mut State {
        let index = self.objects.iter().position(|&other| other == object);
        &mut self.states[index.expect("every object is listed")]
    }

    /// An external resource comes in.
    pub(super) fn enter(&mut self, object: Object, layout: L) {
        let state = self.state(object);
        state.layouts.fill(layout);
        state.owner = Owner::Anyone;
    }

    /// The layout of a whole image; `None` where its parts differ.
    pub(super) fn layout_of(&mut self, object: Object) -> Option<L> {
        let layouts = &self.state(object).layouts;
        let first = layouts.first().copied().unwrap_or(L::UNDEFINED);
        layouts.iter().all(|&layout| layout == first).then_some(first)
    }

    /// The family that owns an object's contents.
    pub(super) fn owner_of(&mut self, object: Object) -> Option<u32> {
        match self.state(object).owner {
            Owner::Family(family) => Some(family),
            Owner::Anyone | Owner::Between(..) => None,
        }
    }

    /// Another resource took the bytes: the image is as good as new.
    pub(super) fn clobber(&mut self, object: Object) {
        let state = self.state(object);
        state.layouts.fill(L::UNDEFINED);
        state.owner = Owner::Anyone;
    }

    /// A barrier of an image on a queue of `family`.
    pub(super) fn image_barrier(
        &mut self,
        checker: &mut Checker<'_>,
        barrier: &ImageBarrierRow,
        kind: BarrierKind,
        family: u32,
        pass: PassId,
    ) {
        let object = Object::Image(barrier.image);
        let discards = barrier.old_layout == L::UNDEFINED;
        let parts = parts(checker, barrier.image, barrier.range);
        let acquired = kind == BarrierKind::Acquire && matches!(self.state(object).owner, Owner::Between(..));
        if !discards && !acquired {
            for &part in &parts {
                let tracked = self.state(object).layouts[part];
                if tracked != barrier.old_layout {
                    let (pass, resource) = (checker.pass(pass), checker.name_of(object));
                    let named = barrier.old_layout;
                    checker.report(LayoutError::Old {
                        pass,
                        resource,
                        named,
                        tracked,
                    });
                }
            }
        }
        let layouts = [barrier.old_layout, barrier.new_layout];
        match kind {
            BarrierKind::Release => {
                self.own(checker, object, family, pass);
                self.state(object).owner = Owner::Between(barrier.families, pass, layouts);
                // The layout changes once, between the halves; either half then leaves the image in the new one.
                return;
            }
            BarrierKind::Acquire => self.acquire(checker, object, barrier.families, layouts, pass),
            BarrierKind::Plain | BarrierKind::Transition if discards => {
                self.drop_release(checker, object);
                self.take(checker, object, family);
            }
            BarrierKind::Plain | BarrierKind::Transition => self.own(checker, object, family, pass),
        }
        if kind != BarrierKind::Plain {
            for part in parts {
                self.state(object).layouts[part] = barrier.new_layout;
            }
        }
    }

    /// A barrier of a buffer on a queue of `family`.
    pub(super) fn buffer_barrier(
        &mut self,
        checker: &mut Checker<'_>,
        buffer: u32,
        families: Families,
        kind: BarrierKind,
        family: u32,
        pass: PassId,
    ) {
        let object = Object::Buffer(buffer);
        match kind {
            BarrierKind::Release => {
                self.own(checker, object, family, pass);
                self.state(object).owner = Owner::Between(families, pass, [L::UNDEFINED; 2]);
            }
            BarrierKind::Acquire => self.acquire(checker, object, families, [L::UNDEFINED; 2], pass),
            BarrierKind::Plain | BarrierKind::Transition => {}
        }
    }

    /// A pass on a queue of `family` uses an object in `layout`, all of it or level 0; `fresh` if nothing of what it held is needed.
    pub(super) fn access(
        &mut self,
        checker: &mut Checker<'_>,
        object: Object,
        layout: L,
        (family, pass): (u32, PassId),
        (level_0, fresh): (bool, bool),
    ) {
        if let Object::Image(image) = object {
            let row = checker.tables.images[image as usize];
            let end = if level_0 { 1 } else { row.mip_levels };
            let levels = Run { first: 0, end };
            let layers = Run {
                first: 0,
                end: row.array_layers,
            };
            let aspects = crate::format::aspects(row.format);
            let range = SubresourceRange {
                aspects,
                levels,
                layers,
            };
            for part in parts(checker, image, range) {
                let tracked = std::mem::replace(&mut self.state(object).layouts[part], layout);
                if tracked != layout {
                    let (pass, resource) = (checker.pass(pass), checker.name_of(object));
                    let needs = layout;
                    checker.report(LayoutError::Use {
                        pass,
                        resource,
                        needs,
                        tracked,
                    });
                }
            }
        } else if fresh {
            self.drop_release(checker, object);
            self.take(checker, object, family);
        }
        self.own(checker, object, family, pass);
    }

    /// The frame ends: external images are as agreed.
    pub(super) fn exit(&mut self, checker: &mut Checker<'_>, object: Object, needs: L) {
        let tracked = self.layout_of(object).unwrap_or(L::UNDEFINED);
        if matches!(object, Object::Image(_)) && needs != L::UNDEFINED && tracked != needs {
            let resource = checker.name_of(object);
            checker.report(LayoutError::Exit {
                resource,
                needs,
                tracked,
            });
        }
    }

    /// The replay ends: nothing is between families.
    pub(super) fn finish(&mut self, checker: &mut Checker<'_>) {
        for object in self.objects.clone() {
            self.drop_release(checker, object);
        }
    }

    fn acquire(
        &mut self,
        checker: &mut Checker<'_>,
        object: Object,
        families: Families,
        layouts: [L; 2],
        pass: PassId,
    ) {
        let owner = self.state(object).owner;
        let released = matches!(owner, Owner::Between(of, _, how) if of == families && how == layouts);
        if !released {
            let Families { src, dst } = families;
            checker.report(LayoutError::NotReleased {
                resource: checker.name_of(object),
                pass: checker.pass(pass),
                src,
                dst,
            });
        }
        self.state(object).owner = Owner::Family(families.dst);
    }

    /// A family begins with new contents.
    fn take(&mut self, checker: &Checker<'_>, object: Object, family: u32) {
        self.state(object).owner = if checker.is_concurrent(object) {
            Owner::Anyone
        } else {
            Owner::Family(family)
        };
    }

    /// A family uses the contents.
    fn own(&mut self, checker: &mut Checker<'_>, object: Object, family: u32, pass: PassId) {
        match self.state(object).owner {
            Owner::Family(owner) if owner != family => {
                checker.report(LayoutError::Owner {
                    pass: checker.pass(pass),
                    resource: checker.name_of(object),
                    family,
                    owner,
                });
            }
            Owner::Between(..) => self.drop_release(checker, object),
            Owner::Family(_) | Owner::Anyone => {}
        }
        self.take(checker, object, family);
    }

    /// Something else than the acquire follows a release.
    fn drop_release(&mut self, checker: &mut Checker<'_>, object: Object) {
        if let Owner::Between(Families { src, dst }, pass, _) = self.state(object).owner {
            checker.report(LayoutError::NotAcquired {
                resource: checker.name_of(object),
                pass: checker.pass(pass),
                src,
                dst,
            });
            self.state(object).owner = Owner::Anyone;
        }
    }
}

/// How many levels and layers there are, multiplied.
fn subresources(checker: &Checker<'_>, object: Object) -> usize {
    match object {
        Object::Image(row) => {
            let image = checker.tables.images[row as usize];
            (image.mip_levels * image.array_layers) as usize
        }
        Object::Buffer(_) => 0,
    }
}

/// The levels and layers of a range, as indices; what is outside of the image is reported elsewhere.
fn parts(checker: &Checker<'_>, image: u32, range: SubresourceRange) -> Vec<usize> {
    let image = checker.tables.images[image as usize];
    let levels = range
        .levels
        .indices()
        .take_while(|&level| level < image.mip_levels as usize);
    let layers = |level: usize| {
        let layers = range
            .layers
            .indices()
            .take_while(|&layer| layer < image.array_layers as usize);
        layers.map(move |layer| level * image.array_layers as usize + layer)
    };
    levels.flat_map(layers).collect()
}

/// Whether every access is allowed in its layout.
pub(super) fn check_fit(checker: &mut Checker<'_>) {
    let accesses = checker.tables.accesses.iter().zip(checker.frame.accesses());
    for (row, access) in accesses {
        let what = format!(
            "the access of `{}` by pass `{}`",
            checker.resource(access.resource),
            checker.pass(access.pass)
        );
        let image = matches!(row.object, Object::Image(_));
        let fits = if image {
            access.kind.is_allowed_in(row.layout, access.writes)
        } else {
            row.layout == L::UNDEFINED
        };
        if !fits {
            let needs = format!("one for {}", access.kind.noun());
            checker.wrong(&what, "layout", row.layout, needs);
        }
        let tile = |&object: &Object| checker.memory_of(object) == Some(MemoryKind::Tile);
        let images = checker
            .objects_of(access.resource)
            .into_iter()
            .filter(tile)
            .count();
        if image && images > 1 && row.layout != L::GENERAL {
            let needs = "GENERAL: it has an image in several tile memory objects, which share no layout";
            checker.wrong(&what, "layout", row.layout, needs);
        }
    }
}
