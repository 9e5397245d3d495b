package trueup.peer;

import java.util.Arrays;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * One get and one put a change, and a record for the output only when the subject's answer is
 * another than before. A change that says nothing new is not put.
 */
final class Judge extends ContextualProcessor<Bytes, byte[], Bytes, byte[]> {
    static final String STORE = "subjects";

    private static final String[] NAMES = {
        "agrees", "orphaned_pod", "missing_pod", "status_drift",
    };
    private static final byte[][] ANSWERS =
            Arrays.stream(NAMES).map(Change::bytes).toArray(byte[][]::new);

    private final Change change = new Change();
    private final Counts counts;
    private Counts.Of count;
    private KeyValueStore<Bytes, byte[]> subjects;

    static String name(byte answer) {
        return NAMES[answer];
    }

    Judge(Counts counts) {
        this.counts = counts;
    }

    @Override
    public void init(ProcessorContext<Bytes, byte[]> context) {
        super.init(context);
        subjects = context.getStateStore(STORE);
        count = counts.another();
    }

    @Override
    public void process(Record<Bytes, byte[]> record) {
        change.read(record.value());
        count.item();
        if (!change.ofObject()) return;
        byte[] before = subjects.get(record.key());
        byte[] after = Subject.after(before, change);
        if (after == before) return;
        subjects.put(record.key(), after);
        byte answer = Subject.answer(after);
        if (answer == Subject.answer(before)) return;
        context().forward(record.withValue(ANSWERS[answer]));
        count.output();
    }
}
