//! `tileheap judge`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use serde_json::{Value, json};
use tileheap_tensor::file_kind::{check_contents, has_extension};
use tileheap_tensor::judge::{
    self, Allocations, BufferFault, Fault, JudgedAllocations, Overlap, ReadOptions, SpanEnds,
};
use tileheap_tensor::units::{Bytes, Span, Step};

use crate::documents;
use crate::error::{Error, NEGATIVE_ANSWER, Result};
use crate::input::{read_bytes, shown};
use crate::networks::judged;
use crate::output::Output;
use crate::report::svg::{self, Background};
use crate::report::tensors;
use crate::values::counted;

/// Check another compiler's memory plan
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/judge.txt"))]
#[command(after_help = include_str!("help/judge.txt"))]
pub(crate) struct Arguments {
    /// The file with the plan; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Treat the lifetimes of a table as [lower, upper) or, including their last step, [lower, upper] [default: by column name: `upper` is exclusive, `end` inclusive]
    #[arg(long, value_enum, value_name = "ENDS")]
    ends: Option<LifetimeEnds>,
    /// Names of the activations of a TVM graph; its other `null` nodes are weights [default: guessed from the graph]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    inputs: Vec<String>,
    /// Print JSON instead of a report
    #[arg(long)]
    json: bool,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Draw the buffers over steps as an SVG image
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    svg: Option<PathBuf>,
}

/// The convention for the ends of lifetimes in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LifetimeEnds {
    /// [lower, upper)
    Exclusive,
    /// [lower, upper]
    Inclusive,
}

/// The maximum number of findings of each kind in the report; `--json` lists all.
const LISTED: usize = 100;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let form = "a table as CSV, or a compiled model";
    let bytes = read_bytes(&arguments.file, "plan", form)?;
    let wrong = |problem: &str| Error::new(format!("{} {problem}", shown(&arguments.file)));
    check_contents(&arguments.file, &bytes).map_err(wrong)?;
    if has_extension(&arguments.file, "onnx") {
        return Err(wrong(
            "is an ONNX model, which has no memory plan: use `tileheap tensors`",
        ));
    }
    if let Ok(text) = std::str::from_utf8(&bytes) {
        documents::refuse_tensor_plan(&arguments.file, text)?;
    }
    let ends = match arguments.ends {
        None => SpanEnds::ByColumn,
        Some(LifetimeEnds::Exclusive) => SpanEnds::Exclusive,
        Some(LifetimeEnds::Inclusive) => SpanEnds::Inclusive,
    };
    let inputs = arguments.inputs.clone();
    let options = ReadOptions { ends, inputs };
    let of_file = |error: tileheap_tensor::Error| Error::of(shown(&arguments.file), error);
    let allocations = judge::read(&bytes, &options).map_err(of_file)?;
    if allocations.buffers.is_empty() {
        let problem = format!(
            "the {} plans no buffers: there is nothing to judge",
            allocations.format
        );
        return Err(Error::of(shown(&arguments.file), problem));
    }
    let judged = judge::judge(allocations).map_err(of_file)?;
    if let Some(file) = &arguments.svg {
        let name = arguments
            .file
            .file_stem()
            .map_or("plan".into(), |name| name.to_string_lossy());
        let chart = tensors::chart(&judged::document(&name, &judged));
        Output::to(Some(file.clone())).write(&svg::draw(&[chart], Background::Viewer))?;
    }
    let output = Output::to(arguments.output.clone());
    if arguments.json {
        output.write(&format!("{:#}\n", in_json(&judged)))?;
    } else {
        output.write_report(&in_words(&shown(&arguments.file), &judged))?;
    }
    match judged.is_sound() {
        true => Ok(()),
        // The report states the reason.
        false if !arguments.json && arguments.output.is_none() => Err(Error::Exit(NEGATIVE_ANSWER)),
        false => Err(Error::negative(format!(
            "{}: {}",
            shown(&arguments.file),
            counts(&judged)
        ))),
    }
}

fn in_json(judged: &JudgedAllocations) -> Value {
    let mut document = json!({ "format": "tileheap-judgement", "version": 1, "sound": judged.is_sound() });
    let fields = serde_json::to_value(judged).expect("plain data");
    if let (Value::Object(document), Value::Object(fields)) = (&mut document, fields) {
        document.extend(fields);
    }
    document
}

fn in_words(file: &str, judged: &JudgedAllocations) -> String {
    let of = &judged.allocations;
    let mut text = format!(
        "{file}: {}, {}\n",
        of.format,
        counted(of.buffers.len() as u64, "buffer")
    );
    for (arena, bytes) in of.arenas.iter().zip(&judged.arenas) {
        let declared = arena.size.map_or(String::new(), |size| format!(" of {size}"));
        let least = if bytes.proved {
            ", and no plan needs less"
        } else {
            ""
        };
        text += &format!(
            "  arena {} uses {}{declared}; {} of the bound, {}; tileheap needs {}{least}\n",
            arena.name,
            bytes.used,
            ratio(bytes.used, bytes.bound),
            bytes.bound,
            bytes.packed
        );
    }
    text.extend(of.notes.iter().map(|note| format!("  {note}\n")));
    if !judged.overlaps.is_empty() {
        text += "Overlaps of live buffers\n";
        let lines = judged.overlaps.iter().take(LISTED);
        text.extend(lines.map(|overlap| format!("  {}\n", overlap_in_words(of, overlap))));
        text += &and_more(judged.overlaps.len());
    }
    if !judged.faults.is_empty() {
        text += "Buffer faults\n";
        let lines = judged.faults.iter().take(LISTED);
        text.extend(lines.map(|fault| format!("  {}\n", fault_in_words(of, fault))));
        text += &and_more(judged.faults.len());
    }
    text += &match judged.is_sound() {
        true => "Sound: no two live buffers share bytes\n".to_owned(),
        false => format!("{}\n", counts(judged)),
    };
    text
}

fn and_more(count: usize) -> String {
    match count.checked_sub(LISTED) {
        None | Some(0) => String::new(),
        Some(more) => format!("  and {more} more\n"),
    }
}

fn counts(judged: &JudgedAllocations) -> String {
    let more = if judged.has_more { "more than " } else { "" };
    let counts = [
        (judged.overlaps.len(), "overlap"),
        (judged.faults.len(), "buffer fault"),
    ];
    let counts = counts.into_iter().filter(|&(count, _)| count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| counted(count as u64, what)).collect();
    format!("Found {more}{}", counts.join(" and "))
}

/// A ratio as text: `1.18`, rounded up, so that only equal sizes print as 1.00.
fn ratio(used: Bytes, bound: Bytes) -> String {
    if bound == Bytes::ZERO {
        return "-".to_owned();
    }
    let hundredths = (u128::from(used.0) * 100).div_ceil(u128::from(bound.0));
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn buffer_in_words(of: &Allocations, index: u32) -> String {
    let buffer = &of.buffers[index as usize];
    format!("`{}` ({} {})", buffer.name, of.numbered, buffer.index)
}

fn overlap_in_words(of: &Allocations, overlap: &Overlap) -> String {
    let arena = &of.arenas[of.buffers[overlap.a as usize].arena as usize].name;
    let steps: Vec<String> = overlap
        .steps
        .iter()
        .take(4)
        .map(|&span| span_in_words(of, span))
        .collect();
    let more = if overlap.steps.len() > 4 {
        ", and later"
    } else {
        ""
    };
    format!(
        "{} and {} share {} at offset {} of arena {arena}, {}{more}",
        buffer_in_words(of, overlap.a),
        buffer_in_words(of, overlap.b),
        overlap.bytes,
        overlap.offset,
        steps.join(", ")
    )
}

fn span_in_words(of: &Allocations, span: Span) -> String {
    match span.len() {
        1 => format!("in {}", step_in_words(of, span.first)),
        _ => {
            let last = Step(span.end.0 - 1);
            format!(
                "from {} to {}",
                step_in_words(of, span.first),
                step_in_words(of, last)
            )
        }
    }
}

fn step_in_words(of: &Allocations, step: Step) -> String {
    let name = of.steps.get(step.0 as usize).filter(|name| !name.is_empty());
    name.map_or(format!("step {}", step.0), |name| {
        format!("step {} ({name})", step.0)
    })
}

fn fault_in_words(of: &Allocations, fault: &Fault) -> String {
    let buffer = &of.buffers[fault.buffer as usize];
    let arena = &of.arenas[buffer.arena as usize].name;
    let problem = match &fault.fault {
        BufferFault::OutsideArena { end, size } => {
            format!("ends at offset {end}, but arena {arena} has {size}")
        }
        BufferFault::OutsideStorage { storage, end, size } => {
            format!("ends at offset {end} of storage {storage}, which has {size}")
        }
        BufferFault::Misaligned { alignment } => {
            format!(
                "is at offset {} of arena {arena}, which is not a multiple of {alignment}",
                buffer.offset
            )
        }
        BufferFault::NeverWritten { step } => {
            format!(
                "is read in {}, but nothing writes it earlier",
                step_in_words(of, *step)
            )
        }
        BufferFault::DetachedView { base, expected } => {
            let base = buffer_in_words(of, *base);
            let offset = buffer.offset;
            format!(
                "is at offset {offset} of arena {arena}, but as a view of {base} it must be at offset {expected}"
            )
        }
        other => format!("{other:?}"),
    };
    format!("{} {problem}", buffer_in_words(of, fault.buffer))
}
