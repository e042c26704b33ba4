//! Compares the project with every baseline on this machine: writes the results as JSON, and as a page in Markdown and HTML.
//!
//! ```text
//! bash scripts/compare.sh                 # builds, says on which machine, and names the page
//! cargo bench --bench compare -- [--quick] [--output FOLDER] [TABLE]...
//! ```
//! Every number on the page is measured or counted by this run. Without `../shared`, only the files of others are
//! left out, and listed. Without `--output` the rows go to standard output, one JSON object a line.

mod allocator;
mod arenas;
mod cache;
mod frames;
mod machine;
mod page;
mod planning;
mod rows;
mod tensors;

use std::path::PathBuf;

use rows::Rows;
use tileheap_testkit::counting::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A function that measures the rows of a table.
type Fill = fn(&mut Rows);

/// The tables in the order of the page, each with the function that measures its rows.
const TABLES: [(&str, Fill); 8] = [
    ("planning", planning::speed),
    ("on-chip", planning::on_chip),
    ("splits", planning::splits),
    ("frames", frames::compare),
    ("arenas", arenas::compare),
    ("allocator", allocator::compare),
    ("tensors", tensors::compare),
    ("cache", cache::compare),
];

fn main() {
    let mut output = None;
    let mut wanted = Vec::new();
    // Cargo runs benches with `--bench`, and without it asks whether they run: one table then.
    let measures = std::env::args().any(|argument| argument == "--bench");
    let mut quick = !measures;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => quick = true,
            "--output" => output = arguments.next().map(PathBuf::from),
            "--bench" | "--test" => {}
            name if TABLES.iter().any(|(table, _)| *table == name) => wanted.push(argument),
            other => {
                let names = TABLES.map(|(name, _)| name).join(", ");
                eprintln!("error: `{other}` is unknown: use --quick, --output FOLDER or {names}");
                std::process::exit(2);
            }
        }
    }
    if !measures && wanted.is_empty() {
        wanted.push("on-chip".to_owned());
    }
    let machine = machine::describe(quick);
    let mut rows = Rows::new(quick);
    for (name, fill) in TABLES {
        if wanted.is_empty() || wanted.iter().any(|table| table == name) {
            eprintln!("{name} …");
            fill(&mut rows);
        }
    }
    match output {
        None => print!("{}", rows.json_lines()),
        Some(folder) => {
            if let Err(error) = page::write(&folder, &machine, &rows) {
                eprintln!("error: {}: {error}", folder.display());
                std::process::exit(1);
            }
        }
    }
}
