"""What the layering tests share: the repository's files and the blocks of docs/ARCHITECTURE.md."""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))

import tidy  # noqa: E402  pylint: disable=wrong-import-position

DOCUMENT = "docs/ARCHITECTURE.md"


def block(name):
    """The lines of the fenced block ```name of the architecture page."""
    found = re.search(rf"^```{name}\n(.*?)^```$", tidy.read(DOCUMENT), flags=re.M | re.S)
    if not found:
        raise AssertionError(f"{DOCUMENT} has no block ```{name}")
    return [line for line in found.group(1).splitlines() if line.strip()]


def words(text):
    return [word.strip() for word in text.split(",") if word.strip()]


def folders(names, path_of_folder):
    """The rule's left side that covers a folder: the longest that matches, `<one>` is any name."""
    best = None
    for name in names:
        pattern = re.escape(name).replace(re.escape("<one>"), r"[^/]+")
        match = re.match(rf"{pattern}(?=/|$)", path_of_folder)
        if match and (best is None or len(match.group(0)) > len(best[1])):
            best = (name, match.group(0))
    return best
