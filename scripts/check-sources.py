#!/usr/bin/env python3
"""check-sources.py [--test]: checks the repository's Rust files for problems that neither the compiler nor clippy finds.

- No file has more than 600 lines.
- No two files of a crate depend on each other, directly or through a cycle: a file depends on another if it names something that the other
  defines, in a `use`, in a path, through a re-export or a glob. Code that is compiled only for tests does not count.
- No let chain (`if let ... && ...`): they are newer than the `rust-version` of the workspace.
- No line of tests/data/damaged_*.json, which list corruptions for the checkers' tests, has more than 160 columns.

--test: plants cycles in sources of its own, and fails unless they are found.
"""
import re
import sys
from pathlib import Path

LONGEST, WIDEST = 600, 160
NAMES = r"\b(?:struct|enum|union|trait|type|fn|const|static|macro_rules!)\s+(?:mut\s+)?(\w+)"


class File:
    """The definitions, modules, imports and mentions of a file; `read` gives a path's text, or None."""

    def __init__(self, path, folder, parent, root, read, files):
        self.path, self.parent, self.root = path, parent, root or self
        files.append(self)
        # Comments, string literals and test modules are not code.
        text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', lambda found: '""' if found[0][0] == '"' else "", read(path))
        text = re.sub(r"#\[cfg\((?:all\()?(?:test|doctest)\b[^\]]*\]\s*(?:pub(?:\([^)]*\))?\s+)?mod \w+(?:;|\s*\{.*?\n\})", "", text, flags=re.S)
        self.defined = set(re.findall(NAMES, text))
        self.imports, self.globs = [], []
        for tree in re.findall(r"\buse\s+([^;]+);", text):
            self.add_use([], re.sub(r"\s+", " ", tree).strip())
        rest = re.sub(r"\buse\s+[^;]+;|pub\(in [^)]*\)", "", text)
        self.mentioned = {tuple(one.split("::")) for one in re.findall(r"(?<![\w:.$])\w+(?:::\w+)+", rest)}
        self.children = {}
        for name in re.findall(r"\bmod (\w+);", text):
            named = re.search(r'#\[path = "([^"]+)"\][^;]*?\bmod ' + name + ";", read(path))
            places = [path.parent / named[1]] if named else [folder / f"{name}.rs", folder / name / "mod.rs"]
            place = next((place for place in places if read(place) is not None), None)
            if place:
                inside = place.parent if named else folder / name
                self.children[name] = File(place, inside, self, self.root, read, files)

    def add_use(self, before, tree):
        head, brace, group = tree.partition("{")
        path = before + [part for part in head.split(" as ")[0].strip().split("::") if part]
        if brace:
            depth, start, inner = 0, 0, group.rstrip().removesuffix("}")
            for at, letter in enumerate(inner + ","):
                depth += (letter == "{") - (letter == "}")
                if letter == "," and depth == 0:
                    if inner[start:at].strip():
                        self.add_use(path, inner[start:at].strip())
                    start = at + 1
        elif path[-1] == "*":
            self.globs.append(path[:-1])
        else:
            path = path[:-1] if path[-1] == "self" and len(path) > 1 else path
            bound = tree.split(" as ")[1].strip() if " as " in tree else path[-1]
            self.imports.append((bound, path))

    def definition(self, path, depth=0):
        """The file and the name that a path in this file means, or None: another crate's, a module, a local."""
        at = {"crate": self.root, "self": self, "super": self.parent}.get(path[0])
        if path[0] in ("crate", "self", "super"):
            return at and at.member(path[1:], depth)
        return self.member(path, depth)

    def is_own(self, name):
        """Returns True if a path that begins with this name may lead into this crate."""
        return name in ("crate", "self", "super") or name in self.children or name in self.defined

    def member(self, path, depth):
        if not path or depth > 32:
            return None
        if path[0] in ("self", "super"):
            at = self if path[0] == "self" else self.parent
            return at and at.member(path[1:], depth)
        # A function may have the same name as a module.
        if path[0] in self.children and (len(path) > 1 or path[0] not in self.defined):
            return self.children[path[0]].member(path[1:], depth)
        if path[0] in self.defined:
            return self, path[0]
        whole = [list(to) + list(path[1:]) for bound, to in self.imports if bound == path[0] and list(to) != [path[0]]]
        whole += [list(to) + list(path) for to in self.globs if self.is_own(to[0])]
        return next(filter(None, (self.definition(path, depth + 1) for path in whole)), None)


def cycles(root, read=lambda path: path.read_text() if path.is_file() else None):
    files = []
    File(root, root.parent, None, None, read, files)
    arrows = {}
    for file in files:
        for path in [path for _, path in file.imports] + sorted(file.mentioned):
            found = file.definition(path)
            if found and found[0].path != file.path:
                arrows.setdefault(file.path, {}).setdefault(found[0].path, set()).add(found[1])

    def behind(start):
        found, waiting = set(), [start]
        while waiting:
            for to in arrows.get(waiting.pop(), {}):
                if to not in found:
                    found.add(to)
                    waiting.append(to)
        return found

    all_behind = {path: behind(path) for path in arrows}
    circles = {frozenset(to for to in reached if start in all_behind.get(to, ())) for start, reached in all_behind.items()}
    for circle in sorted(map(sorted, filter(None, circles))):
        ties = [f"  {a} -> {b}: {', '.join(sorted(arrows[a][b]))}" for a in circle for b in circle if b in arrows.get(a, {})]
        yield "\n".join([f"a cycle of {len(circle)} files:", *ties])


def findings(top):
    packages = [top, top / "examples", *sorted((top / "crates").iterdir())]
    roots = [root for package in packages for root in sorted(package.glob("*/lib.rs")) + sorted(package.glob("*/main.rs"))]
    assert len(roots) > 12, "few crates were found"
    for root in roots:
        yield from cycles(root.relative_to(top) if Path.cwd() == top else root)
    for path in sorted((top / "tests/data").glob("damaged_*.json")):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if len(line) > WIDEST:
                yield f"{path.relative_to(top)}:{number}: {len(line)} columns, {WIDEST} are allowed"
    for path in sorted(top.rglob("*.rs")):
        name = path.relative_to(top)
        if name.parts[0] == "target" or any(part.startswith(".") or part == "target" for part in name.parts):
            continue
        text = path.read_text()
        lines = text.count("\n")
        if lines > LONGEST:
            yield f"{name}: {lines} lines, {LONGEST} are allowed"
        for chain in re.finditer(r"\b(?:if|while)\s+(?:[^{};]*&&\s*let\b|let [^={};]*= [^{};()]*&&)", text):
            yield f"{name}:{text.count(chr(10), 0, chain.start()) + 1}: a let chain"


def test():
    both = "mod a; mod b;"
    planted = [
        (both, "use crate::b::B; pub struct A(B);", "use super::a::A; pub struct B(Option<Box<A>>);"),
        (both, "pub fn one() -> u32 { crate::b::two() }", "pub fn two() -> u32 { super::a::one() }"),
        (both, "use crate::b as other; pub struct A(other::B);", "use crate::a::{self}; pub struct B(Option<Box<a::A>>);"),
        ("mod a; mod b; pub use a::A; pub use b::*;", "use crate::B; pub struct A(B);", "pub struct B(Option<Box<crate::A>>);"),
        (both, 'pub fn one() { println!("{}", crate::b::two()) }', "pub fn two() -> u32 { use crate::a::one; one(); 2 }"),
    ]
    for sources in planted:
        files = dict(zip(map(Path, ("lib.rs", "a.rs", "b.rs")), sources))
        assert len(list(cycles(Path("lib.rs"), files.get))) == 1, sources
    sound = ("mod a; mod b; pub use b::B;", "pub struct A;\n#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}", "use super::a::A; /// [`crate::b::B`]\npub struct B(A);")
    assert not list(cycles(Path("lib.rs"), dict(zip(map(Path, ("lib.rs", "a.rs", "b.rs")), sound)).get))


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(print(__doc__))
    test()
    found = list(findings(Path(__file__).resolve().parent.parent)) if sys.argv[1:] != ["--test"] else []
    print(*found, f"{len(found)} findings", sep="\n")
    sys.exit(bool(found))
