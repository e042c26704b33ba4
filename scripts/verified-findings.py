#!/usr/bin/env python3
"""verified-findings.py FINDINGS RESULTS NAME...: selects the findings about third-party programs that may be published.

A finding is published only if an entry in FINDINGS (docs/programs/findings.md) explains it. All others count as "not verified yet", and their
keys are printed to standard error. RESULTS is the folder of scripts/test-programs.sh. With one NAME, prints the two cells of its table row.
With --text before the names, prints the entries that they match.

An entry begins with a heading, and has the keys of the findings that it is about in comments:

    <!-- finding: qt | certain not_visible | vkCmdPipelineBarrier transition -> vkCmdBeginRenderPass COLOR_ATTACHMENT_READ | R16_SFLOAT -->
    <!-- finding: glmark2 | aliasing TILEHEAP-possible-contents | vkCmdDraw -->
"""
import json
import re
import sys
from pathlib import Path

VERDICTS = {"certain": "certain", "possible": "possible", "pedantic": "pedantic"}


def entries_of(path):
    """The entries as pairs of their keys and their text."""
    parts = re.split(r"^(?=## )", path.read_text(), flags=re.MULTILINE)
    comment = re.compile(r"<!-- finding: (.*?) -->\n+")
    return [(set(comment.findall(part)), comment.sub("", part).strip()) for part in parts[1:]]


def action(use):
    """The action of a command: an access type, or another name such as `transition`."""
    what = use["action"]
    if isinstance(what, str):
        return what
    (kind,) = what.values()
    return "|".join(name.removeprefix("VK_ACCESS_2_").removesuffix("_BIT") for name in kind["access"])


def key(program, finding):
    """The key of a finding of check-frame."""
    problem = finding["problem"]
    if not isinstance(problem, str):
        (problem,) = problem
    first, second = finding.get("first"), finding["second"]
    before = f"{first['call']} {action(first)} -> " if first else ""
    what = second["description"].split(",")[0]
    return f"{program} | {finding['verdict']} {problem} | {before}{second['call']} {action(second)} | {what}"


def checked(results, program):
    """The accesses that check-frame judged, and the verdicts of findings by their keys."""
    path = results / f"{program}.check.json"
    if not path.exists():
        return None, {}
    check = json.loads(path.read_text())
    return check["checked"], {key(program, one): one["verdict"] for one in check["findings"]}


def logged(results, program):
    """A pair: `True` if resources share memory, and the severities of the aliasing layer's messages by key. `None` without a log."""
    path = results / f"{program}.aliasing.jsonl"
    if not path.exists():
        return None
    events = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    messages = [one for one in events if one["event"] == "message"]
    found = {
        f"{program} | aliasing {one['id']} | {(one.get('at') or {}).get('command')}": one["severity"]
        for one in messages
    }
    return any(one["event"] == "shared-memory" for one in events), found


def cells(results, program, keys):
    """The cells of a table row: findings of check-frame, and of the aliasing layer."""

    def counts(found, names):
        for one in sorted(set(found) - keys):
            print(f"not verified yet: {one}", file=sys.stderr)
        known = [verdict for one, verdict in found.items() if one in keys]
        parts = [f"{known.count(verdict)} {name}" for verdict, name in names.items() if verdict in known]
        unknown = len(found) - len(known)
        return ", ".join(parts + [f"{unknown} not verified yet"] * (unknown > 0))

    accesses, found = checked(results, program)
    first = f"{counts(found, VERDICTS) or 'none'} in {accesses:,} accesses" if accesses is not None else "not checked"
    log = logged(results, program)
    if log is None:
        return f"{first} | not run"
    shares, found = log
    names = {severity: severity for severity in sorted(set(found.values()))}
    second = counts(found, names) or "no message"
    return f"{first} | {second if shares else 'nothing shared'}"


def main():
    arguments = sys.argv[1:]
    is_text = "--text" in arguments
    arguments = [one for one in arguments if one != "--text"]
    if "--help" in arguments or "-h" in arguments:
        return print(__doc__)
    if len(arguments) < 3:
        sys.exit(__doc__)
    path, results, *names = arguments
    entries, results = entries_of(Path(path)), Path(results)
    if not is_text:
        print(cells(results, names[0], set().union(*(keys for keys, _ in entries))))
        return
    found = set()
    for name in names:
        found |= set(checked(results, name)[1]) | set((logged(results, name) or (False, {}))[1])
    print("\n\n".join(text for keys, text in entries if keys & found))


main()
