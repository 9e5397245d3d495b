package trueup.peer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What the peer needs of a `trueup.v1.Change`, read from the bytes without generated code: one
 * scan that passes over everything else. One object serves all changes of a thread; nothing is
 * allocated.
 */
final class Change {
    static final int UPSERT = 1;
    static final int REMOVE = 2;

    static final int PODS = 0;
    static final int ROWS = 1;

    /** A state of one word, whichever side says it; OTHER is any other word. */
    static final int OTHER = 1;
    static final int STARTING = 2;
    static final int RUNNING = 3;
    static final int STOPPED = 4;
    static final int FAILED = 5;

    private static final byte[][][] WORDS = {
        {bytes("Pending"), bytes("Running"), bytes("Succeeded"), bytes("Failed")},
        {bytes("starting"), bytes("running"), bytes("stopped"), bytes("failed")},
    };
    private static final byte[][] SOURCES = {bytes("pods"), bytes("rows")};
    private static final byte[][] STATUS_FIELDS = {bytes("phase"), bytes("status")};

    // Tags of trueup.v1.Change: field number and wire type.
    private static final int KIND = 1 << 3;
    private static final int SOURCE = 2 << 3 | 2;
    private static final int OBJECT_ID = 7 << 3 | 2;
    private static final int VERSION_HI = 9 << 3;
    private static final int VERSION_LO = 10 << 3;
    private static final int OBJECT = 12 << 3 | 2;
    // Of trueup.v1.Object and Field.
    private static final int FIELD = 1 << 3 | 2;
    private static final int NAME = 1 << 3 | 2;
    private static final int VALUE = 2 << 3 | 2;

    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    int kind;
    int side;
    /** Of the object's identity; 0 only if there is none. */
    long objectHash;
    long versionHi;
    long versionLo;
    /** Of an upsert. */
    int word;

    private byte[] in;
    private int at;

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    boolean ofObject() {
        return kind == UPSERT || kind == REMOVE;
    }

    void read(byte[] value) {
        in = value;
        at = 0;
        kind = 0;
        side = -1;
        objectHash = versionHi = versionLo = 0;
        int objectAt = 0;
        int objectEnd = 0;
        while (at < in.length) {
            int tag = (int) varint();
            switch (tag) {
                case KIND -> kind = (int) varint();
                case SOURCE -> side = which(SOURCES, text());
                case OBJECT_ID -> objectHash = hash(text());
                case VERSION_HI -> versionHi = varint();
                case VERSION_LO -> versionLo = varint();
                case OBJECT -> {
                    objectEnd = text();
                    objectAt = start;
                }
                default -> skip(tag);
            }
        }
        word = OTHER;
        if (!ofObject()) return;
        if (side < 0) throw new IllegalArgumentException("a change of neither pods nor rows");
        if (kind == UPSERT) readWord(objectAt, objectEnd);
    }

    private void readWord(int from, int end) {
        byte[] wanted = STATUS_FIELDS[side];
        for (at = from; at < end; ) {
            int tag = (int) varint();
            if (tag != FIELD) {
                skip(tag);
                continue;
            }
            int fieldEnd = text();
            at = start;
            if (varint() == NAME && equal(wanted, text()) && at < fieldEnd && varint() == VALUE) {
                word = OTHER + 1 + which(WORDS[side], text());
                return;
            }
            at = fieldEnd;
        }
    }

    // ---------------------------------------------------------------- the wire
    private long varint() {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            byte b = in[at++];
            value |= (long) (b & 0x7f) << shift;
            if (b >= 0) return value;
        }
    }

    /** Where the last text starts. */
    private int start;

    /** Passes over a text; it lies from `start` to what is returned. */
    private int text() {
        int size = (int) varint();
        start = at;
        at += size;
        return at;
    }

    private void skip(int tag) {
        switch (tag & 7) {
            case 0 -> varint();
            case 1 -> at += 8;
            case 2 -> text();
            case 5 -> at += 4;
            default -> throw new IllegalArgumentException("the bytes are not a change");
        }
    }

    private boolean equal(byte[] wanted, int end) {
        return Arrays.equals(wanted, 0, wanted.length, in, start, end);
    }

    /** Which of these the last text is; -1: none. */
    private int which(byte[][] these, int end) {
        for (int i = 0; i < these.length; ++i) {
            if (equal(these[i], end)) return i;
        }
        return -1;
    }

    private long hash(int end) {
        long h = end - start;
        int i = start;
        for (; i + 8 <= end; i += 8) {
            h = Long.rotateLeft((h ^ (long) LONGS.get(in, i)) * 0x9e3779b97f4a7c15L, 29);
        }
        for (; i < end; ++i) h = (h ^ (in[i] & 0xff)) * 0x100000001b3L;
        h ^= h >>> 32;
        return h == 0 ? 1 : h;
    }
}
