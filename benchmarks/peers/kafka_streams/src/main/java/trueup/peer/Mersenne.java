package trueup.peer;

/** std::mt19937_64, so that a seed means the same load here and in benchmarks/load.cpp. */
final class Mersenne {
    private static final int N = 312;
    private static final int M = 156;
    private static final long MATRIX = 0xb5026f5aa96619e9L;
    private static final long LOW = (1L << 31) - 1;

    private final long[] state = new long[N];
    private int at = N;

    Mersenne(long seed) {
        state[0] = seed;
        for (int i = 1; i < N; ++i) {
            state[i] = 6364136223846793005L * (state[i - 1] ^ state[i - 1] >>> 62) + i;
        }
    }

    private void refill() {
        for (int i = 0; i < N; ++i) {
            long x = state[i] & ~LOW | state[(i + 1) % N] & LOW;
            state[i] = state[(i + M) % N] ^ x >>> 1 ^ (x & 1) * MATRIX;
        }
        at = 0;
    }

    private long next() {
        if (at == N) refill();
        long x = state[at++];
        x ^= x >>> 29 & 0x5555555555555555L;
        x ^= x << 17 & 0x71d67fffeda60000L;
        x ^= x << 37 & 0xfff7eee000000000L;
        return x ^ x >>> 43;
    }

    /** A number in [0, below). */
    int below(int below) {
        return (int) Long.remainderUnsigned(next(), below);
    }
}
