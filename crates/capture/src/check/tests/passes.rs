//! Render pass instances.

use super::*;

const COLOR: L = L::COLOR_ATTACHMENT_OPTIMAL;
const READ_ONLY: L = L::SHADER_READ_ONLY_OPTIMAL;
const DEPTH: L = L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
const INPUT: (S, A) = (S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ);

fn sample(image: u32) -> Command {
    dispatch(vec![texels(image, range(), CS, A::SHADER_SAMPLED_READ)])
}

const SAMPLED_HERE: (S, A) = (CS, A::SHADER_SAMPLED_READ);

#[test]
fn only_a_final_transition_needs_more_than_the_barrier_after_a_pass() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let commands = |last, src| {
        let pass = color_pass(attachment(x, [COLOR, last]));
        vec![begin(pass), draw(vec![]), end(), mb(src, SAMPLED_HERE), sample(x)]
    };
    let found_with = |last, src| found(rig.clone(), commands(last, src));
    let missing = [(Certain, Unordered, 3, 5)];
    assert_eq!(found_with(READ_ONLY, OUTPUT), missing);
    assert_eq!(found_with(COLOR, OUTPUT), NONE);
    // all_commands_after_final
    assert_eq!(found_with(READ_ONLY, (S::ALL_COMMANDS, A::MEMORY_WRITE)), NONE);
}

#[test]
fn fragments_that_may_not_overlap_are_counted() {
    let mut rig = Rig::new();
    let (x, y) = (rig.color("x"), rig.color("y"));
    let store = |stage| draw(vec![some(texels(y, range(), stage, STORAGE_WRITE))]);
    let pass = || begin(color_pass(attachment(x, [COLOR, COLOR])));
    let checked = |commands: Vec<Command>| {
        let mut rig = rig.clone();
        let buffer = rig.commands(commands);
        rig.submit(&[buffer]);
        let report = rig.report();
        let shaders = report
            .unchecked
            .iter()
            .find(|one| one.what.starts_with("accesses in fragment shaders"));
        (rig.found(), shaders.map_or(0, |one| one.count))
    };
    let one_pass = |stage| vec![pass(), store(stage), store(stage), end()];
    assert_eq!(checked(one_pass(S::FRAGMENT_SHADER)), (NONE.to_vec(), 1));
    let unordered = (Possible, Unordered, 2, 3);
    assert_eq!(checked(one_pass(S::VERTEX_SHADER)), (vec![unordered], 0));
    let store = || store(S::FRAGMENT_SHADER);
    let written = (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
    let ordered = mb(written, (S::COLOR_ATTACHMENT_OUTPUT, EVERYTHING.1));
    let two_passes = vec![pass(), store(), end(), ordered, pass(), store(), end()];
    assert_eq!(checked(two_passes), (vec![(Possible, Unordered, 2, 6)], 0));
}

/// Subpass 0 writes a color attachment; subpass 1 reads it as an input attachment and writes another one.
fn two_subpasses(x: u32, y: u32, store: Store, dependencies: Vec<SubpassDependency>) -> RenderPassInstance {
    RenderPassInstance {
        attachments: vec![
            Attachment {
                store,
                ..attachment(x, [L::UNDEFINED, READ_ONLY])
            },
            attachment(y, [L::UNDEFINED, COLOR]),
        ],
        subpasses: vec![
            subpass(vec![used(0, Role::Color, COLOR)]),
            subpass(vec![used(0, Role::Input, READ_ONLY), used(1, Role::Color, COLOR)]),
        ],
        dependencies,
        ..RenderPassInstance::default()
    }
}

fn input(image: u32) -> RecordedAccess {
    some(texels(image, range(), INPUT.0, INPUT.1))
}

#[test]
fn an_input_attachment_needs_a_subpass_dependency_whatever_is_stored() {
    for store in [Store::STORE, Store::DONT_CARE] {
        let mut rig = Rig::new();
        let (x, y) = (rig.color("x"), rig.color("y"));
        let commands = |dependencies: &[SubpassDependency]| {
            let pass = two_subpasses(x, y, store, dependencies.to_vec());
            vec![begin(pass), draw(vec![]), next(), draw(vec![input(x)]), end()]
        };
        let between = dependency(Some(0), Some(1), OUTPUT, INPUT);
        assert_eq!(found(rig.clone(), commands(&[between])), NONE);
        let none = found(rig, commands(&[]));
        assert!(
            none.iter()
                .any(|one| one.0 == Certain && (one.2, one.3) == (2, 3)),
            "{none:?}"
        );
    }
}

#[test]
fn an_attachment_first_used_in_a_later_subpass_has_its_own_dependency() {
    let mut rig = Rig::new();
    let (x, y) = (rig.color("x"), rig.color("y"));
    let write = || dispatch(vec![texels(y, range(), CS, STORAGE_WRITE)]);
    let commands = |dependencies: &[SubpassDependency]| {
        let pass = two_subpasses(x, y, Store::STORE, dependencies.to_vec());
        vec![
            write(),
            begin(pass),
            draw(vec![]),
            next(),
            draw(vec![input(x)]),
            end(),
        ]
    };
    let between = dependency(Some(0), Some(1), OUTPUT, INPUT);
    let outer = dependency(None, Some(1), WRITTEN, OUTPUT);
    assert_eq!(found(rig.clone(), commands(&[between, outer])), NONE);
    assert_eq!(found(rig, commands(&[between])), [(Certain, Unordered, 1, 4)]);
}

#[test]
fn unordered_passes_with_disjoint_areas_are_pedantic_findings() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let pass = |area| RenderPassInstance {
        area: Some(area),
        ..color_pass(attachment(x, [COLOR; 2]))
    };
    let commands = |second| {
        let first = pass([[0, 32], [0, 64]]);
        vec![
            begin(first),
            draw(vec![]),
            end(),
            begin(pass(second)),
            draw(vec![]),
            end(),
        ]
    };
    assert_eq!(
        found(rig.clone(), commands([[32, 64], [0, 64]])),
        [(Pedantic, Unordered, 3, 4)]
    );
    assert_eq!(
        found(rig, commands([[31, 64], [0, 64]])),
        [(Certain, Unordered, 3, 4)]
    );
}

#[test]
fn a_missing_barrier_before_a_pass_is_one_finding_with_the_fix_of_all_its_accesses() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let pass = color_pass(Attachment {
        load: Load::LOAD,
        ..attachment(x, [COLOR; 2])
    });
    let buffer = rig.commands(vec![image_write(x), begin(pass), draw(vec![]), end()]);
    rig.submit(&[buffer]);
    let findings = rig.report().findings;
    let [finding] = &findings[..] else {
        panic!("{findings:?}")
    };
    assert_eq!(
        (finding.verdict, finding.second.number, finding.count),
        (Certain, 2, 1)
    );
    let access = A::COLOR_ATTACHMENT_READ | A::COLOR_ATTACHMENT_WRITE;
    let fix = super::super::finding::Fix::Barrier(scopes(WRITTEN, (S::COLOR_ATTACHMENT_OUTPUT, access)));
    assert_eq!(finding.fix, Some(fix));
}

#[test]
fn instances_without_draws_load_and_store() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let commands = |barrier: Option<Command>| {
        let mut commands = vec![begin(color_pass(attachment(x, [COLOR; 2]))), end()];
        commands.extend(barrier);
        commands.push(sample(x));
        commands
    };
    assert_eq!(found(rig.clone(), commands(None)), [(Certain, Unordered, 2, 3)]);
    assert_eq!(found(rig, commands(Some(mb(OUTPUT, SAMPLED_HERE)))), NONE);
}

#[test]
fn layers_outside_the_view_mask_are_not_accessed() {
    let mut rig = Rig::new();
    let x = rig.old_image("x", image(vk::Format::R8G8B8A8_UNORM, 1, 4));
    let pass = RenderPassInstance {
        attachments: vec![Attachment {
            range: layers(0, 4),
            ..attachment(x, [COLOR, READ_ONLY])
        }],
        subpasses: vec![Subpass {
            uses: vec![used(0, Role::Color, COLOR)],
            view_mask: 0b1001,
        }],
        ..RenderPassInstance::default()
    };
    let write = |first, end| {
        let access = texels(x, layers(first, end), CS, STORAGE_WRITE);
        vec![begin(pass.clone()), draw(vec![]), end_(), dispatch(vec![access])]
    };
    fn end_() -> Command {
        end()
    }
    assert_eq!(found(rig.clone(), write(1, 3)), NONE);
    for layer in [0, 3] {
        let found = found(rig.clone(), write(layer, layer + 1));
        assert_eq!(found, [(Certain, Unordered, 3, 4)], "layer {layer}");
    }
}

#[test]
fn a_subpass_draws_to_its_own_views_only() {
    let mut rig = Rig::new();
    let x = rig.old_image("x", image(vk::Format::R8G8B8A8_UNORM, 1, 2));
    let masks = |masks: [u32; 2]| {
        let uses = vec![used(0, Role::Color, COLOR)];
        let subpass = |view_mask| Subpass {
            uses: uses.clone(),
            view_mask,
        };
        let pass = RenderPassInstance {
            attachments: vec![Attachment {
                range: layers(0, 2),
                load: Load::LOAD,
                ..attachment(x, [COLOR; 2])
            }],
            subpasses: masks.map(subpass).to_vec(),
            ..RenderPassInstance::default()
        };
        vec![begin(pass), draw(vec![]), next(), draw(vec![]), end()]
    };
    assert_eq!(found(rig.clone(), masks([0b01, 0b10])), NONE);
    assert_eq!(found(rig, masks([0b01, 0b11])), [(Certain, Unordered, 2, 4)]);
}

#[test]
fn suspended_instances_store_when_the_last_one_ends() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let part = |suspends, resumes| RenderPassInstance {
        suspends,
        resumes,
        ..color_pass(attachment(x, [COLOR; 2]))
    };
    let commands = vec![
        begin(part(true, false)),
        draw(vec![]),
        end(),
        begin(part(false, true)),
        draw(vec![]),
        end(),
    ];
    assert_eq!(found(rig.clone(), commands.clone()), NONE);
    let apart = {
        let mut commands = commands;
        for index in [0, 3] {
            commands[index] = begin(part(false, false));
        }
        commands
    };
    assert_eq!(found(rig, apart), [(Certain, Unordered, 3, 4)]);
}

/// A pass with a depth attachment, which may be read-only.
fn depth_pass(depth: u32, load: Load, store: Store, layout: L) -> RenderPassInstance {
    RenderPassInstance {
        attachments: vec![Attachment {
            range: depth_range(),
            load,
            store,
            ..attachment(depth, [layout; 2])
        }],
        subpasses: vec![subpass(vec![used(0, Role::DepthStencil, layout)])],
        ..RenderPassInstance::default()
    }
}

#[test]
fn store_op_none_writes_nothing() {
    let mut rig = Rig::new();
    let depth = rig.depth("depth");
    let sampled = || dispatch(vec![texels(depth, depth_range(), CS, A::SHADER_SAMPLED_READ)]);
    let commands = |store| {
        let pass = depth_pass(depth, Load::LOAD, store, DEPTH);
        vec![begin(pass), draw(vec![]), end(), sampled()]
    };
    assert_eq!(found(rig.clone(), commands(Store::NONE)), NONE);
    assert_eq!(found(rig, commands(Store::STORE)), [(Certain, Unordered, 3, 4)]);
}

#[test]
fn store_op_none_loses_nothing() {
    let mut rig = Rig::new();
    let depth = rig.add("depth", image(vk::Format::D32_SFLOAT, 1, 1), Some(0));
    let pass = |load, store, initial| {
        let mut pass = depth_pass(depth, load, store, DEPTH);
        pass.attachments[0].initial = initial;
        pass
    };
    let all = || mb(EVERYTHING, EVERYTHING);
    let commands = vec![
        begin(pass(Load::CLEAR, Store::STORE, L::UNDEFINED)),
        draw(vec![]),
        end(),
        all(),
        begin(pass(Load::LOAD, Store::NONE, DEPTH)),
        draw(vec![]),
        end(),
        all(),
        begin(pass(Load::LOAD, Store::STORE, DEPTH)),
        end(),
    ];
    assert_eq!(found(rig, commands), NONE);
}

#[test]
fn tests_of_depth_may_be_disabled() {
    let mut rig = Rig::new();
    let depth = rig.depth("depth");
    let write = || dispatch(vec![texels(depth, depth_range(), CS, STORAGE_WRITE)]);
    let layout = L::DEPTH_STENCIL_READ_ONLY_OPTIMAL;
    let commands = |load| {
        let pass = depth_pass(depth, load, Store::NONE, layout);
        vec![write(), begin(pass), draw(vec![]), end()]
    };
    assert_eq!(
        found(rig.clone(), commands(Load::NONE_EXT)),
        [(Possible, Unordered, 1, 3)]
    );
    assert_eq!(found(rig, commands(Load::LOAD)), [(Certain, Unordered, 1, 2)]);
}

#[test]
fn layouts_say_which_aspects_are_written() {
    let aspects = Aspects::DEPTH | Aspects::STENCIL;
    let both = SubresourceRange { aspects, ..range() };
    for (layout, depth, stencil) in [
        (L::DEPTH_STENCIL_READ_ONLY_OPTIMAL, false, false),
        (L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL, false, true),
        (L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL, true, false),
        (L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL, true, true),
    ] {
        for (aspects, is_written) in [(Aspects::DEPTH, depth), (Aspects::STENCIL, stencil)] {
            let mut rig = Rig::new();
            let x = rig.old_image("x", image(vk::Format::D24_UNORM_S8_UINT, 1, 1));
            let mut pass = depth_pass(x, Load::LOAD, Store::STORE, layout);
            pass.attachments[0].range = both;
            pass.attachments[0].stencil_load = Load::LOAD;
            pass.attachments[0].stencil_store = Store::STORE;
            let sampled = texels(
                x,
                SubresourceRange { aspects, ..range() },
                CS,
                A::SHADER_SAMPLED_READ,
            );
            let commands = vec![begin(pass), draw(vec![]), end(), dispatch(vec![sampled])];
            let expected: &[FindingSummary] = match is_written {
                true => &[(Certain, Unordered, 3, 4)],
                false => NONE,
            };
            assert_eq!(found(rig, commands), expected, "{layout:?} {aspects:?}");
        }
    }
}

#[test]
fn draws_access_attachments_again_after_a_barrier_in_the_subpass() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let pass = || {
        let mut pass = color_pass(attachment(x, [L::GENERAL; 2]));
        pass.subpasses[0].uses = vec![used(0, Role::Color, L::GENERAL), used(0, Role::Input, L::GENERAL)];
        pass
    };
    let commands = |between: Vec<Command>| {
        let mut commands = vec![begin(pass()), draw(vec![])];
        commands.extend(between);
        commands.extend([draw(vec![input(x)]), end()]);
        commands
    };
    assert_eq!(found(rig.clone(), commands(vec![mb(OUTPUT, INPUT)])), NONE);
    // Pipelines may order accesses to attachments.
    assert_eq!(
        found(rig.clone(), commands(vec![])),
        [(Possible, Unordered, 2, 3)]
    );
    // The draw after the first barrier writes again: the second read also needs a barrier.
    let again = vec![mb(OUTPUT, INPUT), draw(vec![]), draw(vec![input(x)])];
    assert_eq!(found(rig, commands(again)), [(Possible, Unordered, 4, 5)]);
}

#[test]
fn resolves_are_ordered_after_draws() {
    let mut rig = Rig::new();
    let (x, y) = (rig.color("x"), rig.color("y"));
    let mut pass = color_pass(attachment(x, [COLOR; 2]));
    pass.attachments.push(Attachment {
        load: Load::DONT_CARE,
        ..attachment(y, [COLOR; 2])
    });
    pass.subpasses[0].uses.extend([
        used(0, Role::ResolveSource, COLOR),
        used(1, Role::ResolveTarget, COLOR),
    ]);
    let commands = vec![begin(pass), draw(vec![]), end(), sample(y)];
    assert_eq!(found(rig, commands), [(Certain, Unordered, 3, 4)]);
}

/// "Render Pass Store Operations": with `NONE`, contents are only kept if nothing was written, and the recording does not show whether draws write.
#[test]
fn draws_to_attachments_that_are_not_stored_are_possible_writes() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let kept = Attachment {
        load: Load::NONE_EXT,
        store: Store::NONE,
        ..attachment(x, [L::GENERAL; 2])
    };
    let pass = RenderPassInstance {
        subpasses: vec![subpass(vec![used(0, Role::Color, L::GENERAL)])],
        ..color_pass(kept)
    };
    let commands = |inside: Vec<Command>| {
        let before = vec![image_write(x), begin(pass.clone())];
        [before, inside, vec![end()]].concat()
    };
    assert_eq!(found(rig.clone(), commands(Vec::new())), NONE);
    let drawn = found(rig, commands(vec![draw(Vec::new())]));
    assert_eq!(drawn, [(Possible, Unordered, 1, 3)]);
}

/// "Render Pass Load Operations", "Render Pass Store Operations": contents are undefined after `DONT_CARE`, and `NONE` does not store what is drawn.
#[test]
fn draws_to_attachments_that_are_neither_loaded_nor_stored_define_nothing() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let commands = |store| {
        let lost = Attachment {
            load: Load::DONT_CARE,
            store,
            ..attachment(x, [COLOR; 2])
        };
        let barrier = mb(OUTPUT, SAMPLED_HERE);
        vec![begin(color_pass(lost)), draw(vec![]), end(), barrier, sample(x)]
    };
    assert_eq!(
        found(rig.clone(), commands(Store::NONE)),
        [(Certain, Discarded, 1, 5)]
    );
    assert_eq!(found(rig, commands(Store::STORE)), NONE);
}

#[test]
fn a_shader_that_reads_an_attachment_of_its_instance_may_read_other_pixels() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let pass = RenderPassInstance {
        subpasses: vec![subpass(vec![used(0, Role::Color, L::GENERAL)])],
        ..color_pass(attachment(x, [L::GENERAL; 2]))
    };
    let sampled = texels(x, range(), SAMPLED.0, SAMPLED.1);
    let commands = vec![begin(pass), draw(vec![]), draw(vec![sampled]), end()];
    let verdicts = found(rig, commands);
    assert!(!verdicts.is_empty());
    assert!(verdicts.iter().all(|one| one.0 == Possible), "{verdicts:?}");
}
