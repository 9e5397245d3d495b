package trueup.peer;

import java.nio.file.Path;
import java.util.List;

/**
 * What one run is asked to do. `name` is its application id and begins the names of its topics;
 * `whole` says that the topics must hold exactly `items`.
 */
record Shape(String bootstrap, List<String> topics, int partitions, int threads, long cacheBytes,
        long items, boolean whole, String name, Path states, long seconds) {
    String output() {
        return name + "-answers";
    }

    /** Kafka Streams makes it by itself and names it so. */
    String changelog() {
        return name + "-" + Judge.STORE + "-changelog";
    }
}
