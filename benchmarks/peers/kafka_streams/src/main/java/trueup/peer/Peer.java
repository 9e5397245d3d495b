package trueup.peer;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Runs the peer over a topic that is already filled, and prints one line of JSON. */
public final class Peer {
    private Peer() {}

    private static Arguments arguments(String[] words) {
        Map<String, String> known = new LinkedHashMap<>();
        known.put("bootstrap", "");
        known.put("topic", "");
        known.put("partitions", "1");
        known.put("threads", "1");
        known.put("cache-bytes", "0");
        known.put("items", "");
        known.put("warm-up", "0");
        known.put("prefix", "");
        known.put("state-dir", System.getProperty("java.io.tmpdir"));
        known.put("limit-seconds", "600");
        return new Arguments(words, known);
    }

    private static Shape shape(Arguments arguments, Path states, boolean warmUp) {
        String name = arguments.text("prefix") + (warmUp ? "-warm-up" : "");
        long items = warmUp ? arguments.number("warm-up", 0) : arguments.number("items", 2);
        return new Shape(arguments.text("bootstrap"), arguments.list("topic"),
                arguments.small("partitions", 1), arguments.small("threads", 1),
                arguments.number("cache-bytes", 0), items, !warmUp, name, states,
                arguments.number("limit-seconds", 1));
    }

    private static String run(Shape shape) {
        try (Run run = new Run(shape)) {
            run.measure();
            run.check();
            return run.json();
        }
    }

    /** Over the first records of the same topic; it may read more than was asked for. */
    private static void warmUp(Shape shape) {
        try (Run run = new Run(shape)) {
            run.measure();
        }
    }

    private static void measure(Arguments arguments) throws IOException {
        Path states = Files.createTempDirectory(Path.of(arguments.text("state-dir")), "peer-");
        try {
            long warmUp = arguments.number("warm-up", 0);
            if (warmUp > 0) warmUp(shape(arguments, states, true));
            System.gc();
            double before = ManagementFactory.getRuntimeMXBean().getUptime() / 1e3;
            String figures = run(shape(arguments, states, false));
            System.out.printf(Locale.ROOT, "{\"peer\": \"kafka_streams\", \"threads\": %d,"
                    + " \"partitions\": %d, \"cache_bytes\": %d, \"warm_up\": %d,"
                    + " \"process_seconds_before\": %.3f, %s}%n",
                    arguments.number("threads", 1), arguments.number("partitions", 1),
                    arguments.number("cache-bytes", 0), warmUp, before, figures);
        } finally {
            remove(states);
        }
    }

    private static void remove(Path folder) throws IOException {
        List<Path> all;
        try (Stream<Path> walk = Files.walk(folder)) {
            all = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path one : all) Files.delete(one);
    }

    public static void main(String[] words) throws IOException {
        try {
            measure(arguments(words));
        } catch (Arguments.Wrong wrong) {
            System.err.println("peer: " + wrong.getMessage());
            System.exit(2);
        }
    }
}
