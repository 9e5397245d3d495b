package trueup.peer;

import java.util.Arrays;

/**
 * Writes the bytes of a `trueup.v1.Change` as the engine's own writer does: fields by number, what
 * is 0 or empty left out. Fields are to be given in the order of their numbers.
 */
final class ChangeWriter {
    private byte[] out = new byte[512];
    private int size;

    byte[] take() {
        byte[] bytes = Arrays.copyOf(out, size);
        size = 0;
        return bytes;
    }

    ChangeWriter always(int field, long number) {
        varint((long) field << 3);
        varint(number);
        return this;
    }

    ChangeWriter number(int field, long number) {
        return number == 0 ? this : always(field, number);
    }

    ChangeWriter text(int field, byte[] text) {
        if (text.length == 0) return this;
        varint((long) field << 3 | 2);
        varint(text.length);
        if (out.length < size + text.length) out = Arrays.copyOf(out, 2 * (size + text.length));
        System.arraycopy(text, 0, out, size, text.length);
        size += text.length;
        return this;
    }

    private void varint(long number) {
        if (out.length < size + 10) out = Arrays.copyOf(out, 2 * out.length);
        for (; (number & ~0x7fL) != 0; number >>>= 7) out[size++] = (byte) (number | 0x80);
        out[size++] = (byte) number;
    }
}
