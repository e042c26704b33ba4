#!/usr/bin/env python3
"""programs-page.py FINDINGS RESULTS NAME...: prints docs/programs.md from the results of scripts/test-programs.sh.

RESULTS is the folder of the results. For each program it has NAME.facts, the captured frame that this file names, and the report of that frame for
each profile, NAME.PROFILE/report.json; for further devices of the program, NAME-device-N.facts and so on. Programs without them are left out.
FINDINGS is docs/programs/findings.md.
"""
import json
import subprocess
import sys
from pathlib import Path

DEVICES = {"adreno-830": "Adreno 830", "adreno-840": "Adreno 840", "x2-85": "X2-85"}
# The sentences of the page describe the plans of this device.
FIRST = "adreno-830"

INTRODUCTION = """# Other people's programs

Written by `scripts/test-programs.sh --page` from runs {when}, on lavapipe {drivers}: one captured frame of each
(for programs that present nothing, one submit; for pygfx three, for ffmpeg and libplacebo eight), at 1920x1080 where the program allows it.
`tileheap capture -- PROGRAM` writes the same report for any program.

## Estimated gains from the changes

- *Traffic*: bytes that a frame moves to and from memory. *Followed*: the share of the accessed bytes that was followed; below 95 %, what is missing.
- *Required*: the part of the traffic that has to reach memory: presented images, textures and vertices that are read, and contents that are needed
  after the frame, or may be. No placement removes it.
- Under each device: the share of the traffic that the proposed changes remove, and in parentheses the share of what is not required.

"""

BEHAVIOUR = """## Under the layers

- *Compared*: what is compared with a run without layers, standard output (checksums of pictures or numbers) or, where there is none, the
  exit status; then whether it is the same under the capture layer, under the aliasing layer, and on the emulator's profile `hostile`.
- *check-frame*: what `tileheap check-frame --pedantic` finds in the first 60 submits, by cause: certain, possible and pedantic,
  each explained below; then the number of checked accesses, except accesses to external memory, such as most of ffmpeg's.
- *aliasing layer*: what `tileheap run --layer aliasing` reports, if any resources share bytes of memory.

"""

RUNS = """## The runs

- godot and godot_mobile render a scene of ours, Forward+ and Mobile, with shadows, ambient occlusion, screen-space reflections, glow and fog.
  wgpu_deferred is a deferred renderer of ours on wgpu: shadow map, G-buffer, ambient occlusion, reflections, bloom. qt is a scene of Qt Quick 3D, gtk is
  gtk4-demo's `transparent`, rerun shows a recording of points, boxes and a picture.
- sdl_clear, sdl_cube and sdl_effects are SDL 3's testgpu_simple_clear, testgpu_spinning_cube and testgpurender_effects; vkd3d is vkd3d-gears; placebo is
  ffmpeg's filter `libplacebo`; dawn is npm's `webgpu`.
- glmark2 runs on zink with ZINK_DESCRIPTORS=lazy: by default zink uses descriptor buffers, which are counted and not followed.
- chromium is Debian's, with a page of WebGL 1 at 1920x1080 and without a screen, on the lavapipe named above. Its first device is ANGLE's;
  `chromium-device-1` is that of its compositor, on Vulkan with `--enable-features=Vulkan`. ANGLE's release libraries are compared picture by
  picture on the emulator by `scripts/test-angle.sh`.

The findings apply to the versions in the table. Each was verified against the specification and compared with synchronization validation of the same
program (layers 1.4.363, across submits, with its heuristic for shader accesses) before publication. None of them is visible in a picture here.

"""


def amount(count):
    """A number of bytes, as the command prints it."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            tenths = (10 * count + scale // 2) // scale
            return f"{tenths / 10:.1f}".removesuffix(".0") + f" {unit}"
    return f"{count} B"


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def removed(report):
    """The share of the traffic that the changes remove, and the share of what is not required."""
    now, required = report["now_bytes"], report["required_bytes"]
    saved = now - report["proposed_bytes"]
    if now == required:
        return "all is required"
    return f"{percent(saved, now)} ({percent(saved, now - required)})"


def summary(programs):
    """The number of frames of which the changes remove a quarter or more, and of those that need all of their traffic."""
    reports = [one.report for one in programs]
    quarter = sum(4 * (one["now_bytes"] - one["proposed_bytes"]) >= one["now_bytes"] for one in reports)
    required = sum(one["now_bytes"] == one["required_bytes"] for one in reports)
    return (
        f"On {DEVICES[FIRST]}, the changes remove a quarter or more of the traffic of {quarter} of {len(reports)} frames; {required} frames need all of\n"
        "theirs in memory.\n\n"
    )


def followed(capture):
    """The share of the accessed bytes that was followed, and what is missing below 95 %."""
    missing = capture["unresolved"]
    names = ", ".join(f"{one['kind'].replace('_', ' ')} ({one['first']})" for one in missing)
    if any(one.get("bytes") is None for one in missing):
        return "not known, but for " + names
    bytes_of = capture["followed_bytes"]
    share = bytes_of / ((bytes_of + sum(one["bytes"] for one in missing)) or 1) if missing else 1
    return f"{100 * share:.0f} %" + (f", but for {names}" if share < 0.95 else "")


def limits(report):
    """The reasons for the traffic that stays, those of 5 % or more."""
    told = [one for one in report["stays"] if one["bytes"] * 20 >= report["now_bytes"]]
    return "; ".join(f"{amount(one['bytes'])} {one['why']}" for one in told) or "nothing of 5 % or more stays"


def first_change(report):
    """The change that saves most."""
    for change in report["changes"]:
        saves, frees = change["saves_bytes"], change.get("frees_bytes", 0)
        gain = f"saves {amount(saves)} per frame" if saves else f"frees {amount(frees)} of memory"
        return f"{change['title']}: {gain}, {change['helps']}"
    return "none"


def described(report):
    """The changes of usages, formats and extents, as a sentence; empty if there are none."""
    changes = report["description_changes"]
    if not changes["changes"]:
        return ""
    return f"\n  *Changes to usages, formats and extents*: {amount(changes['saves_bytes'])} more, first {changes['changes'][0]}."


class Program:
    """The results of one program."""

    def __init__(self, results, name):
        lines = (results / f"{name}.facts").read_text().splitlines()
        self.name, self.facts = name, dict(line.split(": ", 1) for line in lines)
        self.document = json.loads(Path(self.facts["frame"]).read_text())
        reports = {device: results / f"{name}.{device}/report.json" for device in DEVICES}
        missing = [str(report) for report in reports.values() if not report.exists()]
        if missing:
            sys.exit(f"error: {name} has no report in {', '.join(missing)}")
        self.reports = {device: json.loads(report.read_text())[0] for device, report in reports.items()}
        self.report = self.reports[FIRST]

    def figures(self):
        passes = len(self.document["capture"]["passes"])
        now, required = self.report["now_bytes"], self.report["required_bytes"]
        shares = " | ".join(removed(report) for report in self.reports.values())
        return f"| {self.name} | {passes} | {amount(now)} | {followed(self.document['capture'])} | {percent(required, now)} | {shares} |"

    def sentences(self):
        report = self.report
        text = f"- **{self.name}**. {report['verdict']}\n  *Limits*: {limits(report)}.\n  *First change*: {first_change(report)}."
        return text + described(report)

    def behavior(self):
        return f"| {self.name} | {self.facts['version']} | {self.facts['compared']} | {self.facts['checks']} |"


def main():
    arguments = sys.argv[1:]
    if "--help" in arguments or "-h" in arguments:
        return print(__doc__)
    if len(arguments) < 3:
        sys.exit(__doc__)
    findings, results, *names = arguments
    results = Path(results)
    rows = [file for name in names for pattern in (name, f"{name}-device-*") for file in sorted(results.glob(f"{pattern}.facts"))]
    programs = [Program(results, file.stem) for file in rows]
    if not programs:
        sys.exit(f"error: {results} has no results: scripts/test-programs.sh makes them")
    dates = sorted({one.facts["date"] for one in programs})
    when = f"on {dates[0]}" if len(dates) == 1 else f"between {dates[0]} and {dates[-1]}"
    drivers = ", ".join(sorted({one.facts["driver"] for one in programs}))
    page = INTRODUCTION.format(when=when, drivers=drivers)
    page += summary(programs)
    page += f"| program | passes | traffic | followed | required | {' | '.join(DEVICES.values())} |\n|---|---|---|---|---|---|---|---|\n"
    page += "\n".join(one.figures() for one in programs)
    page += f"\n\nOn {DEVICES[FIRST]}:\n\n" + "\n".join(one.sentences() for one in programs) + "\n\n"
    page += BEHAVIOUR + "| program | version | compared, capture, aliasing, hostile | check-frame | aliasing layer |\n|---|---|---|---|---|\n"
    page += "\n".join(one.behavior() for one in programs if one.name in names) + "\n\n" + RUNS
    verified = [sys.executable, str(Path(__file__).with_name("verified-findings.py")), "--text", findings, str(results)]
    text = subprocess.run([*verified, *(one.name for one in programs)], check=True, capture_output=True, text=True).stdout
    print(page + text.rstrip())


main()
