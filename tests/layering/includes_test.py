#!/usr/bin/env python3
"""Proves that the code keeps to the allowed includes and libraries of docs/ARCHITECTURE.md."""

import os
import re
import unittest

import layers
from layers import tidy

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', flags=re.M)
STANDARD = re.compile(r"[a-z_0-9]+")  # <vector>: no dot, no folder
POSIX = ("fcntl.h", "netinet/", "poll.h", "signal.h", "spawn.h", "sys/", "unistd.h")
GENERATED = "trueup/v1/"  # by protoc, from schemas/


def read_allowed():
    """{folder: the folders that it may include, or None for anything}"""
    allowed_by = {}
    for line in layers.block("includes"):
        left, right = line.split("→")
        allowed = None if right.strip() == "anything" else layers.words(right)
        for folder in layers.words(left):
            allowed_by[folder] = allowed
    return allowed_by


def read_libraries():
    """{folder: the prefixes of headers that it may include, or None for anything}"""
    libraries = {}
    for line in layers.block("libraries"):
        left, right = line.split(":")
        allowed = None if right.strip() == "anything" else layers.words(right)
        for folder in layers.words(left):
            libraries[folder] = allowed
    return libraries


def wrong_include(allowed_by, path, included):
    """One sentence if `path` may not include "included", else nothing."""
    own = layers.folders(allowed_by, os.path.dirname(path))
    if own is None:
        return f"{path}: its folder has no line among the allowed includes of {layers.DOCUMENT}"
    rule, folder = own
    if allowed_by[rule] is None:
        return None
    target = "schemas" if included.startswith(GENERATED) else os.path.dirname(included)
    for allowed in [folder, *allowed_by[rule]]:
        if target == allowed or target.startswith(allowed + "/"):
            return None
    may = ", ".join(allowed_by[rule]) or "nothing but itself"
    return f'{path}: "{included}" is not an allowed include; {rule} may include {may}'


def wrong_library(libraries, path, header):
    """One sentence if `path` may not include <header>, else nothing."""
    if STANDARD.fullmatch(header):
        return None
    own = layers.folders(libraries, os.path.dirname(path))
    allowed = libraries[own[0]] if own else []
    if allowed is None:
        return None
    prefixes = [p for word in allowed for p in (POSIX if word == "posix" else (word,))]
    if header.startswith(tuple(prefixes)):
        return None
    may = ", ".join(allowed) or "the C++ standard library only"
    return f"{path}: <{header}> is no library of {own[0] if own else 'its folder'}, which has {may}"


class Includes(unittest.TestCase):
    def setUp(self):
        self.allowed_by = read_allowed()
        self.libraries = read_libraries()

    def test_the_code_keeps_to_the_allowed_includes(self):
        # Of the tests those folders that have a line of their own.
        held = [folder for folder in self.allowed_by if folder.startswith("tests/")]
        self.assertIn("tests/naive", held)
        wrong = []
        for path in tidy.files_of((*tidy.PRODUCT, *held)):
            for quoted, angled in INCLUDE.findall(tidy.read(path)):
                if quoted:
                    wrong.append(wrong_include(self.allowed_by, path, quoted))
                else:
                    wrong.append(wrong_library(self.libraries, path, angled))
        wrong = [sentence for sentence in wrong if sentence]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_quoted_includes_are_files_of_the_repository_by_their_whole_path(self):
        wrong = []
        for path in tidy.product_files():
            for quoted, _ in INCLUDE.findall(tidy.read(path)):
                if quoted and not quoted.startswith(GENERATED):
                    if not os.path.isfile(os.path.join(layers.ROOT, quoted)):
                        wrong.append(f'{path}: "{quoted}"')
        self.assertEqual(wrong, [])

    def test_every_folder_of_the_block_exists(self):
        for name in {*self.allowed_by, *self.libraries} - {"benchmarks"}:
            self.assertTrue(os.path.isdir(os.path.join(layers.ROOT, name.split("/<")[0])), name)

    def test_a_planted_wrong_include_is_found(self):
        for path, included in (
            ("engine/core/fold.cpp", "engine/ports/clock.h"),
            ("tests/naive/naive_policy.h", "engine/core/plan.h"),
            ("tests/naive/naive_policy.h", "tests/engine/core/worlds.h"),
            ("engine/base/id.h", "engine/model/change.h"),
            ("engine/model/change.h", "trueup/v1/change.pb.h"),
            ("connectors/kubernetes/watch.h", "connectors/postgres/lsn.h"),
            ("sandbox/world.h", "engine/codec/text.h"),
            ("apps/config/config.h", "apps/host.h"),
            ("elsewhere/new.cpp", "engine/base/check.h"),
        ):
            with self.subTest(path=path, included=included):
                self.assertIsNotNone(wrong_include(self.allowed_by, path, included))

    def test_a_planted_library_is_found(self):
        for path, header in (
            ("engine/core/fold.cpp", "rocksdb/db.h"),
            ("engine/model/change.h", "spdlog/spdlog.h"),
            ("engine/core/fold.cpp", "unistd.h"),
            ("connectors/kubernetes/watch.h", "libpq-fe.h"),
            ("engine/codec/text.h", "simdjson.h"),
        ):
            with self.subTest(path=path, header=header):
                self.assertIsNotNone(wrong_library(self.libraries, path, header))

    def test_what_is_allowed_is_not_found(self):
        self.assertIsNone(wrong_include(self.allowed_by, "engine/codec/text.h", "trueup/v1/change.pb.h"))
        self.assertIsNone(wrong_include(self.allowed_by, "apps/host.cpp", "sandbox/world.h"))
        self.assertIsNone(wrong_library(self.libraries, "engine/core/fold.cpp", "string_view"))
        self.assertIsNone(wrong_library(self.libraries, "sandbox/json.h", "sys/stat.h"))


if __name__ == "__main__":
    unittest.main()
