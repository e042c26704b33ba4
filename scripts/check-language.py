#!/usr/bin/env python3
"""check-language.py: finds phrases that a native-speaking engineer would not write.

It reads comments and strings of Rust, C, C++, GLSL, Python and shell files, and the prose of Markdown files outside code blocks.
"""
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent

# Phrases that are right where they stand: path, and text around the finding.
ALLOWED = [
    ("docs/guide/capture.md", "behind a"),  # The intent behind a read.
]

# A pattern, and what to write instead. Patterns see whole paragraphs, so that a line break hides nothing.
RULES = [
    (r"(?:^|[.:;] )(?:What|Whether|Why|Who)\b[^.?]*(?:\.|$)", "start with the noun or verb: `Returns true if ...`, `State kept per pass`"),
    (r"(?:^|[.;] )How\b[^.?]*(?:\.|$)", "name the thing: `Number of ...`, `Distance from ...`"),
    (r"(?<!there )(?<!There )\b(?:is|are|was|were) no (?!longer|more|fewer|less|later|earlier|larger|smaller|one\b|such)[a-z]+", "`is not a ...`, `has no ...`"),
    (r"\bbehind (?!a (?:feature|flag|lock|mutex|pointer|reference|branch)|the (?:lock|camera|wall|feature|pointer))\w+", "`after`, `below`, `followed by`"),
    (r"(?<!let )(?<!leave it )(?<!left )(?<!stands )(?<!stand )(?<!run )\balone\b(?=[.;)]|$)", "`only`, before what it restricts"),
    (r"\bso (?:many|much)\b(?! (?:that|as|of))", "give the number, or `that many`"),
    (r"\bnobody\b", "name who: `no pass`, `no user`"),
    (r"\banew\b", "`again`"),
    (r"\bas ever\b", "`as usual`"),
    (r"\bthe own\b", "`its own`"),
    (r"\blives? on\b(?! (?:chip|the chip|in))", "`is used later`"),
    (r"\bgive[sn]? (?:it|them|that|\w+ \w+) back\b", "`returns`, `frees`"),
    (r"\bcomes? out otherwise\b", "`gives a different result`"),
    (r"\b(?:are|is) as good\b", "`works too`"),
    (r"\bknow better\b", "say what the reader can do"),
    (r"\bwhere you\b", "`if you`, `when you`"),
    (r"\bMOST_[A-Z]+", "`MAX_...`"),
]

LINE_COMMENT = {".rs": "//[/!]?", ".h": "//[/!]?", ".hpp": "//[/!]?", ".c": "//[/!]?", ".cpp": "//[/!]?", ".glsl": "//", ".py": "#", ".sh": "#"}
STRING = r'"((?:\\.|[^"\\\n])*)"'


def paragraphs(path, text):
    """Yields (line, paragraph) for each run of comment lines, each string of at least four words and each paragraph of prose."""
    mark = LINE_COMMENT.get(path.suffix)
    start, words, fenced = 0, [], False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        comment = re.match(rf"\s*{mark} ?(?!!)(.*)$", line) if mark else None
        prose = (comment[1] if comment else "") if mark else re.sub(r"^[\s>|]+", "", line)
        fence = prose.lstrip().startswith("```")
        fenced ^= fence
        if words and (fence or fenced or not prose or words[0][0] == "#" or re.match(r"(?:[-*|#]+|\d+\.) ", prose.lstrip())):
            yield start, re.sub(r"`[^`]*`", "`code`", " ".join(words))
            words = []
        if prose and not fence and not fenced:
            start = start if words else number
            words.append(re.sub(r"^(?:[-*|]|\d+\.) ", "", prose.strip()))
        if mark and not comment and path.suffix != ".sh":
            yield from ((number, string[1]) for string in re.finditer(STRING, line) if string[1].count(" ") > 2)


def findings(path, text):
    for line, paragraph in paragraphs(path, text):
        for pattern, advice in RULES:
            for found in re.finditer(pattern, paragraph):
                yield line, found[0].strip(" .;:"), advice


def test():
    bad = "/// What a pass keeps of the frame\n/// alone.\nfn f() { err(\"a copy is no render pass of the frame\") } // fine\n"
    assert [found for _, found, _ in findings(Path("a.rs"), bad)] == ["What a pass keeps of the frame alone", "alone", "is no render"]
    good = "/// State of a pass. There is no other; `what` it is.\n// Why? Because it is no longer used.\n"
    assert not list(findings(Path("a.rs"), good))
    assert [line for line, *_ in findings(Path("a.md"), "# Title\n\n```\nnobody\n```\nFine, but\nnobody reads it.\n")] == [6]


def main():
    failed = 0
    for path in sorted(TOP.rglob("*")):
        name = path.relative_to(TOP)
        is_hidden = any(part.startswith(".") or part == "target" for part in name.parts)
        if path.suffix not in (*LINE_COMMENT, ".md") or is_hidden or path == Path(__file__).resolve():
            continue
        for line, found, advice in findings(path, path.read_text()):
            if not any(str(name) == where and text in found for where, text in ALLOWED):
                failed += 1
                print(f"{name}:{line}: \"{found[:90]}\": {advice}")
    print(f"{failed} findings")
    sys.exit(bool(failed))


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(print(__doc__))
    test()
    main()
