package trueup.peer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** How far the tasks are. Each counts for itself, so that none waits for another's cache line. */
final class Counts {
    static final class Of {
        private static final VarHandle ITEMS = handle("items");
        private static final VarHandle OUTPUTS = handle("outputs");

        private long items;
        private long outputs;

        private static VarHandle handle(String field) {
            try {
                return MethodHandles.lookup().findVarHandle(Of.class, field, long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        /** By the task's own thread only. */
        void item() {
            ITEMS.setRelease(this, items + 1);
        }

        /** By the task's own thread only. */
        void output() {
            OUTPUTS.setRelease(this, outputs + 1);
        }
    }

    private final List<Of> all = new CopyOnWriteArrayList<>();

    Of another() {
        Of one = new Of();
        all.add(one);
        return one;
    }

    long items() {
        return all.stream().mapToLong(one -> (long) Of.ITEMS.getAcquire(one)).sum();
    }

    long outputs() {
        return all.stream().mapToLong(one -> (long) Of.OUTPUTS.getAcquire(one)).sum();
    }
}
