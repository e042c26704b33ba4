//! `tileheap capture`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, ValueHint};
use tileheap::runtime::detect::enumerate_devices;
use tileheap_capture::document::Capture;
use tileheap_capture::{LAYER, settings};

use crate::captured::CaptureReport;
use crate::captured::folder::CaptureFolder;
use crate::error::{self, Error, Result};
use crate::frames::advice::with_advice;
use crate::frames::arrange::{ArrangeOptions, Limits};
use crate::frames::plan::{FrameArguments, FrameOptions};
use crate::input::{read_text, shown};
use crate::layers::{CAPTURE, ProgramEnd, absolute, as_text, wait};
use crate::output::Output;
use crate::progress::Progress;
use crate::report::chart::Chart;
use crate::report::{page, plan};

/// Capture frames of a program and report what each would save with tile memory
///
/// Runs an unmodified Vulkan program under VK_LAYER_TILEHEAP_capture, which writes submitted frames as frame documents. Plans each frame for a
/// device, as submitted and in the best arrangement found, and writes a report: memory traffic per frame now and with at most five proposed changes,
/// the traffic that stays in memory and why, and the accesses that the capture could not track. By default, captures the frame that
/// accesses the most bytes among the first 120, preferably one that the next frame repeats. `plan`, `advise`, `report` and `check-frame` read the documents;
/// `report.json` is the report in machine-readable form. With --from, replays a GFXReconstruct trace instead, or reports on a frame that was captured
/// earlier, on this machine or on a phone.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 if the requested frames were captured and planned, even if the program failed; 1 if a
signal ended the program (a crash, Ctrl-C), or if a frame that --frames names by number was not
captured. The report of what was captured is written in either case; report.json has the program's
own status and signal.

Examples:
  tileheap capture -- vkcube --c 60
  tileheap capture --profile x2-85 --frames 100..103 -o captures -- ./game
  tileheap capture --border submits:1 -- ./compute                 a program that presents nothing
  tileheap capture --border signal:now -- ./game                   end a frame at each `touch now`
  tileheap capture --from game.gfxr                                a GFXReconstruct trace
  tileheap capture --from frame-63.json --profile x2-85 -o x2-85   plan it for another device")]
pub(crate) struct Arguments {
    /// The program and its arguments
    #[arg(last = true, required_unless_present = "from", value_hint = ValueHint::CommandWithArguments)]
    program: Vec<OsString>,
    /// The frames to capture, counted from 0: N, N..M (excluding M), or heaviest:N for the one of the first N that accesses the most bytes, preferably
    /// one that the next frame repeats [default: heaviest:120]
    #[arg(long, value_name = "FRAMES")]
    frames: Option<String>,
    /// The event that ends a frame: present, label:NAME for a debug label, submits:N, or signal:FILE when the file is created [default: present]
    #[arg(long, value_name = "BORDER")]
    border: Option<String>,
    /// Measure the GPU time of each pass; slows down the program
    #[arg(long)]
    timestamps: bool,
    /// The folder for the documents and the report; earlier captures in it are replaced
    #[arg(short, long, value_name = "FOLDER", default_value = "tileheap-capture", value_hint = ValueHint::DirPath)]
    output: PathBuf,
    /// Replay a GFXReconstruct trace instead of running a program, or report on a captured frame (FRAME.json)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "program")]
    from: Option<PathBuf>,
    /// Do not open the report; by default it opens if standard output is a terminal and a display is available
    #[arg(long)]
    no_open: bool,
    /// The folder of the layer's manifest, or a prefix that scripts/install.sh installed to [default: searched for next to the
    /// command, in a checkout's target folder, and in the folders that the Vulkan loader searches]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    layers: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Planning")]
    options: FrameOptions,
    #[command(flatten, next_help_heading = "Arrangements")]
    limits: Limits,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // Report invalid options before the program runs.
    arguments.options.read_profile()?;
    let program = match &arguments.from {
        Some(file) if is_document(file) => return report_again(arguments, file),
        Some(trace) => replay_of(trace)?,
        None => arguments.program.clone(),
    };
    let layer = CAPTURE.find(arguments.layers.as_deref())?;
    as_text(&absolute(&arguments.output)?)?;
    let options = [
        (settings::FRAMES, "--frames", &arguments.frames),
        (settings::BORDER, "--border", &arguments.border),
    ];
    let given = |key: &str| options.iter().find(|one| one.0 == key)?.2.clone();
    settings::check(|key| match key {
        settings::FOLDER => Some(arguments.output.display().to_string()),
        _ => given(key).or_else(|| env::var(LAYER.variable(key)).ok()),
    })
    .map_err(|error| {
        let name = |one: &(&str, &str, &Option<String>)| {
            let given = one.2.as_ref();
            given.map_or_else(|| LAYER.variable(one.0), |_| one.1.to_owned())
        };
        let names = options
            .iter()
            .map(|one| (format!("setting {} is", one.0), format!("{} is", name(one))));
        Error::usage(names.fold(error, |error, (key, name)| error.replace(&key, &name)))
    })?;
    let mut command = CAPTURE.command(&layer, &program)?;
    // Not earlier, because earlier captures are removed.
    let folder = CaptureFolder::open(&arguments.output)?;
    folder.clear()?;
    command.env(LAYER.variable(settings::FOLDER), folder.path());
    let given = options
        .iter()
        .filter_map(|one| Some((LAYER.variable(one.0), one.2.as_ref()?)));
    command.envs(given);
    if arguments.timestamps {
        command.env(LAYER.variable(settings::TIMESTAMPS), "true");
    }
    let end = match wait(&mut command) {
        Ok(end) => end,
        Err(error) => {
            folder.remove_empty();
            return Err(error);
        }
    };
    let frames = env::var(LAYER.variable(settings::FRAMES)).ok();
    let frames = arguments.frames.clone().or(frames);
    let run = ProgramRun {
        end,
        requested: frames.as_deref().and_then(settings::requested_frames),
        log: folder.log(),
    };
    let documents = folder.documents()?;
    if documents.is_empty() {
        let why = run.why_no_frame(&program);
        folder.remove_empty();
        return Err(why);
    }
    let not_captured = run.why_not_captured(&documents);
    let outcome = Some((end, not_captured.as_deref()));
    let documents: Vec<PathBuf> = documents.into_iter().map(|(_, path)| path).collect();
    let printed = match write_reports(arguments, &documents, &folder, outcome) {
        Err(error) if !matches!(error, Error::BrokenPipe) => return Err(error),
        printed => printed,
    };
    let signal = end.signal.map(|_| end.words());
    let failures: Vec<String> = [not_captured, signal].into_iter().flatten().collect();
    if !failures.is_empty() {
        let text = format!(
            "{}: the report is about what was captured before",
            failures.join("; ")
        );
        return Err(Error::new(text));
    }
    if !end.succeeded() {
        error::print(&format!("{}; what it submitted before is captured", end.words()));
    }
    printed
}

/// A program that ran under the layer.
struct ProgramRun {
    end: ProgramEnd,
    /// The frames that were requested by number.
    requested: Option<Range<u64>>,
    log: Vec<String>,
}

impl ProgramRun {
    /// The last problem in the layer's log.
    fn last_problem(&self) -> Option<&str> {
        let problems = self.log.iter().filter(|line| !settings::is_device(line));
        problems.map(String::as_str).next_back()
    }

    /// An error with the likely reason that no frame was captured.
    fn why_no_frame(&self, program: &[OsString]) -> Error {
        let created_device = self.log.iter().any(|line| settings::is_device(line));
        let why = match (self.last_problem(), &self.requested) {
            (Some(last), _) => last.to_owned(),
            (None, Some(frames)) if created_device => {
                format!("it created a Vulkan device, but frame {} did not begin", frames.start)
            }
            (None, None) if created_device => "it created a Vulkan device, but submitted no passes".to_owned(),
            (None, _) => match enumerate_devices() {
                Err(error) => format!("Vulkan does not work on this machine: {error}"),
                Ok(devices) if devices.is_empty() => "this machine has no Vulkan device".to_owned(),
                Ok(_) if !self.end.succeeded() => "it created no Vulkan device before that".to_owned(),
                Ok(_) => "it created no Vulkan device under the layer: it does not use Vulkan, or does not use this machine's loader"
                    .to_owned(),
            },
        };
        let program = Path::new(&program[0]).display();
        let ended = self.end.words();
        Error::new(format!("no frame of `{program}` was captured: {ended}: {why}"))
    }

    /// The reason that a frame that was requested by number was not captured, as a clause; `None` if all were.
    fn why_not_captured(&self, documents: &[(u64, PathBuf)]) -> Option<String> {
        let is_captured = |frame: &u64| documents.iter().any(|(number, _)| number == frame);
        let frame = self.requested.clone()?.find(|frame| !is_captured(frame))?;
        let logged = self
            .log
            .iter()
            .find(|line| line.starts_with(&format!("frame {frame} ")));
        let captured = documents.first().map_or(0, |(number, _)| *number);
        Some(match logged {
            Some(line) => line.clone(),
            None if self.requested.clone()?.contains(&captured) => {
                format!("frame {frame} was not captured, because the program ended before it")
            }
            None => format!(
                "frame {frame} was not captured, because the program ended before it; frame {captured} was captured instead"
            ),
        })
    }
}

/// Returns true if a file has the extension of a captured frame; other files are traces.
fn is_document(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Prints and writes the report of a frame that was captured earlier.
fn report_again(arguments: &Arguments, document: &Path) -> Result<()> {
    let of_programs = [
        ("--frames", arguments.frames.is_some()),
        ("--border", arguments.border.is_some()),
        ("--layers", arguments.layers.is_some()),
        ("--timestamps", arguments.timestamps),
    ];
    if let Some((option, _)) = of_programs.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::usage(format!(
            "{option} applies only to running a program, but {} is a captured frame: leave the option out",
            shown(document)
        )));
    }
    let folder = CaptureFolder::open(&arguments.output)?;
    folder.remove_reports()?;
    let written = write_reports(arguments, &[document.to_owned()], &folder, None);
    if written.is_err() {
        folder.remove_empty();
    }
    written
}

/// Plans captured frames, writes `report.html` and `report.json`, prints the reports, and opens the page unless `--no-open` is given or standard output is
/// not a terminal. `outcome` is how the program ended, and the reason that a requested frame was not captured.
fn write_reports(
    arguments: &Arguments,
    documents: &[PathBuf],
    folder: &CaptureFolder,
    outcome: Option<(ProgramEnd, Option<&str>)>,
) -> Result<()> {
    let (mut charts, mut reports) = (Vec::new(), Vec::new());
    for document in documents {
        let (report, drawn) = planned(arguments, document, outcome)?;
        charts.extend(drawn);
        reports.push(report);
    }
    let report = folder.report();
    Output::to(Some(report.clone())).write(&page::page(&charts, &[]))?;
    let json = serde_json::to_string_pretty(&reports).map_err(|error| Error::of("the report", error))?;
    Output::to(Some(folder.report_json())).write(&format!("{json}\n"))?;
    // After the files, because a reader of standard output may close it early.
    let mut text: String = reports.iter().map(CaptureReport::text).collect();
    text += "\nFrames\n";
    for document in documents {
        text += &format!("  {}\n", document.display());
    }
    text += &format!("Report\n  {}\n", report.display());
    Output::stdout().write_report(&text)?;
    if !arguments.no_open && std::io::stdout().is_terminal() {
        open(&report);
    }
    Ok(())
}

/// Plans a captured frame; returns its report and charts.
fn planned(
    arguments: &Arguments,
    document: &Path,
    outcome: Option<(ProgramEnd, Option<&str>)>,
) -> Result<(CaptureReport, Vec<Chart>)> {
    let named = |error: &dyn std::fmt::Display| Error::of(shown(document), error);
    let text_of_document = read_text(document, "captured frame")?;
    // The program need not run on the device that its frame is planned for.
    let options = &FrameOptions {
        ignore_unsupported: true,
        ..arguments.options.clone()
    };
    let frame = FrameArguments {
        frame: document.to_owned(),
        options: options.clone(),
    };
    // The frame is read first, so that errors are those of `tileheap plan`.
    let imported = frame.frame_from(&text_of_document, options.size)?;
    let capture = Capture::from_json(&text_of_document).map_err(|error| named(&error))?;
    let Some(capture) = capture else {
        let text = "not a captured frame, because it has no object `capture`: use `tileheap plan`, which accepts any frame";
        return Err(named(&text));
    };
    let progress = Progress::new("planning", 0);
    let described = options.plan(&imported, &options.read_profile()?)?;
    drop(progress);
    let search = ArrangeOptions::best(arguments.limits.clone());
    let best = search.arrange(options, &imported, &described)?;
    let best = best.expect("a search was requested");
    let ignored = options.ignored_rules(&imported.frame)?;
    let mut report = CaptureReport::new(&described, &best, &capture, &arguments.limits, &ignored)?;
    if let Some((end, not_captured)) = outcome {
        report.set_end(end, not_captured);
    }
    let value = serde_json::to_value(&report).map_err(|error| named(&error))?;
    let page = Chart {
        title: report.title.clone(),
        report: Some(value),
        what: "passes",
        ..Chart::default()
    };
    let mut charts = vec![page];
    for (how, arranged) in [("as it is", None), ("in the best arrangement", Some(&best))] {
        let mut chart = plan::chart(&with_advice(best.described(), arranged, None)?);
        chart.title = format!("{}, {how}", chart.title);
        // Advice is a separate command.
        chart.notes = vec![format!(
            "Sizes and traffic of this plan include the padding of {}; those of the report above do not.",
            described.profile.name
        )];
        charts.push(chart);
    }
    Ok((report, charts))
}

/// The command line that replays a trace with GFXReconstruct.
fn replay_of(trace: &Path) -> Result<Vec<OsString>> {
    fs::metadata(trace).map_err(|error| Error::of(format!("cannot read {}", shown(trace)), error))?;
    let replayer = format!("gfxrecon-replay{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    if !env::split_paths(&path).any(|folder| folder.join(&replayer).is_file()) {
        return Err(Error::new(format!(
            "{} needs `{replayer}`, which is not on the PATH: install GFXReconstruct, which is part of the Vulkan SDK",
            shown(trace)
        )));
    }
    Ok(vec![replayer.into(), trace.into()])
}

/// Opens a page if there is a screen; errors are ignored, because the path of the page was printed.
fn open(page: &Path) {
    let opener = match env::consts::OS {
        "macos" => "open",
        _ if env::var_os("DISPLAY").is_none() && env::var_os("WAYLAND_DISPLAY").is_none() => return,
        _ => "xdg-open",
    };
    let mut command = Command::new(opener);
    command
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _ = command.spawn();
}
