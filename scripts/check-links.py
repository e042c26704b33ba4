#!/usr/bin/env python3
"""check-links.py [FOLDER]: checks that the files and headings that links between Markdown files name exist, and that the files which the tables of
FOLDER/README.md name in their first column exist. Without FOLDER it checks the links of all files that git tracks.
"""

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)")


def text_of(path):
    """The text without code, which has no links."""
    text = re.sub(r"^(```|~~~).*?^\1[^\n]*$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "`", text, flags=re.S)


def anchors(path):
    """The anchors of a file's headings, as GitHub and mdBook name them."""
    text = re.sub(r"^(```|~~~).*?^\1[^\n]*$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    names = set(re.findall(r'(?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#+\s+(.*?)\s*$", text, flags=re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        names.add(slug if slug not in names else f"{slug}-{sum(name.startswith(slug) for name in names)}")
    return names


def dead_links(path):
    for target in LINK.findall(text_of(path)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        goal = path.parent / file if file else path
        if not goal.exists():
            yield f"{target}: no such file"
        elif anchor and goal.suffix == ".md" and anchor not in anchors(goal):
            yield f"{target}: no such heading"


def missing_files(readme):
    for row in re.findall(r"^\| (`[^|]*`) \|", readme.read_text(encoding="utf-8"), flags=re.M):
        for name in re.findall(r"`([^`]+)`", row):
            if not (readme.parent / name).exists():
                yield f"`{name}` is not here"


if sys.argv[1:] in (["-h"], ["--help"]):
    sys.exit(print(__doc__))
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
if len(sys.argv) > 1 and not (folder / "README.md").is_file():
    sys.exit(f"error: {folder} has no README.md")
if len(sys.argv) > 1:
    files = sorted(folder.rglob("*.md"))
    found = [f"README.md: {missing}" for missing in missing_files(folder / "README.md")]
else:
    files = [Path(name) for name in subprocess.check_output(["git", "ls-files", "*.md"], text=True).split()]
    found = []
if not files:
    sys.exit(f"error: {folder} has no Markdown files")


def is_for_rustdoc(path):
    """Documentation of Rust links to items, which rustdoc checks."""
    parts = path.relative_to(folder).parts
    return "src" in parts or parts[:1] + parts[2:3] == ("crates", "docs")


files = [path for path in files if not is_for_rustdoc(path)]
found += [f"{path}: {link}" for path in files for link in dead_links(path)]
print("\n".join(found + [f"{len(found)} dead links in {len(files)} files"]))
sys.exit(bool(found))
