#!/usr/bin/env -S python3 -B
"""Text rules that no compiler checks. Prints `file:line: what is wrong; what to do instead`.

  tidy.py             checks the whole repository; exit 1 if anything is forbidden
  tidy.py FILE...     checks these files only

Forbidden in the pure folders (engine/core, engine/model): unordered containers, floats, mutable
static state. Forbidden in all product code: the standard library's locks, FIXME and TODO, commented-out
code, functions of more than 70 lines. Only warned of: functions of more than 40 lines, long headers and sources.
"""

import os
import re
import sys
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRODUCT = (
    "engine", "projections", "connectors", "executors", "sandbox", "simulation", "api", "apps",
    "benchmarks", "policies", "stories",
)  # fmt: skip
PURE = ("engine/core/", "engine/model/")
FUNCTION_LINES, FUNCTION_AIM = 70, 40
FILE_LINES = {".h": 150, ".cpp": 450}


class Remark(NamedTuple):
    path: str
    line: int
    text: str
    forbidden: bool


class Ban(NamedTuple):
    pattern: str
    instead: str
    pure_only: bool
    homes: tuple[str, ...] = ()  # the files that may


BANS = (
    Ban(r"\bunordered_\w+", "std::map, std::set or a sorted std::vector: the order is replayed", True),
    Ban(r"\b(?:float|double)\b", "integers with a named unit: floats differ between builds", True),
    Ban(r"\bthread_local\b", "a member of the state that is passed in", True),
    Ban(
        r"\bstd::(?:\w*mutex|condition_variable\w*|lock_guard|(?:unique|shared|scoped)_lock)\b",
        "Mutex, MutexLock, CondVar of engine/base/mutex.h: clang checks what they guard",
        False,
        ("engine/base/mutex.h", "engine/base/shared_mutex.h"),
    ),
)
STATIC = re.compile(r"\bstatic\b(?!\s*(?:const|constexpr|constinit|consteval)\b)([^;={(]*)([;={(])")
STATIC_INSTEAD = "a member of the state that is passed in, or constexpr: a replay starts from nothing"
ASIDE = re.compile(  # comments and literals
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'',
    flags=re.S,
)
MARKER = re.compile(r"\b(?:FIXME|TODO|XXX|HACK)\b")
CODE = re.compile(
    r"^(?:return\b[^.]*;|(?:if|for|while|switch) \(.*[{;)]|#\s*include\b.*|else\b.*[{;]|[{}]+;?"
    r"|[\w:<>,&*]+(?: [\w:<>,&*]+)? = [^.]*;|[\w:]+(?:(?:\.|->)\w+)*\([^.]*\);"
    r"|(?:const |auto |std::)[^.]*;)$"
)


def scrub(text):
    """The text without what stands in comments and literals; lines and columns stay."""
    return ASIDE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def comments(text):
    """(line, whether nothing stands before it, words) of each `//` comment."""
    for match in ASIDE.finditer(text):
        if match.group(0).startswith("//"):
            before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            yield line_of(text, match.start()), not before.strip(), match.group(0).lstrip("/!< ")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def functions(code):
    """(first line, lines, name) of each function with a body. `code` is scrubbed.

    A brace that follows a parameter list opens a body; control statements and everything inside
    of a body are left out, so that a lambda counts as part of the function that holds it.
    """
    found, stack, body_depth = [], [], None
    statement = 0  # where the statement that the next brace belongs to begins
    for match in re.finditer(r"[{};]", code):
        at, char = match.start(), match.group(0)
        if char == "{":
            head = code[statement:at]
            opens = re.search(r"\)\s*(?:const|noexcept|override|final|mutable|->\s*[\w:<>,&* ]+|\s)*"
                              r"(?::[^;]*)?$", head)  # fmt: skip
            name = re.search(r"([~\w:]+)\s*\(", head)
            is_body = body_depth is None and opens and name and not re.match(r"\s*namespace", head)
            if is_body:
                body_depth = len(stack)
                start = statement + re.match(r"(?:\s|\w+\s*:(?!:))*", head).end()
                found.append([line_of(code, start), 0, name.group(1)])
            stack.append(at)
        elif char == "}":
            if stack:
                stack.pop()
            if body_depth == len(stack):
                found[-1][1] = line_of(code, at) - found[-1][0] + 1
                body_depth = None
        if body_depth is None or char != "{":
            statement = at + 1
    return found


def check_bans(path, text, code):
    pure = path.startswith(PURE)
    for ban in BANS:
        if (ban.pure_only and not pure) or path in ban.homes:
            continue
        for match in re.finditer(ban.pattern, code):
            yield line_of(code, match.start()), f"`{match.group(0)}`; use {ban.instead}"
    if pure:
        for match in STATIC.finditer(code):
            if match.group(2) != "(":
                yield line_of(code, match.start()), f"mutable static state; use {STATIC_INSTEAD}"


def check_comments(text):
    for number, alone, words in comments(text):
        if MARKER.search(words):
            yield number, "an unfinished-work marker; finish it, or open an issue that says why not"
        elif alone and CODE.match(words.strip()):
            yield number, "commented-out code; delete it, the history keeps it"


def check_text(path, text):
    """All remarks on one file."""
    code = scrub(text)
    remarks = [Remark(path, n, what, True) for n, what in check_bans(path, text, code)]
    remarks += [Remark(path, n, what, True) for n, what in check_comments(text)]
    for number, lines, name in functions(code):
        if lines > FUNCTION_AIM:
            advice = f"{name} has {lines} lines; split it by subject (aim {FUNCTION_AIM}, at most {FUNCTION_LINES})"
            remarks.append(Remark(path, number, advice, lines > FUNCTION_LINES))
    limit = FILE_LINES.get(os.path.splitext(path)[1])
    lines = text.count("\n")
    if limit and lines > limit:
        remarks.append(Remark(path, 1, f"{lines} lines; above {limit}, split by subject", False))
    return remarks


def product_files():
    """Repository paths of all C++ files of the product, sorted."""
    return files_of(PRODUCT)


def files_of(folders):
    """Repository paths of all C++ files of these folders and those below them, sorted."""
    found = []
    for folder in folders:
        for here, _, names in os.walk(os.path.join(ROOT, folder)):
            paths = (os.path.join(here, name) for name in names if name.endswith((".h", ".cpp")))
            found += (os.path.relpath(path, ROOT) for path in paths)
    return sorted(found)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def main():
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__.strip())
        return 0
    given = [os.path.relpath(os.path.abspath(path), ROOT) for path in sys.argv[1:]]
    paths = given or product_files()
    remarks = [remark for path in paths for remark in check_text(path, read(path))]
    for remark in remarks:
        print(f"{remark.path}:{remark.line}: {'' if remark.forbidden else 'note: '}{remark.text}")
    forbidden = sum(remark.forbidden for remark in remarks)
    print(f"{len(paths)} files: {forbidden} forbidden, {len(remarks) - forbidden} notes")
    return 1 if forbidden else 0


if __name__ == "__main__":
    sys.exit(main())
