package trueup.peer;

/**
 * What became of all subjects, in a form that does not depend on their order. README.md defines it
 * for others, who must come to the same.
 */
final class FinalAnswer {
    private long none;
    private long podsOnly;
    private long rowsOnly;
    private long both;
    private long sum;
    private long versions;
    private final long[] answers = new long[4];

    void add(byte[] key, byte[] subject) {
        boolean pod = Subject.word(subject, Change.PODS) != 0;
        boolean row = Subject.word(subject, Change.ROWS) != 0;
        if (pod && row) {
            ++both;
        } else if (pod) {
            ++podsOnly;
        } else if (row) {
            ++rowsOnly;
        } else {
            ++none;
        }
        sum += hash(key, (pod ? 1 : 0) + (row ? 2 : 0));
        if (pod) versions += Subject.versionHi(subject, Change.PODS);
        if (row) versions += Subject.versionHi(subject, Change.ROWS);
        ++answers[Subject.answer(subject)];
    }

    long answered(byte answer) {
        return answers[answer];
    }

    /** FNV-1a over the key and one byte, then murmur3's last step. */
    private static long hash(byte[] key, int state) {
        long h = 0xcbf29ce484222325L;
        for (byte b : key) h = (h ^ (b & 0xff)) * 0x100000001b3L;
        h = (h ^ state) * 0x100000001b3L;
        h = (h ^ h >>> 33) * 0xff51afd7ed558ccdL;
        h = (h ^ h >>> 33) * 0xc4ceb9fe1a85ec53L;
        return h ^ h >>> 33;
    }

    String json() {
        return String.format("{\"subjects\": %d, \"none\": %d, \"pods_only\": %d,"
                + " \"rows_only\": %d, \"both\": %d, \"sum\": \"%016x\", \"versions\": %d,"
                + " \"orphaned_pod\": %d, \"missing_pod\": %d, \"status_drift\": %d}",
                none + podsOnly + rowsOnly + both, none, podsOnly, rowsOnly, both, sum, versions,
                answers[Subject.ORPHANED_POD], answers[Subject.MISSING_POD],
                answers[Subject.STATUS_DRIFT]);
    }
}
