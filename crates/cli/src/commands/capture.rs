//! `tileheap capture`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use clap::{Args, ValueHint};
use tileheap::runtime::detect::enumerate_devices;
use tileheap_capture::document::Capture;
use tileheap_capture::{LAYER, settings};

use crate::captured::CaptureReport;
use crate::error::{self, Error, Result};
use crate::frames::advice::with_advice;
use crate::frames::arrange::{ArrangeOptions, Limits};
use crate::frames::plan::{FrameArguments, FrameOptions};
use crate::input::{read_text, shown};
use crate::layers::{CAPTURE, absolute, as_text, status_of, wait};
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
Exit status: 0 if a frame was captured and planned, whatever the program's own status.

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

/// The report as a page.
const REPORT: &str = "report.html";

/// The report in machine-readable form.
const REPORT_JSON: &str = "report.json";

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
    let created = missing_folders(&arguments.output);
    // Not earlier, because preparing the folder removes earlier captures.
    let folder = prepare(&arguments.output)?;
    command.env(LAYER.variable(settings::FOLDER), &folder);
    let given = options
        .iter()
        .filter_map(|one| Some((LAYER.variable(one.0), one.2.as_ref()?)));
    command.envs(given);
    if arguments.timestamps {
        command.env(LAYER.variable(settings::TIMESTAMPS), "true");
    }
    let ended = wait(&mut command).inspect_err(|_| remove_empty(&folder, &created))?;
    let documents = documents_in(&folder)?;
    if documents.is_empty() {
        let why = why_none(&program, ended, &folder);
        remove_empty(&folder, &created);
        return Err(why);
    }
    if status_of(ended) != 0 {
        error::print(&format!(
            "the program ended with status {}; the frames captured before that are kept",
            status_of(ended)
        ));
    }
    write_reports(arguments, &documents, &folder)
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
    let created = missing_folders(&arguments.output);
    let folder = writable(&arguments.output)?;
    remove_reports(&folder).map_err(|error| cannot_write(&arguments.output, &error))?;
    let written = write_reports(arguments, &[document.to_owned()], &folder);
    written.inspect_err(|_| remove_empty(&folder, &created))
}

/// Plans captured frames, prints their reports, writes `report.html` and `report.json`, and opens the page unless `--no-open` is given or standard output
/// is not a terminal.
fn write_reports(arguments: &Arguments, documents: &[PathBuf], folder: &Path) -> Result<()> {
    let (mut charts, mut reports) = (Vec::new(), Vec::new());
    for document in documents {
        let (report, drawn) = planned(arguments, document)?;
        charts.extend(drawn);
        reports.push(report);
    }
    let report = folder.join(REPORT);
    Output::to(Some(report.clone())).write(&page::page(&charts, &[]))?;
    let json = serde_json::to_string_pretty(&reports).map_err(|error| Error::of("the report", error))?;
    Output::to(Some(folder.join(REPORT_JSON))).write(&format!("{json}\n"))?;
    let frames: Vec<String> = documents.iter().map(|path| path.display().to_string()).collect();
    let (frames, page) = (frames.join("\n  "), report.display());
    Output::stdout().write_report(&format!("\nFrames\n  {frames}\nReport\n  {page}\n"))?;
    if !arguments.no_open && std::io::stdout().is_terminal() {
        open(&report);
    }
    Ok(())
}

/// Plans a captured frame and prints its report; returns the report and its charts.
fn planned(arguments: &Arguments, document: &Path) -> Result<(CaptureReport, Vec<Chart>)> {
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
    let report = CaptureReport::new(&described, &best, &capture, &arguments.limits, &ignored)?;
    Output::stdout().write_report(&report.text())?;
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

/// Creates a folder if necessary, and returns its absolute path; the error names the folder.
fn writable(out: &Path) -> Result<PathBuf> {
    fs::create_dir_all(out).map_err(|error| cannot_write(out, &error))?;
    absolute(out)
}

fn cannot_write(out: &Path, error: &std::io::Error) -> Error {
    Error::new(format!(
        "cannot write captures to `{}`: {error}: choose another folder with -o",
        out.display()
    ))
}

/// Returns a folder and its ancestors up to the first one that exists, which is not included.
fn missing_folders(out: &Path) -> Vec<PathBuf> {
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing = out.ancestors().take_while(is_missing);
    missing.map(Path::to_owned).collect()
}

/// Removes an empty log, and created folders that are empty. Errors are ignored, because the command has already failed.
fn remove_empty(folder: &Path, created: &[PathBuf]) {
    let log = folder.join(settings::LOG);
    if fs::metadata(&log).is_ok_and(|log| log.len() == 0) {
        let _ = fs::remove_file(&log);
    }
    for empty in created {
        let _ = fs::remove_dir(empty);
    }
}

/// Creates the folder if necessary, checks that it is writable, and removes the captures of earlier runs.
fn prepare(out: &Path) -> Result<PathBuf> {
    let folder = writable(out)?;
    let named = |error: std::io::Error| cannot_write(out, &error);
    fs::write(folder.join(settings::LOG), "").map_err(named)?;
    for earlier in documents_in(&folder)? {
        fs::remove_file(earlier).map_err(named)?;
    }
    remove_reports(&folder).map_err(named)?;
    Ok(folder)
}

/// Removes the reports of an earlier run, which must not remain if this one fails.
fn remove_reports(folder: &Path) -> std::io::Result<()> {
    for report in [REPORT, REPORT_JSON] {
        match fs::remove_file(folder.join(report)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the captured frames in a folder, in order of frame and device number.
fn documents_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| Error::of(folder.display(), error))?;
    let mut documents: Vec<(Vec<u64>, PathBuf)> = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let numbers = name
            .strip_prefix("frame-")
            .and_then(|name| name.strip_suffix(".json"));
        if let Some(Ok(numbers)) = numbers.map(|name| name.split("-device-").map(str::parse).collect()) {
            documents.push((numbers, path));
        }
    }
    documents.sort();
    Ok(documents.into_iter().map(|(_, path)| path).collect())
}

/// Creates an error with the likely reason that no frame of a program was captured.
fn why_none(program: &[OsString], ended: ExitStatus, folder: &Path) -> Error {
    let log = fs::read_to_string(folder.join(settings::LOG)).unwrap_or_default();
    let why = match (enumerate_devices(), log.lines().last()) {
        (Err(error), _) => format!("Vulkan does not work on this machine: {error}"),
        (Ok(devices), _) if devices.is_empty() => "this machine has no Vulkan device".to_owned(),
        (Ok(_), Some(last)) => last.to_owned(),
        (Ok(_), None) => {
            "the program created no Vulkan device under the layer: it does not use Vulkan, or does not use this machine's loader"
                .to_owned()
        }
    };
    let (program, status) = (Path::new(&program[0]).display(), status_of(ended));
    Error::new(format!(
        "no frame of `{program}` was captured (exit status {status}): {why}"
    ))
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
