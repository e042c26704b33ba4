//! Every function of the header with each argument invalid in every way, and all of them on several threads at once: returns a status, and never
//! crashes.

mod arguments;
mod objects;

use std::collections::BTreeSet;

use tileheap::units::SplitMix64;
use tileheap_c::additions::*;
use tileheap_c::aliasing::*;
use tileheap_c::arrangement::*;
use tileheap_c::bound::*;
use tileheap_c::commands::*;
use tileheap_c::device::*;
use tileheap_c::dynamic_frame::*;
use tileheap_c::executed::*;
use tileheap_c::frame::*;
use tileheap_c::library::*;
use tileheap_c::lowerer::*;
use tileheap_c::plan::*;
use tileheap_c::profile::*;
use tileheap_c::recording::*;
use tileheap_c::requirements::*;
use tileheap_c::status::Status;
use tileheap_c::stores::*;
use tileheap_c::text::*;

use arguments::{Argument, Memory, Wrong};
use objects::{Objects, State};

/// An argument, by its position, and one of its invalid values, by number.
#[derive(Clone, Copy, Default)]
struct Chosen {
    position: usize,
    way: usize,
}

/// An invalid argument: its position, a description, and the expected status.
struct Mistake {
    chosen: Chosen,
    what: &'static str,
    status: Status,
}

/// A function with arguments of any types.
trait Function: Sync {
    /// All mistakes that are possible.
    fn mistakes(&self, objects: &Objects) -> Vec<Mistake>;
    /// Calls it with valid arguments except for the chosen one.
    fn call(&self, objects: &Objects, memory: &mut Memory, chosen: Option<Chosen>) -> Status;
}

/// The argument at a position.
fn argument<A: Argument>(
    objects: &Objects,
    memory: &mut Memory,
    (position, chosen): (&mut usize, Option<Chosen>),
) -> A {
    let own = *position;
    *position += 1;
    match chosen {
        Some(chosen) if chosen.position == own => A::wrong(objects, memory)[chosen.way].value,
        _ => A::good(objects, memory),
    }
}

fn mistakes_of<A: Argument>(objects: &Objects, memory: &mut Memory, position: &mut usize) -> Vec<Mistake> {
    let own = *position;
    *position += 1;
    let wrong = A::wrong(objects, memory).into_iter().enumerate();
    let mistake = |(way, wrong): (usize, Wrong<A>)| Mistake {
        chosen: Chosen { position: own, way },
        what: wrong.what,
        status: wrong.status,
    };
    wrong.map(mistake).collect()
}

macro_rules! functions {
    ($($($argument:ident)*;)*) => {$(
        impl<$($argument: Argument),*> Function for unsafe extern "C" fn($($argument),*) -> Status {
            fn mistakes(&self, objects: &Objects) -> Vec<Mistake> {
                let (mut memory, mut position) = (Memory::default(), 0);
                let mut all = Vec::new();
                $(all.extend(mistakes_of::<$argument>(objects, &mut memory, &mut position));)*
                all
            }

            fn call(&self, objects: &Objects, memory: &mut Memory, chosen: Option<Chosen>) -> Status {
                let mut position = 0;
                // SAFETY: everything that arguments point to is alive; the library has to recognize invalid ones.
                unsafe { self($(argument::<$argument>(objects, memory, (&mut position, chosen))),*) }
            }
        }
    )*};
}

functions! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}

/// A row of the table of functions.
struct Row {
    name: &'static str,
    state: State,
    function: Box<dyn Function + Send>,
}

macro_rules! rows {
    ($($state:ident: $($function:ident($($argument:tt)*))*;)*) => {
        vec![$($(Row {
            name: stringify!($function),
            state: State::$state,
            function: Box::new($function as unsafe extern "C" fn($($argument)*) -> Status),
        }),*),*]
    };
}

/// Every function except `thGetVersion`, which has no arguments, with the state in which it succeeds.
fn rows() -> Vec<Row> {
    rows! {
        Idle:
            create_error(_) get_error_message(_, _) get_error_rule(_, _) get_error_result(_, _) destroy_error(_)
            get_text(_, _, _) destroy_text(_) get_object_count(_, _)
            get_profile_names(_, _, _) create_profile(_, _, _) create_profile_from_json(_, _, _) create_profile_from_physical_device(_, _, _)
            create_profile_with_tile_size(_, _, _, _) get_profile_info(_, _, _) create_profile_text(_, _, _) destroy_profile(_)
            create_frame(_, _, _) create_frame_from_json(_, _, _, _) create_frame_text(_, _, _) get_frame_info(_, _, _)
            get_frame_resource(_, _, _, _) get_frame_pass(_, _, _, _) get_frame_name(_, _, _, _, _) find_frame_name(_, _, _, _, _)
            destroy_frame(_) create_frame_of_values(_, _, _) create_input_frame(_, _, _) get_frame_origins(_, _, _)
            get_requirement_queries(_, _, _, _, _) create_requirements(_, _, _, _, _, _) create_estimated_requirements(_, _, _, _)
            get_resource_requirements(_, _, _, _) destroy_requirements(_)
            create_planner(_, _) destroy_planner(_) create_plan(_, _, _) get_plan(_, _, _) get_plan_totals(_, _, _)
            create_planned_frame(_, _, _) get_placement_reason(_, _, _, _) compare_plans(_, _, _, _) adopt_plan(_, _, _, _)
            check_plan(_, _) create_plan_text(_, _, _, _) destroy_plan(_)
            create_arrangement(_, _, _, _) create_arrangement_from_json(_, _, _, _) get_arrangement_info(_, _, _)
            create_arranged_frame(_, _, _) get_arrangement(_, _, _) create_arrangement_text(_, _, _, _) destroy_arrangement(_)
            create_lowerer(_, _) lower(_, _, _, _) get_lowered(_, _, _) check_lowered(_, _) create_lowered_text(_, _, _, _) destroy_lowerer(_)
            get_store_shaders(_, _, _)
            create_aliasing(_, _, _) get_aliasing(_, _, _) create_aliasing_text(_, _, _, _) destroy_aliasing(_)
            create_device_additions(_, _, _) get_device_create_info(_, _, _) destroy_device_additions(_)
            create_device(_, _, _) destroy_device(_, _) create_device_profile(_, _, _) create_device_text(_, _, _) get_device_lost(_, _, _)
            report_device_lost(_, _) use_queues(_, _, _, _) trim_device(_, _, _)
            create_dynamic_frame(_, _, _) select_frame(_, _, _, _) select_created_frame(_, _, _, _) forget_imported_view(_, _, _)
            destroy_dynamic_frame(_, _) abandon_dynamic_frame(_, _) wait_for_frame(_, _, _, _) get_completed_frame_count(_, _, _);
        Selected:
            begin_frame(_, _, _, _) create_selected_plan(_, _, _) get_selected_queue(_, _, _, _) get_pass_target(_, _, _, _, _)
            get_bound_access(_, _, _, _, _);
        Recording:
            import_resources(_, _, _) set_render_area(_, _, _, _) begin_secondary(_, _, _, _, _) bind_secondary_tile_memory(_, _, _, _)
            submit_frame(_, _) submit_frame_with(_, _, _, _) discard_frame(_, _) begin_commands(_, _, _, _, _);
        Commands:
            begin_pass(_, _, _, _) next_subpass(_, _) execute_secondaries(_, _, _, _) end_pass(_, _) skip_pass(_, _, _) end_commands(_, _)
            discard_commands(_, _);
    }
}

/// Functions and the positions of arguments that may be null: none, or the defaults.
const OPTIONAL: [(&str, usize); 11] = [
    ("get_profile_names", 1),
    ("create_frame_from_json", 1),
    ("get_requirement_queries", 3),
    ("create_requirements", 3), // With no answers.
    ("create_arrangement", 1),
    ("begin_frame", 1),
    ("begin_frame", 2),
    ("set_render_area", 2),
    ("trim_device", 1),
    ("begin_pass", 2),
    ("execute_secondaries", 2), // With a count of 0.
];

/// Arrays that are empty here, and are not read.
const ARRAYS: [(&str, usize); 2] = [("get_requirement_queries", 3), ("create_requirements", 3)];

/// The name of a function in the header.
fn name_in_c(name: &str) -> String {
    let words = name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
    format!("th{}", words.collect::<String>())
}

#[test]
fn the_table_has_every_function_of_the_header() {
    let header = include_str!("../../../../include/tileheap.h");
    let declared = header.split("TH_API\n").skip(1);
    let declared = declared.map(|rest| rest.split_once('(').unwrap().0.rsplit([' ', '*']).next().unwrap());
    // Excludes its definition for systems that need one.
    let declared = declared.filter(|name| name.starts_with("th"));
    let declared: BTreeSet<String> = declared.map(str::to_owned).collect();
    let mut known: BTreeSet<String> = rows().iter().map(|row| name_in_c(row.name)).collect();
    known.insert("thGetVersion".to_owned());
    assert!(get_version() > 0);
    assert_eq!(declared, known);
}

#[test]
fn every_wrong_argument_of_every_function_is_a_status() {
    let (mut tried, mut failures) = (0, Vec::new());
    for row in rows() {
        let mut objects = Objects::new(row.state);
        let mistakes = row.function.mistakes(&objects);
        let positions = mistakes.iter().map(|mistake| mistake.chosen.position + 1);
        let count = positions.max().unwrap_or(0);
        for Mistake { chosen, what, status } in mistakes {
            // A function with an invalid error object behaves as without one.
            let of_error = chosen.position > 0 && chosen.position + 1 == count;
            let destroys = ["destroy", "abandon", "discard_commands"]
                .iter()
                .any(|verb| row.name.starts_with(verb));
            if of_error && status == Status::ErrorInvalidHandle {
                continue;
            }
            let is_empty = ARRAYS.contains(&(row.name, chosen.position));
            let may_be_null = what == "null"
                && (OPTIONAL.contains(&(row.name, chosen.position)) || destroys && chosen.position == 0);
            let returned = row.function.call(&objects, &mut Memory::default(), Some(chosen));
            tried += 1;
            let name = name_in_c(row.name);
            let expected = if may_be_null || is_empty {
                returned != Status::ErrorInternal
            } else {
                returned == status
            };
            if !expected {
                failures.push(format!(
                    "{name}, argument {}, {what}: {returned:?}, not {status:?}",
                    chosen.position
                ));
            }
            if returned == Status::Success {
                objects = Objects::new(row.state);
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(tried > 500, "{tried} wrong arguments were tried");
}

#[test]
fn every_function_is_called_on_several_threads_with_the_same_objects() {
    const CALLS: usize = 1_500;
    let all = rows();
    for seed in 0..4 {
        let objects = Objects::new(State::Idle);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (objects, all) = (&objects, &all);
                scope.spawn(move || {
                    let mut random = SplitMix64::new(seed * 4 + thread);
                    for _ in 0..CALLS {
                        let row = &all[random.below(all.len() as u64) as usize];
                        // Functions that destroy objects end the others' work: called rarely, and late.
                        let ends = ["destroy", "abandon", "report"]
                            .iter()
                            .any(|verb| row.name.starts_with(verb));
                        if ends && random.below(200) > 0 {
                            continue;
                        }
                        let mut memory = Memory::default();
                        let status = row.function.call(objects, &mut memory, None);
                        assert_ne!(status, Status::ErrorInternal, "{}", row.name);
                        memory.begun(objects);
                    }
                });
            }
        });
        drop(objects);
    }
}
