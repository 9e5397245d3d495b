#!/usr/bin/env python3
"""Proves the core pure by what its archives ask of the outside (docs/ARCHITECTURE.md).

A header that reads a clock, a random number or the environment leaves an undefined symbol behind,
whatever way it came in. The one thing that touches the outside is a lost invariant: it writes to
stderr and aborts (engine/base/check.cpp).
"""

import os
import re
import subprocess
import tempfile
import unittest

BANS = (
    (r"_clock::now\(", "time comes in with the journal's records (JournalTime, BrokerTime)"),
    (r"^(?:time|gettimeofday|clock_gettime|clock|localtime(_r)?|gmtime(_r)?)$", "time comes in"),
    (r"random_device|^(?:s?rand(om)?(_r)?|getrandom|getentropy)$", "ids follow from the journal"),
    (r"^(?:secure_)?getenv$|^environ$", "settings are in the journal"),
    (r"^pthread_create$|^std::thread::|std::thread::_M_start_thread|^fork$", "one thread folds"),
    (r"^(?:socket|connect|send|recv|poll|select|epoll_\w+)$", "I/O belongs to an adapter of a port"),
    (r"^(?:f?open(64)?|fread|fwrite|read|write|pread(64)?|pwrite(64)?|getpid)$", "I/O: a port"),
    (r"std::basic_(?:[io]?f?stream|filebuf)<|^std::cout$|^std::filesystem::", "I/O: a port"),
    (r"^(?:printf|puts|putchar)$", "the shell logs; the core reports what happened"),
    (r"^rd_kafka|rocksdb::|google::protobuf|spdlog|^fmt::|^curl_|^PQ[a-z]|simdjson", "a library"),
)
ALLOWED = {"check.cpp.o": {"fprintf", "fwrite", "stderr", "abort"}}
# In a test build a test may switch a guard off, or have the process killed, by the environment.
ALLOWED_MUTANTS = {
    "guard.cpp.o": {"getenv"},
    "failpoint.cpp.o": {"getenv", "fopen"},
}
# What the environment of a test build can throw: engine/base/guard.h and failpoint.h.
SWITCHES = (b"TRUEUP_MUTANT", b"TRUEUP_FAILPOINT")
MUTABLE = re.compile(r"\.(?:bss|tbss|tdata|data)(?:\.(?!rel\.ro)|$)")
FOLDER = tempfile.TemporaryDirectory(prefix="trueup-symbols-")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def nm(path, *options):
    """[(object, rest of line)] of an archive or object."""
    member, found = os.path.basename(path), []
    for line in run(os.environ.get("NM", "nm"), "-C", *options, path).splitlines():
        title = re.fullmatch(r"(?:Symbols from .*\[)?(\S+?\.o)\]?:", line.strip())
        if title:
            member = title.group(1)
        elif line.strip():
            found.append((member, line))
    return found


def outside(path, allowed):
    """Sentences on what an archive asks of the outside and may not."""
    found = []
    for member, line in nm(path, "--undefined-only"):
        symbol = line.split(maxsplit=1)[1] if line.lstrip().startswith(("U ", "w ")) else ""
        symbol = re.sub(r"@.*", "", symbol.strip())
        if symbol in allowed.get(member, ()):
            continue
        for pattern, instead in BANS:
            if re.search(pattern, symbol):
                found.append(f"{os.path.basename(path)}({member}) uses {symbol}: {instead}")
    return found


def mutable_state(path):
    """Names of variables that a second run in one process would find changed."""
    found = []
    for member, line in nm(path, "--defined-only", "-f", "sysv"):
        parts = [part.strip() for part in line.split("|")]
        if parts[0].startswith("DW.ref."):  # a constant that the compiler makes
            continue
        if len(parts) == 7 and parts[3] in ("OBJECT", "TLS") and MUTABLE.match(parts[6]):
            found.append(f"{os.path.basename(path)}({member}): {parts[0]} is mutable and static")
    return found


def planted(source):
    """An object file of a few lines, in the folder of this run."""
    stem = os.path.join(tempfile.mkdtemp(dir=FOLDER.name), "planted")
    with open(stem + ".cpp", "w", encoding="utf-8") as file:
        file.write(source)
    run(os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-c", stem + ".cpp", "-o", stem + ".o")
    return stem + ".o"


class Symbols(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        FOLDER.cleanup()

    def setUp(self):
        self.archives = os.environ.get("TRUEUP_ARCHIVES", "").split(":")
        self.allowed = dict(ALLOWED)
        if os.environ.get("TRUEUP_MUTANTS") == "1":
            self.allowed.update(ALLOWED_MUTANTS)

    def test_the_archives_ask_nothing_of_the_outside(self):
        for archive in self.archives:
            self.assertTrue(os.path.exists(archive), f"{archive} is not built")
            self.assertGreater(len(nm(archive, "--undefined-only")), 0, archive)
            found = outside(archive, self.allowed)
            self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_the_archives_hold_no_mutable_state(self):
        if os.environ.get("TRUEUP_SANITIZE") or os.environ.get("TRUEUP_MUTANTS") == "1":
            return  # those builds add state of their own; the release build is asked
        for archive in self.archives:
            self.assertEqual(mutable_state(archive), [])

    def test_a_product_build_has_no_switches(self):
        with open(os.environ["TRUEUP_BINARY"], "rb") as file:
            binary = file.read()
        wanted = os.environ.get("TRUEUP_MUTANTS") == "1"
        for switch in SWITCHES:
            self.assertEqual(switch in binary, wanted, switch)

    def test_planted_calls_are_found(self):
        for headers, body in (
            ("chrono", "return std::chrono::steady_clock::now().time_since_epoch().count();"),
            ("chrono", "return std::chrono::system_clock::now().time_since_epoch().count();"),
            ("ctime", "return std::time(nullptr);"),
            ("random", "std::random_device device; return device();"),
            ("cstdlib", "return std::rand();"),
            ("cstdlib", 'return std::getenv("HOME") != nullptr;'),
            ("thread", "std::thread([] {}).join(); return 0;"),
            ("cstdio", 'return std::fopen("/dev/null", "r") != nullptr;'),
            ("fstream", 'return std::ifstream("/dev/null").get();'),
            ("iostream", 'std::cout << "here"; return 0;'),
            ("unistd.h", "return getpid();"),
            ("unistd.h", 'return write(1, "x", 1);'),
            ("fcntl.h", 'return open("/dev/null", O_RDONLY);'),
            ("sys/socket.h", "return socket(AF_INET, SOCK_STREAM, 0);"),
        ):
            with self.subTest(body=body):
                path = planted(f"#include <{headers}>\nlong planted() {{ {body} }}\n")
                self.assertNotEqual(outside(path, {}), [])

    def test_a_planted_library_is_found(self):
        for name in ("rd_kafka_new", "rocksdb::DB::Open", "spdlog::info", "google::protobuf::New"):
            with self.subTest(name=name):
                *scope, function = name.split("::")
                spaces = "".join(f"namespace {part} {{ " for part in scope)
                linkage = "" if scope else 'extern "C" '
                text = f"{linkage}{spaces}int {function}(); {'}' * len(scope)}\n"
                path = planted(text + f"int planted() {{ return {name}(); }}\n")
                self.assertNotEqual(outside(path, {}), [])

    def test_planted_state_is_found(self):
        for text in ("int counter = 1;", "static int calls; int f() { return ++calls; }",
                     "int g() { static int seen = 7; return ++seen; }",
                     "thread_local int mine; int h() { return ++mine; }"):  # fmt: skip
            with self.subTest(text=text):
                self.assertNotEqual(mutable_state(planted(text)), [])

    def test_what_is_pure_is_let_be(self):
        path = planted("#include <map>\n#include <string>\n"
                       "extern const char* const kNames[] = {\"a\", \"b\"};\n"
                       "std::map<std::string, int> f(int n) { return {{std::to_string(n), n}}; }\n")  # fmt: skip
        self.assertEqual(outside(path, {}), [])
        self.assertEqual(mutable_state(path), [])


if __name__ == "__main__":
    unittest.main()
