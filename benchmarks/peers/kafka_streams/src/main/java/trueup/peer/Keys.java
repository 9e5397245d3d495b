package trueup.peer;

import org.apache.kafka.common.utils.Utils;

/** Where a key lies: as every Java client decides, and the engine. */
final class Keys {
    private Keys() {}

    static int partition(byte[] key, int partitions) {
        return Utils.toPositive(Utils.murmur2(key)) % partitions;
    }
}
