#!/usr/bin/env python3
"""What a stranger may do to the HTTP side of a process, over `trueup demo`: endless bodies, a gzip
bomb, connections that are slow, headers without an end, answers that nobody reads, and a user's
token that asks 10,000 times. In each of them /healthz is answered throughout, little is received
and the memory stays as it was. tests/api/server_test.cpp has the answers one by one.
"""
import argparse
import contextlib
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

MIB = 1 << 20
SLOW = 200  # connections
ARGS = argparse.Namespace()


class Demo:
    """One process over a state folder of its own."""

    def __init__(self, state):
        self.state = state
        command = [ARGS.trueup, "--log-level", "error", "demo", "--state-dir", state, "--seed", "7",
                   "-o", "json", "--calm"]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.errors)
        self.port = self.find_port()
        with open(os.path.join(state, "keys", "tokens"), encoding="ascii") as file:
            words = [line.split() for line in file if line.strip() and line[0] != "#"]
        self.tokens = {role: secret for _, role, secret in words}

    def find_port(self):
        """The demo chooses its port; the kernel knows which one it listens on."""
        while self.process.poll() is None:
            inodes = set()
            with contextlib.suppress(OSError):
                for name in os.listdir(f"/proc/{self.process.pid}/fd"):
                    link = os.readlink(f"/proc/{self.process.pid}/fd/{name}")
                    inodes.update(re.findall(r"^socket:\[(\d+)\]$", link))
            with open("/proc/net/tcp", encoding="ascii") as file:
                for line in file.readlines()[1:]:
                    words = line.split()
                    if words[3] == "0A" and words[9] in inodes:  # LISTEN
                        return int(words[1].split(":")[1], 16)
        self.errors.seek(0)
        sys.exit(f"the demo ended by itself:\n{self.errors.read().decode(errors='replace')}")

    def peak(self):
        """Bytes of memory that the process had at most since `forget_peak`."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) << 10

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


class Connection:
    """Bytes over a socket, as a stranger sends them."""

    def __init__(self, port, receive_buffer=None):
        self.socket = socket.socket()
        self.socket.settimeout(30)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """False: the other side takes no more."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def flood(self, piece, most):
        """Sends it again and again; how many bytes went out until the other side took no more."""
        sent = 0
        while sent < most and self.send(piece):
            sent += len(piece)
        return sent

    def answer(self):
        """(status, body); status 0: the connection ended without an answer."""
        try:
            while b"\r\n\r\n" not in self.rest:
                if not (data := self.socket.recv(65536)):
                    return 0, b""
                self.rest += data
            head, self.rest = self.rest.split(b"\r\n\r\n", 1)
            length = int(re.search(rb"Content-Length: (\d+)", head)[1])
            while len(self.rest) < length:
                if not (data := self.socket.recv(65536)):
                    return 0, b""
                self.rest += data
            body, self.rest = self.rest[:length], self.rest[length:]
            return int(head.split()[1]), body
        except OSError:
            return 0, b""


class Pulse:
    """Asks for /healthz all the time, over a new connection each time."""

    def __init__(self, port):
        self.port = port
        self.over = threading.Event()
        self.asked = 0
        self.answered = 0
        self.news = threading.Condition()
        self.missed = []
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.over.is_set():
            self.asked += 1
            with Connection(self.port) as one:
                one.socket.settimeout(10)
                one.send(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n")
                if (reply := one.answer()) != (200, b"alive\n"):
                    self.missed.append(reply)
            with self.news:
                self.answered += 1
                self.news.notify_all()

    def beat(self):
        """Until one that was begun after now was answered. False: none was."""
        with self.news:
            wanted = self.answered + 2  # the next may have been begun before
            return self.news.wait_for(lambda: self.answered >= wanted, 60)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def request(method, path, token=None, extra="", body=b""):
    head = f"{method} {path} HTTP/1.1\r\nHost: t\r\n{extra}"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    if body:
        head += f"Content-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


class HttpAttacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        keys = os.path.join(cls.folder.name, "keys")
        os.makedirs(keys, mode=0o700)
        with open(os.open(os.path.join(keys, "tokens"), os.O_WRONLY | os.O_CREAT, 0o600), "w",
                  encoding="ascii") as file:
            file.write("olga ops oooooooooooooooooooo\nalice user aaaaaaaaaaaaaaaaaaaa\n")
        cls.demo = Demo(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        code = cls.demo.end()
        cls.folder.cleanup()
        if code:
            raise AssertionError(f"the demo ended with {code}")

    @contextlib.contextmanager
    def attacked(self):
        """/healthz is answered throughout, and the memory stays as it was."""
        demo = self.demo
        demo.forget_peak()
        before = demo.peak()
        with Pulse(demo.port) as self.pulse:
            yield demo
        pulse = self.pulse
        self.assertGreater(pulse.asked, 0)
        self.assertEqual(pulse.missed, [])
        if not ARGS.sanitized:  # they keep what was given back
            grown = demo.peak() - before
            self.assertLess(grown, 20 * MIB, f"{before} bytes before it")
        status, _ = self.ask("GET", "/v1/findings", demo.tokens["ops"])
        self.assertEqual(status, 200)

    def ask(self, *args, **more):
        with Connection(self.demo.port) as one:
            one.send(request(*args, **more))
            return one.answer()

    # Symptom: 400 MiB in chunks without a token took 555 MiB of memory before they were refused.
    def test_an_endless_body_without_a_token_is_not_received(self):
        chunk = b"100000\r\n" + bytes(MIB) + b"\r\n"
        with self.attacked() as demo:
            for token in (None, demo.tokens["ops"]):
                with Connection(demo.port) as one:
                    one.send(request("POST", "/v1/requests", token,
                                     extra="Transfer-Encoding: chunked\r\n"))
                    self.assertLess(one.flood(chunk, 400 * MIB), 32 * MIB)

    # Symptom: 61 kB of gzip became 60 MB in memory before the 401.
    def test_a_gzip_bomb_is_not_unpacked(self):
        bomb = gzip.compress(bytes(60 * MIB), 9)
        with self.attacked() as demo:
            for token, status in ((None, 401), (demo.tokens["ops"], 415)):
                got = self.ask("POST", "/v1/requests", token, extra="Content-Encoding: gzip\r\n",
                               body=bomb)[0]
                self.assertEqual(got, status)

    # Symptom: two connections that sent a header line each 3 s kept /healthz from answering.
    def test_slow_connections_keep_nobody_from_being_served(self):
        with contextlib.ExitStack() as stack, self.attacked() as demo:
            slow = [stack.enter_context(Connection(demo.port)) for _ in range(SLOW)]
            for byte in b"GET /readyz HTTP/1.1\r\nX-Slow: yes":
                for one in slow:
                    one.send(bytes([byte]))
                self.assertIn(self.ask("GET", "/readyz")[0], (200, 503))
                self.assertIn(self.ask("GET", "/v1/findings", demo.tokens["user"])[0], (200,))

    def test_more_connections_than_are_kept_give_way_to_the_next_one(self):
        with contextlib.ExitStack() as stack, self.attacked() as demo:
            for i in range(4 * SLOW):
                # A pulse that more come behind than are kept would give way to them itself.
                if i % 100 == 0:
                    self.assertTrue(self.pulse.beat())
                stack.enter_context(Connection(demo.port)).send(b"GET /")
            page = self.ask("GET", "/metrics")[1].decode()
            full = re.search(r'^trueup_http_refused_total{reason="full"} (\d+)', page, re.M)
            self.assertGreater(int(full[1]), 0)
            kept = re.search(r"^trueup_http_connections (\d+)", page, re.M)
            self.assertLessEqual(int(kept[1]), 256)

    def test_a_header_without_an_end_is_not_received(self):
        with self.attacked() as demo:
            for start, piece in ((b"GET /healthz HTTP/1.1\r\n", b"X-Nothing: at all\r\n" * 4096),
                                 (b"GET /healthz HTTP/1.1\r\nX-Long: ", b"l" * 65536),
                                 (b"GET /", b"p" * 65536), (b"", b"G" * 65536)):
                with Connection(demo.port) as one:
                    one.send(start)
                    self.assertLess(one.flood(piece, 400 * MIB), 32 * MIB)

    def test_ten_thousand_requests_of_a_user_leave_no_trace_in_memory(self):
        end = json.dumps({"kind": "terminate", "subject": "graph-instances/wrapper-x"}).encode()
        with self.attacked() as demo, Connection(demo.port) as one:
            counts = {}
            for _ in range(10_000):
                one.send(request("POST", "/v1/requests", demo.tokens["user"], body=end))
                status, _ = one.answer()
                counts[status] = counts.get(status, 0) + 1
        self.assertEqual(set(counts), {202, 429})
        self.assertGreater(counts[429], 9_000)
        pause = json.dumps({"kind": "pause"}).encode()
        self.assertEqual(self.ask("POST", "/v1/requests", demo.tokens["ops"], body=pause)[0], 202)

    def test_answers_that_nobody_reads_are_not_kept(self):
        many = request("GET", "/metrics") * 100
        with contextlib.ExitStack() as stack, self.attacked() as demo:
            for _ in range(SLOW):
                one = stack.enter_context(Connection(demo.port, receive_buffer=2048))
                one.socket.settimeout(0.01)
                one.send(many)
            self.assertEqual(self.ask("GET", "/healthz")[0], 200)

    def test_tokens_that_are_guessed_shut_nobody_out(self):
        with self.attacked() as demo:
            seen = {self.ask("GET", "/v1/findings", f"guess-{i:016}")[0] for i in range(200)}
            self.assertEqual(seen, {401, 429})
            self.assertEqual(self.ask("GET", "/v1/findings", demo.tokens["user"])[0], 200)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trueup", required=True)
    parser.add_argument("--sanitized", default="", help="which sanitizers it was built with")
    ARGS, left = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + left, verbosity=2)
