package trueup.peer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A command line of `--name value` pairs, each with a default or none. */
final class Arguments {
    /** What the caller can put right; printed without a stack. */
    static final class Wrong extends RuntimeException {
        private static final long serialVersionUID = 1;

        Wrong(String sentence) {
            super(sentence);
        }
    }

    private final Map<String, String> values = new LinkedHashMap<>();

    /** `known` maps each name to its default; an empty one must be given. */
    Arguments(String[] words, Map<String, String> known) {
        for (int i = 0; i < words.length; i += 2) {
            String name = words[i].startsWith("--") ? words[i].substring(2) : "";
            if (!known.containsKey(name)) {
                throw new Wrong(words[i] + " is not known; write one of --"
                        + String.join(", --", known.keySet()));
            }
            if (i + 1 == words.length) throw new Wrong("write a value after " + words[i]);
            values.put(name, words[i + 1]);
        }
        known.forEach(values::putIfAbsent);
        List<String> missing = new ArrayList<>();
        values.forEach((name, value) -> {
            if (value.isEmpty()) missing.add("--" + name);
        });
        if (!missing.isEmpty()) throw new Wrong("write also " + String.join(", ", missing));
    }

    String text(String name) {
        return values.get(name);
    }

    List<String> list(String name) {
        return List.of(values.get(name).split(","));
    }

    long number(String name, long least) {
        try {
            long number = Long.parseLong(values.get(name));
            if (number >= least) return number;
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new Wrong("--" + name + " " + values.get(name) + ": write a number of at least "
                + least);
    }

    int small(String name, int least) {
        return Math.toIntExact(number(name, least));
    }
}
