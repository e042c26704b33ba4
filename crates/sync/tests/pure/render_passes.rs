//! Render passes as commands, checked by the model.

use crate::recordings::*;
use ash::vk;
use tileheap_sync::Certainty::{Certain, Pedantic};
use tileheap_sync::MissingDependency::Execution;
use tileheap_sync::program::{AccessKind, Command, MemoryAccess, PassDependency, ResourcePart};
use tileheap_sync::render_pass::{Attachment, AttachmentUse, RenderPass, Role};
use tileheap_sync::{Certainty, MissingDependency};
use tileheap_units::Run;
use vk::{
    AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageAspectFlags as Aspects, ImageLayout as Layout,
};

const NONE: [(u64, u64, MissingDependency, Certainty); 0] = [];
const COLOR: Layout = Layout::COLOR_ATTACHMENT_OPTIMAL;
const SAMPLED: Layout = Layout::SHADER_READ_ONLY_OPTIMAL;

/// A color attachment Z that is cleared, drawn to and stored.
fn color(initial_layout: Layout, final_layout: Layout) -> RenderPass {
    let attachment = Attachment {
        resource: Z,
        texels: texels(None),
        load: Load::CLEAR,
        store: Store::STORE,
        stencil_load: Load::DONT_CARE,
        stencil_store: Store::DONT_CARE,
        initial_layout,
        final_layout,
    };
    RenderPass {
        attachments: vec![attachment],
        area: [Run::new(0, 8), Run::new(0, 8), Run::new(0, 1)],
        subpasses: vec![vec![used(Role::Color, COLOR)]],
        ..RenderPass::default()
    }
}

fn used(role: Role, layout: Layout) -> AttachmentUse {
    AttachmentUse {
        attachment: 0,
        role,
        layout,
    }
}

/// All its commands, with draws to everything in each subpass.
fn commands(pass: &RenderPass) -> Vec<Command> {
    let subpass = |index: u32| {
        let draws = pass.subpasses[index as usize]
            .iter()
            .flat_map(|one| pass.draw(one));
        let draws: Vec<MemoryAccess> = draws.collect();
        [
            pass.begin(index),
            vec![Command::Action(draws)],
            pass.end(index, |_| Aspects::COLOR),
        ]
        .concat()
    };
    (0..pass.subpasses.len() as u32).flat_map(subpass).collect()
}

fn judged(pass: &RenderPass, after: &[Command]) -> Vec<(u64, u64, MissingDependency, Certainty)> {
    hazards(&[&commands(pass)[..], after].concat())
}

#[test]
fn the_implicit_dependency_after_a_pass_orders_nothing_that_follows() {
    let after = |from| [memory(from, CS_READ), read(Z)];
    // Begin, load, draw, store, end; the final transition is part of the end.
    assert_eq!(judged(&color(COLOR, COLOR), &after(COLOR_WRITE)), NONE);
    let transitioned = judged(&color(COLOR, SAMPLED), &after(COLOR_WRITE));
    assert_eq!(transitioned, [(4, 6, Execution, Certain)]);
    assert_eq!(judged(&color(COLOR, SAMPLED), &after(EVERYTHING)), NONE);
    let mut explicit = color(COLOR, SAMPLED);
    explicit.dependencies.push(PassDependency {
        from: Some(0),
        to: None,
        scopes: scopes(COLOR_WRITE, CS_READ),
    });
    assert_eq!(judged(&explicit, &[read(Z)]), NONE);
}

#[test]
fn the_implicit_dependency_before_a_pass_waits_for_nothing() {
    let before = |from| [act(Z, COPY_READ), memory(from, COLOR_WRITE)];
    let copied = |pass: &RenderPass, from| hazards(&[&before(from)[..], &commands(pass)].concat());
    assert_eq!(copied(&color(COLOR, COLOR), COPY_READ), NONE);
    // The transition is not at the color output stage.
    let early = copied(&color(Layout::UNDEFINED, COLOR), COPY_READ);
    assert_eq!(early, [(0, 2, Execution, Certain)]);
    let all = memory(COPY_READ, (S::ALL_COMMANDS, Mask::NONE));
    let waits = [
        &[act(Z, COPY_READ), all],
        &commands(&color(Layout::UNDEFINED, COLOR))[..],
    ]
    .concat();
    assert_eq!(hazards(&waits), NONE, "ALL_COMMANDS includes transitions");
}

#[test]
fn layout_changes_between_subpasses_become_transitions() {
    let mut pass = color(Layout::UNDEFINED, SAMPLED);
    pass.subpasses.push(vec![used(Role::Input, SAMPLED)]);
    let dependency = |from, to, src, dst| PassDependency {
        from,
        to,
        scopes: scopes(src, dst),
    };
    pass.dependencies = vec![dependency(Some(0), Some(1), COLOR_WRITE, INPUT)];
    // The store of a written attachment comes last, in the last subpass that uses it.
    let between = commands(&pass);
    let is_next = |command: &&Command| matches!(command, Command::NextSubpass);
    assert_eq!(between.iter().filter(is_next).count(), 1);
    assert_eq!(hazards(&between), NONE);
    pass.dependencies.clear();
    // Begin, load, draw, next, read, store, end.
    assert!(judged(&pass, &[]).contains(&(2, 3, Execution, Certain)));
}

/// "Render Pass Creation": the transition between subpass 0 and 2 comes after dependencies of 0 with any subpass, and before those of any with 2.
#[test]
fn transitions_use_the_dependencies_of_both_of_their_subpasses() {
    let mut pass = color(COLOR, SAMPLED);
    pass.subpasses.push(Vec::new());
    pass.subpasses.push(vec![used(Role::Input, SAMPLED)]);
    let dependency = |from, to, src, dst| PassDependency {
        from: Some(from),
        to: Some(to),
        scopes: scopes(src, dst),
    };
    let leaves = dependency(0, 1, COLOR_WRITE, NOTHING);
    let leads = dependency(1, 2, NOTHING, INPUT);
    let with = |dependencies: &[PassDependency]| {
        let mut pass = pass.clone();
        pass.dependencies = dependencies.to_vec();
        judged(&pass, &[])
    };
    assert_eq!(with(&[leaves, leads]), NONE);
    assert_eq!(with(&[dependency(0, 2, COLOR_WRITE, INPUT)]), NONE);
    // Begin, load, draw, next, a draw to nothing, next, read, store, end.
    assert!(with(&[leads]).contains(&(2, 5, Execution, Certain)));
    assert!(with(&[leaves]).contains(&(5, 6, Execution, Certain)));
}

/// "Render Pass Creation": the initial transition comes after dependencies from outside to every use, the final one before those of every use to
/// outside.
#[test]
fn outer_transitions_use_the_dependencies_of_every_use() {
    let mut pass = color(SAMPLED, SAMPLED);
    pass.subpasses.push(vec![used(Role::Color, COLOR)]);
    let outer = |from, to, (src, dst)| PassDependency {
        from,
        to,
        scopes: scopes(src, dst),
    };
    let between = outer(Some(0), Some(1), (COLOR_WRITE, COLOR_WRITE));
    let before = |to| outer(None, Some(to), (CS_READ, COLOR_WRITE));
    let after = |from| outer(Some(from), None, (COLOR_WRITE, CS_READ));
    let with = |dependencies: &[PassDependency]| {
        let mut pass = pass.clone();
        pass.dependencies = dependencies.to_vec();
        hazards(&[&[read(Z)], &commands(&pass)[..], &[read(Z)]].concat())
    };
    for (first, last) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        assert_eq!(
            with(&[between, before(first), after(last)]),
            NONE,
            "{first} {last}"
        );
    }
    // Read, begin, load, draw, next, draw, store, end, read.
    assert_eq!(with(&[between, after(1)]), [(0, 1, Execution, Certain)]);
    assert_eq!(with(&[between, before(1)]), [(7, 8, Execution, Certain)]);
}

/// "Render Pass Creation", [renderpass-aliasing]: two attachments with the same view, ordered by a dependency.
#[test]
fn transitions_of_aliases_are_ordered_with_their_uses() {
    let mut pass = color(COLOR, COLOR);
    let alias = Attachment {
        initial_layout: Layout::UNDEFINED,
        ..pass.attachments[0]
    };
    pass.attachments.push(alias);
    let second = AttachmentUse {
        attachment: 1,
        ..used(Role::Color, COLOR)
    };
    pass.subpasses.push(vec![second]);
    let unordered = judged(&pass, &[]);
    assert!(!unordered.is_empty());
    pass.dependencies.push(PassDependency {
        from: Some(0),
        to: Some(1),
        scopes: scopes(COLOR_WRITE, COLOR_WRITE),
    });
    assert_eq!(judged(&pass, &[]), NONE);
}

#[test]
fn dynamic_rendering_has_no_transitions_and_suspended_instances_no_stores() {
    let mut pass = color(COLOR, COLOR);
    assert_eq!(commands(&pass).len(), 5);
    pass.suspends = true;
    let first = commands(&pass);
    assert_eq!(first.len(), 4, "no stores");
    (pass.suspends, pass.resumes) = (false, true);
    let second = commands(&pass);
    assert_eq!(second.len(), 4, "no loads");
    assert_eq!(
        hazards(&[first, second].concat()),
        NONE,
        "one subpass, in rasterization order"
    );
}

#[test]
fn read_only_attachments_are_not_stored() {
    let mut pass = color(SAMPLED, SAMPLED);
    pass.attachments[0].load = Load::LOAD;
    pass.subpasses = vec![vec![used(Role::Input, SAMPLED)]];
    assert_eq!(judged(&pass, &[read(Z)]), NONE);
    let stores = |store| {
        let mut pass = pass.clone();
        pass.attachments[0].store = store;
        let is_act = |command: &Command| matches!(command, Command::Action(_));
        pass.end(0, |_| Aspects::empty())
            .iter()
            .filter(|one| is_act(one))
            .count()
    };
    // DONT_CARE may discard contents that an earlier pass has written.
    assert_eq!(
        [Store::STORE, Store::NONE, Store::DONT_CARE].map(stores),
        [0, 0, 1]
    );
}

#[test]
fn resolves_come_after_the_draws_of_their_subpass() {
    let mut pass = color(COLOR, COLOR);
    let target = Attachment {
        resource: X,
        load: Load::NONE_EXT,
        ..pass.attachments[0]
    };
    pass.attachments.push(target);
    let resolved = AttachmentUse {
        attachment: 1,
        role: Role::ResolveTarget {
            resolved: Aspects::COLOR,
        },
        layout: COLOR,
    };
    let source = Role::ResolveSource {
        resolved: Aspects::COLOR,
    };
    pass.subpasses[0].extend([used(source, COLOR), resolved]);
    assert_eq!(judged(&pass, &[]), NONE);
    // Begin, load, draw, resolve, store, end: the target is written at the color output stage.
    let after = [memory(COLOR_WRITE, CS_READ), read(X), read(Z)];
    assert_eq!(judged(&pass, &after), NONE);
    let narrow = act_on(
        X,
        columns(20, 24),
        COPY_WRITE,
        tileheap_sync::program::AccessKind::Whole,
    );
    let letters = judged(&pass, &[narrow]);
    assert!(
        !letters.is_empty() && letters.iter().all(|one| one.3 == Pedantic),
        "{letters:?}"
    );
}

/// `VkSubpassDescriptionDepthStencilResolve`: no resolve is performed for an aspect whose mode is `NONE`.
#[test]
fn resolves_write_only_the_aspects_with_a_mode() {
    let both = Aspects::DEPTH | Aspects::STENCIL;
    let mut pass = color(COLOR, COLOR);
    pass.attachments[0].texels.aspects = both;
    (pass.attachments[0].load, pass.attachments[0].stencil_store) = (Load::DONT_CARE, Store::STORE);
    let written = |resolved| {
        let mut pass = pass.clone();
        pass.subpasses = vec![vec![used(Role::ResolveTarget { resolved }, COLOR)]];
        let ends = pass.end(0, |_| Aspects::empty());
        let accesses = ends.iter().flat_map(|command| match command {
            Command::Action(accesses) => accesses.clone(),
            _ => Vec::new(),
        });
        let aspects = accesses.map(|access| match access.part {
            ResourcePart::Texels(texels) => (access.kind, texels.aspects),
            ResourcePart::Bytes(..) => panic!("{access:?}"),
        });
        aspects.collect::<Vec<_>>()
    };
    let (resolve, store) = (AccessKind::Resolve, AccessKind::Store);
    let of = |aspect| vec![(resolve, aspect), (store, aspect)];
    assert_eq!(written(Aspects::DEPTH), of(Aspects::DEPTH));
    assert_eq!(written(Aspects::STENCIL), of(Aspects::STENCIL));
    let stores = [(store, Aspects::DEPTH), (store, Aspects::STENCIL)];
    assert_eq!(written(both), [&[(resolve, both)][..], &stores].concat());
}

/// "Render Pass": the implementation orders subpasses that only read an attachment in different layouts, and transitions attachments that no
/// subpass uses.
#[test]
fn read_only_layouts_change_without_a_dependency_and_unused_attachments_change_too() {
    let mut pass = color(SAMPLED, SAMPLED);
    pass.attachments[0].load = Load::LOAD;
    let read_only = Layout::READ_ONLY_OPTIMAL;
    pass.subpasses = vec![
        vec![used(Role::Input, SAMPLED)],
        vec![used(Role::Input, read_only)],
    ];
    pass.attachments[0].final_layout = read_only;
    assert_eq!(judged(&pass, &[]), NONE);
    let mut unused = color(Layout::UNDEFINED, SAMPLED);
    unused.subpasses = vec![Vec::new()];
    let waits = memory(EVERYTHING, (S::ALL_COMMANDS, Mask::NONE));
    let all = |from: &[Command]| hazards(&[&[write(Z)], from, &commands(&unused)].concat());
    assert_eq!(all(&[waits]), NONE);
    assert_eq!(all(&[]).len(), 1, "the transition");
}

/// "Render Pass Store Operations": without writes, a store operation `NONE` accesses nothing.
#[test]
fn store_none_keeps_what_was_not_written() {
    let mut pass = color(COLOR, COLOR);
    (pass.attachments[0].load, pass.attachments[0].store) = (Load::LOAD, Store::NONE);
    let is_store = |command: &Command| matches!(command, Command::Action(_));
    let stores = |written| {
        pass.end(0, |_| written)
            .iter()
            .filter(|one| is_store(one))
            .count()
    };
    assert_eq!([Aspects::empty(), Aspects::COLOR].map(stores), [0, 1]);
}
