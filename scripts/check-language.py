#!/usr/bin/env python3
"""check-language.py [PATH]...: finds phrases that a native-speaking engineer would not write, in all files of the repository or in PATHs.

It reads comments and, except in shell files, one-line strings of at least four words, in Rust, C, C++, GLSL, Python, shell and TOML files, and the prose of Markdown files outside code
blocks. RULES has the patterns, each with a better wording. If a phrase is right where it stands, add it to ALLOWED, with the reason.
In the code of Rust files it also finds identifiers listed in RETIRED: names that were replaced in earlier versions.
Exit status: 0 without findings, 1 with some, 2 for an unknown path.
"""
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent

# Phrases that are right where they stand: path, and a part of the paragraph.
ALLOWED = []

# A pattern, and what to write instead. Patterns see whole paragraphs, so that a line break hides nothing.
RULES = [
    (r"(?:^|(?<=[.:;] ))(?:What|Whether|Who)\b[^.?]*(?:\.|$)", "start with the noun or verb: `Returns true if ...`, `State kept per pass`"),
    (r"(?:^|(?<=[.:;] ))(?:Why|How) (?!not\b)[^.?:]*(?:\.|$)", "name the thing: `Number of ...`, `Distance from ...`, `The reason ...`"),
    (
        r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer|more|fewer|less|later|earlier|larger|smaller|one\b|such|different|good|need|problem)[a-z]+",
        "`is not a ...`, `has no ...`",
    ),
    (r"\bbehind(?:[.,;)]| (?:another|one|it|them|each|all|everything|that|those|which|its|their)\b)", "`after`, `below`, `followed by`"),
    (r"(?<![-\w])(?<!let )(?<!leave it )(?<!left )(?<!stands )(?<!stand )(?<!run )alone(?=[.;)]|$)", "`only`, before what it restricts"),
    (r"\bso (?:many|much)\b(?! (?:that|as|of))", "give the number, or `that many`"),
    (r"\banew\b", "`again`"),
    (r"\bas ever\b", "`as usual`"),
    (r"\bthe own\b", "`its own`"),
    (r"\blives? on\b(?! (?:chip|the chip|in))", "`is used later`"),
    (r"\bgive[sn]? (?:it|them|that|\w+ \w+) back\b", "`returns`, `frees`"),
    (r"\bcomes? out otherwise\b", "`gives a different result`"),
    (r"\b(?:are|is) as good\b(?! as)", "`works too`"),
    (r"\bknow better\b", "say what the reader can do"),
    (r"\bMOST_[A-Z]+", "`MAX_...`"),
    (r"(?i)\bwho lives where\b", "`placement`"),
    (r"(?i)\bwhat(?:ever)? is asked of (?:it|them)\b", "name the limit"),
    (r"(?i)\bcome and go at random\b", "`are toggled at random`"),
    (r"(?i)\bmust live in tile memory and cannot\b", "`cannot be placed in tile memory: <rule>`"),
    (r"(?i)\bso bind little\b", "`keep bindings small`"),
    (r"(?i)\bhow far they look\b", "`how far from the pixel they read`"),
    (r"(?i)\bwhat is left to \w+ is\b", "`<it> only handles ...`"),
    (r"(?i)\b(?:who borrows|(?:nobody|no one) has borrowed)\b", "`the next user`, `unused for ...`"),
    (r"(?i)\baliases all others\b", "`packs everything else into shared memory`"),
    (r"(?i)\breserved for nothing\b", "`reserved but unused`"),
    (r"(?i)\btakes? turns\b(?= with (?:it|them|others)\b)", "`alternates`"),
]

# Identifiers of earlier versions, and what to write instead.
RETIRED = {
    "Errand": "OneShotCommands",
    "Found": "say of what: Finding, Hazards",
    "HandOver": "Aliasing",
    "NotWorth": "CostExceedsSavings",
    "Overwrite": "DontCare",
    "Quest": "SearchState",
    "Said": "ReportedOnce",
    "Thing": "StorageObject",
    "Turn": "FrameRecorder, or a guard of what it holds",
    "Way": "say of what: GraphPath",
    "books": "pool_policy",
    "culprits": "infeasible_subset",
    "harm": "binning_cost",
    "lending": "external_buffers",
    "life": "lifetime",
    "life_of": "lifetime_of",
    "lives": "lifetimes",
    "news_of": "needs_check",
    "whereabouts": "locations",
    "worth": "savings",
} | dict.fromkeys(("Choice", "Reason"), "a name that says of what")

SLASHES, HASH = r"(?://[/!]?|/\*+|\*(?!/))", "#"
MARKS = {suffix: SLASHES for suffix in (".rs", ".h", ".hpp", ".c", ".cpp", ".glsl", ".comp", ".vert", ".frag")}
MARKS |= {suffix: HASH for suffix in (".py", ".sh", ".toml")}
STRING = r'"((?:\\.|[^"\\\n])*)"'
ITEM = r"(?:[-*|#]+|\d+\.) "


def paragraphs(suffix, text):
    """Yields lists of (line, text), one for each run of comment lines, string of at least four words, and paragraph of prose."""
    mark, pieces, fenced = MARKS.get(suffix), [], False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        comment = re.match(rf"\s*{mark} ?(?!!)(.*?)(?:\*/)?$", line) if mark else None
        prose = (comment[1] if comment else "") if mark else re.sub(r"^[\s>|]+", "", line)
        fence = prose.lstrip().startswith("```")
        fenced ^= fence
        if pieces and (fence or fenced or not prose or pieces[0][1][0] == "#" or re.match(ITEM, prose.lstrip())):
            yield pieces
            pieces = []
        if prose.strip() and not fence and not fenced:
            pieces.append((number, re.sub(rf"^(?!#){ITEM}", "", prose.strip())))
        if mark and not comment and suffix != ".sh":
            yield from ([(number, string[1])] for string in re.finditer(STRING, line) if string[1].count(" ") > 2)


def findings(suffix, text):
    """Yields (line, phrase, advice, paragraph)."""
    for pieces in paragraphs(suffix, text):
        paragraph = " ".join(piece for _, piece in pieces)
        # Code is not prose; equally long, so that places stay.
        prose = re.sub(r"`[^`]*`", lambda code: "`" + "c" * (len(code[0]) - 2) + "`", paragraph)
        for pattern, advice in RULES:
            for found in re.finditer(pattern, prose):
                lines = [line for index, (line, _) in enumerate(pieces) if sum(len(p) + 1 for _, p in pieces[:index]) <= found.start()]
                yield lines[-1], found[0].strip(" .;:"), advice, paragraph


def retired(text):
    """Yields (line, name, advice) for each retired identifier in the code of a Rust file."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])
    code = re.sub(r'//[^\n]*|/\*.*?\*/|r(#+)".*?"\1|"(?:\\.|[^"\\])*"', blank, text, flags=re.S)
    for found in re.finditer(rf"\b(?:{'|'.join(RETIRED)})\b", code):
        yield code.count("\n", 0, found.start()) + 1, found[0], RETIRED[found[0]]


def test():
    bad = "/// What a pass keeps of the frame\n/// alone.\nfn f() { err(\"a copy is no render pass of the frame\") } // fine\n/** Bound anew. */\n"
    found = [(line, phrase) for line, phrase, *_ in findings(".rs", bad)]
    assert found == [(1, "What a pass keeps of the frame alone"), (2, "alone"), (3, "is no render"), (4, "anew")], found
    good = "/// State of a pass. There is no other; `what` it is.\n// Why? Because it is no longer used.\n// Hidden behind a trait, one frame behind the GPU.\n"
    assert not list(findings(".rs", good))
    assert [line for line, *_ in findings(".md", "# What is new\n\n```\nanew\n```\nFine, but\nbound anew.\n")] == [7]
    code = 'struct Turn; // Quest\nfn f(turn: &MyTurn) { life("worth", r#"Said"#); }\n/* Way\n*/ type Way = u32;\n'
    assert [found[:2] for found in retired(code)] == [(1, "Turn"), (2, "life"), (4, "Way")]
    assert len(list(findings(".rs", "// Who lives where, in parts that come\n// and go at random.\n"))) == 3


def main(paths):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *paths], cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\n")
    files = [name for name in listed if name and Path(name).suffix in (*MARKS, ".md") and (TOP / name).is_file()]
    if paths and not files:
        print(f"no file to check: {', '.join(paths)}", file=sys.stderr)
        return 2
    count = 0
    for name in sorted(set(files) - {str(Path(__file__).resolve().relative_to(TOP))}):
        text = (TOP / name).read_text(errors="replace")
        for line, identifier, advice in retired(text) if name.endswith(".rs") else ():
            count += 1
            print(f"{name}:{line}: `{identifier}`: {advice}")
        for line, phrase, advice, paragraph in findings(Path(name).suffix, text):
            if not any(name == where and part in paragraph for where, part in ALLOWED):
                count += 1
                print(f'{name}:{line}: "{phrase[:90]}": {advice}')
    print(f"{count} findings")
    return int(count > 0)


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(print(__doc__))
    test()
    sys.exit(main(sys.argv[1:]))
