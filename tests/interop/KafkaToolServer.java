import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs the main methods of Kafka's command-line tools one after another in one process, because
 * starting a process for each takes longer than everything that they do.
 *
 * <p>Reads one JSON object per line, {"classes": [candidates], "args": [...], "input": base64}, and
 * answers each with {"status", "out", "err"}.
 */
public final class KafkaToolServer {
    private static final int RUNNING = Integer.MIN_VALUE;

    /** Ends a tool where it would have ended its process. */
    private static final class Ended extends Error {
        Ended() {
            super(null, null, false, false);
        }
    }

    public static void main(String[] args) throws Exception {
        var mapper = new ObjectMapper();
        var requests =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = System.out;
        // Scala's Console keeps the stream that it finds first: these stay for good.
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        var status = new AtomicInteger();
        Exit.Procedure end =
                (code, message) -> {
                    // A tool may exit once more in its finally block: what came first is meant.
                    status.compareAndSet(RUNNING, code);
                    throw new Ended();
                };
        Exit.setExitProcedure(end);
        Exit.setHaltProcedure(end);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode request = mapper.readTree(line);
            out.reset();
            err.reset();
            status.set(RUNNING);
            System.setIn(
                    new ByteArrayInputStream(
                            Base64.getDecoder().decode(request.get("input").asText())));
            run(
                    request.get("classes"),
                    mapper.convertValue(request.get("args"), String[].class),
                    status);
            status.compareAndSet(RUNNING, 0);
            answers.println(
                    mapper.writeValueAsString(
                            Map.of(
                                    "status", status.get(),
                                    "out", out.toString(StandardCharsets.UTF_8),
                                    "err", err.toString(StandardCharsets.UTF_8))));
        }
    }

    private static void run(JsonNode classes, String[] args, AtomicInteger status)
            throws ReflectiveOperationException {
        try {
            find(classes).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException failure) {
            if (!(failure.getCause() instanceof Ended)) {
                failure.getCause().printStackTrace();
                status.compareAndSet(RUNNING, 1);
            }
        }
    }

    private static Class<?> find(JsonNode classes) throws ClassNotFoundException {
        for (JsonNode name : classes) {
            try {
                return Class.forName(name.asText());
            } catch (ClassNotFoundException elsewhere) {
                // Kafka moved its tools from one package to another.
            }
        }
        throw new ClassNotFoundException(classes.toString());
    }
}
