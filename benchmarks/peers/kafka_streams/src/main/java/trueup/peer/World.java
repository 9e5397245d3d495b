package trueup.peer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The work: pods and rows of many subjects, upserts of either side at random, one in ten a
 * remove. The same seed gives the same changes, to the byte, as benchmarks/load.cpp gives for one
 * partition.
 */
final class World {
    /** A record of a topic on its way. `key` is the subject's, or the source's for a broadcast. */
    record Input(int side, int partition, byte[] key, byte[] value) {}

    private static final int OWNER = 8;
    private static final int SNAPSHOT_BEGIN = 3;
    private static final int SNAPSHOT_END = 4;
    private static final long INCARNATION = 0;
    private static final long SOURCE_TIME = 1_767_225_600_000L;

    private static final byte[][] SOURCES = {Change.bytes("pods"), Change.bytes("rows")};
    private static final String[][] WORDS = {
        {"Pending", "Running", "Succeeded", "Failed"},
        {"starting", "running", "stopped", "failed"},
    };

    private final int subjects;
    private final int partitions;
    private final Mersenne random;
    private final ChangeWriter writer = new ChangeWriter();
    private final ChangeWriter fields = new ChangeWriter();
    private final ChangeWriter field = new ChangeWriter();
    private final long[][] seq;
    /** Of each side, by subject: version 0 is never seen, word -1 is not there. */
    private final int[][] versions;
    private final byte[][] words;
    private int version;
    private int again = -1;

    World(int subjects, int partitions, long seed) {
        this.subjects = subjects;
        this.partitions = partitions;
        random = new Mersenne(seed);
        seq = new long[2][partitions];
        versions = new int[2][subjects];
        words = new byte[2][subjects];
        for (byte[] side : words) Arrays.fill(side, (byte) -1);
    }

    // ---------------------------------------------------------------- the envelope
    private ChangeWriter envelope(int kind, int side, int partition) {
        return writer.always(1, kind).text(2, SOURCES[side]).always(3, INCARNATION)
                .number(4, ++seq[side][partition]);
    }

    /** Both sources get an owner and an empty complete epoch, so that rules may judge. */
    Input[] opening(int partition) {
        Input[] inputs = new Input[6];
        int at = 0;
        for (int side = 0; side < 2; ++side) {
            inputs[at++] = input(side, partition, SOURCES[side], envelope(OWNER, side, partition));
        }
        for (int side = 0; side < 2; ++side) {
            inputs[at++] = input(side, partition, SOURCES[side],
                    envelope(SNAPSHOT_BEGIN, side, partition).number(5, 1));
            inputs[at++] = input(side, partition, SOURCES[side],
                    envelope(SNAPSHOT_END, side, partition).number(5, 1));
        }
        return inputs;
    }

    private static Input input(int side, int partition, byte[] key, ChangeWriter value) {
        return new Input(side, partition, key, value.take());
    }

    Input change() {
        int subject = random.below(subjects);
        int side = random.below(2);
        byte[] key = key(subject);
        int partition = Keys.partition(key, partitions);
        if (random.below(10) == 0) {
            words[side][subject] = -1;
            versions[side][subject] = ++version;
            return input(side, partition, key,
                    object(Change.REMOVE, side, partition, subject, key));
        }
        // Mostly what runs well: one in a hundred has failed, a few are on their way.
        int dice = random.below(100);
        int word = dice == 0 ? 3 : dice < 3 ? 2 : dice < 10 ? 0 : 1;
        words[side][subject] = (byte) word;
        versions[side][subject] = ++version;
        return upsert(side, partition, subject, key);
    }

    /** What the next side in turn that is there said last, once more; there must be one. */
    Input unchanged() {
        do {
            again = (again + 1) % (2 * subjects);
        } while (words[again % 2][again / 2] < 0);
        byte[] key = key(again / 2);
        return upsert(again % 2, Keys.partition(key, partitions), again / 2, key);
    }

    private Input upsert(int side, int partition, int subject, byte[] key) {
        ChangeWriter value = object(Change.UPSERT, side, partition, subject, key);
        return input(side, partition, key,
                value.text(12, fields(side, subject, words[side][subject])));
    }

    private ChangeWriter object(int kind, int side, int partition, int subject, byte[] key) {
        int version = versions[side][subject];
        return envelope(kind, side, partition).text(6, ascii(digits(version, 10)))
                .text(7, ascii(objectId(side, subject))).text(8, key)
                .number(9, Integer.toUnsignedLong(version)).number(11, SOURCE_TIME);
    }

    // ---------------------------------------------------------------- the objects
    private static String objectId(int side, int subject) {
        if (side == Change.ROWS) return "public.instances/" + digits(subject, 7);
        return hex(Integer.toUnsignedLong((int) (subject * 2654435761L)), 8)
                + "-6b1f-4c55-9d0e-" + hex(subject, 12);
    }

    private byte[] fields(int side, int subject, int word) {
        if (side == Change.PODS) {
            add("name", "wrapper-" + digits(subject, 7));
            add("namespace", "graphs");
            add("node", "node-" + digits(subject % 200, 3));
        } else {
            add("pod_name", "wrapper-" + digits(subject, 7));
            add("region", "eu-central-1");
        }
        add(side == Change.PODS ? "phase" : "status", WORDS[side][word]);
        if (side == Change.ROWS) {
            add("updated_at",
                    "2026-01-01 00:00:" + digits(versions[side][subject], 10) + "+00");
        }
        return fields.take();
    }

    private void add(String name, String value) {
        fields.text(1, field.text(1, ascii(name)).text(2, ascii(value)).take());
    }

    private static byte[] key(int subject) {
        return ascii("graph-instances/wrapper-" + digits(subject, 7));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String digits(int number, int width) {
        return padded(Integer.toUnsignedString(number), width);
    }

    private static String hex(long number, int width) {
        return padded(Long.toHexString(number), width);
    }

    private static String padded(String number, int width) {
        return "0".repeat(Math.max(0, width - number.length())) + number;
    }

    // ---------------------------------------------------------------- the answer
    /** What whoever read all of it must come to; of every subject that was ever spoken of. */
    FinalAnswer answer() {
        FinalAnswer answer = new FinalAnswer();
        for (int subject = 0; subject < subjects; ++subject) {
            byte[] one = null;
            for (int side = 0; side < 2; ++side) {
                if (versions[side][subject] != 0) one = Subject.after(one, last(side, subject));
            }
            if (one != null) answer.add(key(subject), one);
        }
        return answer;
    }

    private Change last(int side, int subject) {
        Change change = new Change();
        int word = words[side][subject];
        change.kind = word < 0 ? Change.REMOVE : Change.UPSERT;
        change.side = side;
        change.objectHash = 1;
        change.versionHi = Integer.toUnsignedLong(versions[side][subject]);
        change.word = Change.STARTING + word;
        return change;
    }
}
