package trueup.peer;

import java.util.LinkedHashMap;
import java.util.Map;

/** Deletes the topics of one round: its inputs and what the engine made of them. */
public final class Remove {
    private Remove() {}

    public static void main(String[] words) {
        Map<String, String> known = new LinkedHashMap<>();
        known.put("bootstrap", "");
        known.put("prefix", "");
        try {
            Arguments arguments = new Arguments(words, known);
            try (Broker broker = new Broker(arguments.text("bootstrap"))) {
                int removed = broker.removeAll(arguments.text("prefix"));
                System.out.println("{\"removed\": " + removed + "}");
            }
        } catch (Arguments.Wrong wrong) {
            System.err.println("remove: " + wrong.getMessage());
            System.exit(2);
        }
    }
}
