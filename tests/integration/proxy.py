"""A TCP relay in front of one server, so that a test can cut, refuse or silence its connections
while the server itself lives on. TLS passes through untouched."""

import socket
import struct
import threading

OPEN, REFUSE, SILENT, HOLD = "open", "refuse", "silent", "hold"


class Proxy:
    """Relays 127.0.0.1:`port` (its own) to 127.0.0.1:`target`. Safe to use from several threads."""

    def __init__(self, target):
        self._target = target
        self._mode = OPEN
        self._changed = threading.Condition()
        self._pairs = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def open(self):
        """Relays again, with what a silence held back."""
        self._set(OPEN)

    def cut(self):
        """Ends every connection at once; new ones are welcome."""
        with self._changed:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            pair.end()

    def refuse(self):
        """Ends every connection and each new one."""
        self._set(REFUSE)
        self.cut()

    def silence(self):
        """Nothing that the server says comes through any more, on old and new connections; they
        stay open, and what the client says is still relayed."""
        self._set(SILENT)

    def deafen(self):
        """The connections of now stay open and never hear the server again; new ones work."""
        with self._changed:
            for pair in self._pairs:
                pair.deaf = True
            return len(self._pairs)

    def freeze(self):
        """Like deafen(), and new connections wait for open(): the client does not notice when the
        server goes away and comes back."""
        self._set(HOLD)
        self.deafen()

    def close(self):
        self._set(REFUSE)
        _end(self._listener)
        self.cut()

    # ---------------------------------------------------------------- threads
    def _set(self, mode):
        with self._changed:
            self._mode = mode
            self._changed.notify_all()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._mode != HOLD)
            if self._mode == REFUSE:
                raise ConnectionRefusedError
            server = socket.create_connection(("127.0.0.1", self._target), timeout=5)
            server.settimeout(None)
        except OSError:
            _reset(client)
            return
        pair = Pair(client, server)
        with self._changed:
            self._pairs.append(pair)
            refused = self._mode == REFUSE
        if refused:
            pair.end()
        threading.Thread(target=self._pump, args=(pair, client, server), daemon=True).start()
        self._pump(pair, server, client, self._wait_to_speak)
        with self._changed:
            if pair in self._pairs and not pair.deaf:
                self._pairs.remove(pair)

    def _pump(self, pair, source, sink, permit=lambda pair: True):
        try:
            while data := source.recv(65536):
                if not permit(pair):
                    return
                sink.sendall(data)
        except OSError:
            pass
        if not pair.deaf:
            pair.end()

    def _wait_to_speak(self, pair):
        """False: what the server said is dropped."""
        with self._changed:
            self._changed.wait_for(lambda: self._mode != SILENT or pair.ended)
        return not pair.deaf


class Pair:
    """Both ends of one relayed connection."""

    def __init__(self, client, server):
        self.deaf = False
        self.ended = False
        self._ends = (client, server)

    def end(self):
        self.ended = True
        for end in self._ends:
            _reset(end)


def _reset(end):
    try:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    _end(end)


def _end(end):
    """Wakes a thread that waits in it, too."""
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()
