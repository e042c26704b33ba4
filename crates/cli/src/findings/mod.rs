//! The report of `tileheap check-frame` as text.
//!
//! ```text
//! Report ─► header ─► groups of findings ─► accesses that were not checked
//!                       headline: a sentence about the problem
//!                       words: both commands, location, missing dependency
//!                       fixes: the remedy
//! ```

mod fixes;
mod headline;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
mod words;

use tileheap_capture::check::finding::{Certainty, CheckReport, Finding, UncheckedAccesses};

use crate::values::{counted, grouped, has_long_plural};

use words::{Row, cause, clean, command, is_alias, overlap};

/// Maximum number of columns of a line.
const WIDTH: usize = 160;
/// The column at which the details of a finding begin, after their labels.
const DETAILS: usize = 14;

/// The report of a frame. Pedantic findings are only counted unless `listed` is true.
pub(crate) fn text(frame: &str, report: &CheckReport, listed: bool) -> String {
    let mut text = header(frame, report, listed);
    let mut number = 0;
    for (verdict, title) in [
        (
            Certainty::Certain,
            "Certain: the specification forbids it, and contents can be wrong",
        ),
        (
            Certainty::Pedantic,
            "Pedantic: the specification requires a dependency that no known implementation needs",
        ),
        (
            Certainty::Possible,
            "Possible: whether it is an error depends on something unknown",
        ),
    ] {
        let group: Vec<&Finding> = of_verdict(report, verdict).collect();
        if group.is_empty() || (verdict == Certainty::Pedantic && !listed) {
            continue;
        }
        text += &format!("\n{title}\n");
        for finding in group {
            number += 1;
            write_finding(&mut text, number, finding);
        }
    }
    write_unchecked(&mut text, &report.unchecked);
    text
}

/// The findings with this verdict.
pub(crate) fn of_verdict(report: &CheckReport, verdict: Certainty) -> impl Iterator<Item = &Finding> {
    let findings = report.findings.iter();
    findings.filter(move |finding| finding.verdict == verdict)
}

/// The number of findings by verdict, in words; `None` if there are none. Pedantic findings are left out unless `listed` is true.
pub(crate) fn counts(report: &CheckReport, listed: bool) -> Option<String> {
    let mut counts = Vec::new();
    for (verdict, word) in [
        (Certainty::Certain, "certain finding"),
        (Certainty::Pedantic, "pedantic finding"),
        (Certainty::Possible, "possible finding"),
    ] {
        let count = of_verdict(report, verdict).count() as u64;
        if count > 0 && (verdict != Certainty::Pedantic || listed) {
            counts.push(counted(count, word));
        }
    }
    (!counts.is_empty()).then(|| counts.join(", "))
}

fn header(frame: &str, report: &CheckReport, listed: bool) -> String {
    let title = format!(
        "Frame `{}`: {}, {}, {}",
        clean(frame),
        counted(report.command_buffers, "command buffer"),
        counted(report.commands, "command"),
        counted(report.checked, "checked access"),
    );
    let mut text = wrapped("", 2, &title);
    text += &wrapped("  ", 2, &summary(report, listed));
    let pedantic = of_verdict(report, Certainty::Pedantic).count() as u64;
    if pedantic > 0 && !listed {
        let number = counted(pedantic, "pedantic finding");
        text += &wrapped("  ", 2, &format!("{number}, listed with --pedantic"));
    }
    text
}

/// The first line after the title.
fn summary(report: &CheckReport, listed: bool) -> String {
    if report.checked == 0 {
        return NOTHING_CHECKED.to_owned();
    }
    if let Some(counts) = counts(report, listed) {
        return counts;
    }
    let has_gaps = report.unchecked.iter().any(|one| !one.always);
    let nothing = match (report.findings.is_empty(), has_gaps) {
        (true, false) => {
            return "every access inside the frame is ordered, and all contents that it reads are defined"
                .to_owned();
        }
        (true, true) => "nothing found",
        (false, _) => "no certain or possible finding",
    };
    match has_gaps {
        true => format!(
            "{nothing} in the {} that could be checked; the others are listed below",
            counted(report.checked, "access")
        ),
        false => nothing.to_owned(),
    }
}

/// The summary of a frame without a single access that could be checked.
pub(crate) const NOTHING_CHECKED: &str = "nothing was checked: no access of the frame could be followed";

fn write_finding(text: &mut String, number: u64, finding: &Finding) {
    let more = match finding.count {
        0 | 1 => String::new(),
        count => format!(" (and {} more like it)", grouped(count - 1)),
    };
    let headline = headline::headline(finding);
    *text += &wrapped(&format!("{number:>3}. "), 5, &format!("{headline}{more}"));
    for (label, details) in details(finding) {
        *text += &wrapped(&format!("     {label:<9}"), DETAILS, &details);
    }
}

/// The details of a finding, in the order in which they are printed.
fn details(finding: &Finding) -> Vec<Row> {
    let (first, second) = (finding.first.as_ref(), &finding.second);
    let mut rows = Vec::new();
    rows.extend(first.map(|first| ("first", command(first, true))));
    rows.push(("second", command(second, first.is_none() || is_alias(finding))));
    rows.push(("where", overlap(finding)));
    rows.push(cause(finding));
    rows.extend(finding.unknown.as_deref().map(|text| ("unknown", clean(text))));
    rows.extend(fixes::fix(finding).map(|text| ("fix", text)));
    let section = format!("\"{}\" in the Vulkan specification", finding.section);
    rows.push(("section", section));
    rows.extend(finding.vuid.clone().map(|vuid| ("vuid", vuid)));
    rows
}

/// Writes the accesses that were not checked: first the gaps in this check, then the limits of every check.
fn write_unchecked(text: &mut String, unchecked: &[UncheckedAccesses]) {
    if unchecked.is_empty() {
        return;
    }
    *text += "\nNot checked\n";
    let (limits, gaps): (Vec<_>, Vec<_>) = unchecked.iter().partition(|one| one.always);
    for one in gaps.into_iter().chain(limits) {
        *text += &wrapped("  ", 4, &gap(one));
    }
}

/// Describes accesses that were not checked: ``12 commands access memory by buffer device addresses (first: command 3 of `cull`; any of 4 resources)``.
fn gap(one: &UncheckedAccesses) -> String {
    let what = clean(&one.what);
    let what = match one.count {
        0 => what,
        1 => format!("1 {}", singular(&what)),
        count => format!("{} {what}", grouped(count)),
    };
    let mut details = Vec::new();
    match (&*one.first, one.count) {
        ("", _) => {}
        (first, 0 | 1) => details.push(clean(first)),
        (first, _) => details.push(format!("first: {}", clean(first))),
    }
    details.extend(resources(one));
    match details.is_empty() {
        true => what,
        false => format!("{what} ({})", details.join("; ")),
    }
}

/// The resources that unchecked accesses may refer to: ``resources `a`, `b` and 2 others``, or `any of 4 resources` if none is named.
fn resources(one: &UncheckedAccesses) -> Option<String> {
    let quoted = |name: &String| format!("`{}`", clean(name));
    let mut names: Vec<String> = one.resources.iter().map(quoted).collect();
    let others = one.resource_count.saturating_sub(names.len() as u64);
    if names.is_empty() {
        return (others > 0).then(|| format!("any of {}", counted(others, "resource")));
    }
    if others > 0 {
        names.push(counted(others, "other"));
    }
    let last = names.pop()?;
    Some(match names.len() {
        0 => format!("resource {last}"),
        _ => format!("resources {} and {last}", names.join(", ")),
    })
}

/// Adapts words that follow a number to the number 1: `commands access memory` becomes `command accesses memory`.
fn singular(words: &str) -> String {
    let mut parts = words.splitn(3, ' ');
    let (noun, verb, rest) = (parts.next().unwrap_or(""), parts.next(), parts.next());
    let stem = noun.strip_suffix("es").filter(|stem| has_long_plural(stem));
    let Some(noun) = stem.or(noun.strip_suffix('s')) else {
        return words.to_owned();
    };
    let verb = verb.map(|verb| match verb {
        "are" => " is".to_owned(),
        "were" => " was".to_owned(),
        "have" => " has".to_owned(),
        // Modal verbs and participles are unchanged.
        "may" | "can" | "could" | "of" | "in" | "that" => format!(" {verb}"),
        verb if verb.ends_with("ed") => format!(" {verb}"),
        verb if has_long_plural(verb) => format!(" {verb}es"),
        verb => format!(" {verb}s"),
    });
    let rest = rest.map(|rest| format!(" {rest}"));
    format!("{noun}{}{}", verb.unwrap_or_default(), rest.unwrap_or_default())
}

/// Breaks `text`, after `start`, into lines of at most [`WIDTH`] columns; later lines are indented.
fn wrapped(start: &str, indent: usize, text: &str) -> String {
    let (mut lines, mut line, mut length) = (String::new(), start.to_owned(), start.chars().count());
    let mut is_empty = true;
    let mut pending: Vec<&str> = text.split(' ').rev().collect();
    while let Some(word) = pending.pop() {
        let space = usize::from(!is_empty);
        let columns = word.chars().count();
        if length + space + columns <= WIDTH {
            line.extend((!is_empty).then_some(' '));
            line += word;
            (length, is_empty) = (length + space + columns, false);
        } else if is_empty {
            // Longer than a line.
            let at = word
                .char_indices()
                .nth(WIDTH - length)
                .map_or(word.len(), |(at, _)| at);
            let (part, rest) = word.split_at(at);
            line += part;
            pending.push(rest);
            (length, is_empty) = (WIDTH, false);
        } else {
            pending.push(word);
            lines += line.trim_end();
            lines.push('\n');
            (line, length, is_empty) = (" ".repeat(indent), indent, true);
        }
    }
    lines + line.trim_end() + "\n"
}
