"""Changes of pods and rows as connectors write them (schemas/trueup/v1/change.proto), for tests that
have a broker and no sources. A record is what publish.py reads.
"""

UPSERT, REMOVE, SNAPSHOT_BEGIN, SNAPSHOT_END, PROGRESS, OWNER = 1, 2, 3, 4, 5, 8
SOURCE_TIME = 1_767_225_600_000
POLICY = "graph-instances"


def partition_of(key, partitions):
    """Where a key lies: as Kafka's Java client decides (murmur2), and the engine."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    data = key.encode()
    h = 0x9747B28C ^ len(data)
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * m & mask
        h = h * m & mask ^ (k ^ k >> 24) * m & mask
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return ((h ^ h >> 15) & 0x7FFFFFFF) % partitions


def _varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def _number(field, number):
    return _varint(field << 3) + _varint(number)


def _bytes(field, data):
    data = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _object(fields):
    """Fields in ascending order of their names."""
    pairs = sorted(fields.items())
    return b"".join(_bytes(1, _bytes(1, name) + _bytes(2, value)) for name, value in pairs)


class Source:
    """What the only incarnation of a source says. `say` takes what publish.py wants."""

    def __init__(self, name, partitions):
        self.topic = f"changes.{name}"
        self._name, self._partitions = name, partitions
        self._seq = [0] * partitions
        self._version = 0

    def _record(self, kind, partition, key, rest=b"", epoch=0):
        self._seq[partition] += 1
        value = _number(1, kind) + _bytes(2, self._name) + _number(3, 0)
        value += _number(4, self._seq[partition])
        value += _number(5, epoch) if epoch else b""
        return {"key": key, "headers": [], "value": (value + rest).hex(), "partition": partition}

    def _object_of(self, kind, name, object_id, epoch, fields):
        self._version += 1
        key = f"{POLICY}/{name}"
        rest = _bytes(6, f"{self._version:010}") + _bytes(7, object_id) + _bytes(8, key)
        rest += _number(9, self._version) + _number(11, SOURCE_TIME)
        rest += _bytes(12, _object(fields)) if kind == UPSERT else b""
        return self._record(kind, partition_of(key, self._partitions), key, rest, epoch)

    def upsert(self, name, object_id, fields, epoch=0):
        return self._object_of(UPSERT, name, object_id, epoch, fields)

    def remove(self, name, object_id):
        return self._object_of(REMOVE, name, object_id, 0, {})

    def opening(self, objects):
        """An owner, and a complete epoch with these: (name, object id, fields)."""
        everywhere = range(self._partitions)
        records = [self._record(OWNER, p, self._name) for p in everywhere]
        records += [self._record(SNAPSHOT_BEGIN, p, self._name, epoch=1) for p in everywhere]
        listed = [self.upsert(name, i, fields, epoch=1) for name, i, fields in objects]
        for p in everywhere:
            count = sum(record["partition"] == p for record in listed)
            counted = _number(13, count) if count else b""
            counted += _number(17, len(objects)) if objects else b""
            listed.append(self._record(SNAPSHOT_END, p, self._name, counted, epoch=1))
        return records + listed

    def progress(self, complete_as_of):
        """Everything up to that moment, in ms since 1970, was said before this."""
        rest = _number(14, complete_as_of) + _number(15, complete_as_of)
        return [self._record(PROGRESS, p, self._name, rest) for p in range(self._partitions)]
