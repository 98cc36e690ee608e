import java.io.OutputStream;
import java.nio.file.Path;
import org.apache.solr.embedded.JettyConfig;
import org.apache.solr.embedded.JettySolrRunner;

/** Solr with the cores of this folder, until its input or a signal ends it: Start PORT. */
class Start {
    public static void main(String[] arguments) throws Exception {
        JettyConfig config = new JettyConfig.Builder()
                .setContext("/solr")
                .setPort(Integer.parseInt(arguments[0]))
                .stopAtShutdown(true)
                .build();
        new JettySolrRunner(Path.of("").toAbsolutePath().toString(), config).start();
        System.in.transferTo(OutputStream.nullOutputStream());
        System.exit(0);
    }
}
