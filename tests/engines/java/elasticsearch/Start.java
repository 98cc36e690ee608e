import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.analysis.AbstractIndexAnalyzerProvider;
import org.elasticsearch.index.analysis.AnalyzerProvider;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.script.mustache.MustachePlugin;
import org.elasticsearch.transport.Netty4Plugin;

/** One node of Elasticsearch, with HTTP and an analyzer of English, until its input or a signal ends it: Start SETTING=VALUE … */
class Start extends Node {
    /** The module with the analyzers of languages is not published as a jar; Lucene's analyzer of English is the same. */
    public static class English extends Plugin implements AnalysisPlugin {
        @Override
        public Map<String, AnalysisProvider<AnalyzerProvider<? extends Analyzer>>> getAnalyzers() {
            return Map.of("english", Provider::new);
        }
    }

    static class Provider extends AbstractIndexAnalyzerProvider<Analyzer> {
        private final Analyzer analyzer = new EnglishAnalyzer();

        Provider(IndexSettings index, Environment environment, String name, Settings settings) {
            super(index, name, settings);
        }

        @Override
        public Analyzer get() {
            return analyzer;
        }
    }

    Start(Settings settings) {
        super(
                InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "node"),
                List.of(Netty4Plugin.class, MustachePlugin.class, English.class),
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
