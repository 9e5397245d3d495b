package trueup.peer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * What the store keeps of a subject, 51 bytes: the answer of now, and for each side whether it is
 * there and in which word, which object that is, and its version. A side that is gone keeps its
 * version, so that an older change does not bring it back.
 */
final class Subject {
    static final byte AGREES = 0;
    static final byte ORPHANED_POD = 1;
    static final byte MISSING_POD = 2;
    static final byte STATUS_DRIFT = 3;

    private static final int SIDE = 25;
    private static final int SIZE = 1 + 2 * SIDE;
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Subject() {}

    /** The subject after the change: a new array, or `before` itself if nothing changed. */
    static byte[] after(byte[] before, Change change) {
        int at = 1 + change.side * SIDE;
        if (before != null && !overrides(before, at, change)) return before;
        byte[] after = before == null ? new byte[SIZE] : before.clone();
        after[at] = (byte) (change.kind == Change.UPSERT ? change.word : 0);
        LONGS.set(after, at + 1, change.objectHash);
        LONGS.set(after, at + 9, change.versionHi);
        LONGS.set(after, at + 17, change.versionLo);
        after[0] = answer(word(after, Change.PODS), word(after, Change.ROWS));
        return after;
    }

    /** Versions of one object only grow. That another object is gone says nothing of this one. */
    private static boolean overrides(byte[] before, int at, Change change) {
        if ((long) LONGS.get(before, at + 1) != change.objectHash) {
            return change.kind == Change.UPSERT || before[at] == 0;
        }
        int order = Long.compareUnsigned(change.versionHi, (long) LONGS.get(before, at + 9));
        if (order != 0) return order > 0;
        return Long.compareUnsigned(change.versionLo, (long) LONGS.get(before, at + 17)) > 0;
    }

    private static byte answer(int pod, int row) {
        boolean live = row == Change.STARTING || row == Change.RUNNING;
        if (pod != 0 && row == 0) return ORPHANED_POD;
        if (pod == 0 && live) return MISSING_POD;
        if (pod == Change.FAILED && live) return STATUS_DRIFT;
        return AGREES;
    }

    static byte answer(byte[] subject) {
        return subject == null ? AGREES : subject[0];
    }

    /** 0: that side is not there. */
    static int word(byte[] subject, int side) {
        return subject[1 + side * SIDE];
    }

    static long versionHi(byte[] subject, int side) {
        return (long) LONGS.get(subject, 1 + side * SIDE + 9);
    }
}
