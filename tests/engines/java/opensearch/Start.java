import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.script.mustache.MustachePlugin;
import org.opensearch.transport.Netty4Plugin;

/** One node of OpenSearch, with HTTP and the analyzers of languages, until its input or a signal ends it: Start SETTING=VALUE … */
class Start extends Node {
    Start(Settings settings) {
        super(
                InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "node"),
                List.of(Netty4Plugin.class, MustachePlugin.class, CommonAnalysisPlugin.class),
                false);
    }

    public static void main(String[] arguments) throws Exception {
        Settings.Builder settings = Settings.builder().put("path.home", Path.of("").toAbsolutePath().toString());
        for (String argument : arguments) {
            int sign = argument.indexOf('=');
            settings.put(argument.substring(0, sign), argument.substring(sign + 1));
        }
        Node node = new Start(settings.build());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (java.io.IOException error) {
                error.printStackTrace();
            }
        }));
        node.start();
        System.in.transferTo(OutputStream.nullOutputStream());
        System.exit(0);
    }
}
