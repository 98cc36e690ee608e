// Reads the queries that the page holds. Documents are packed, suite by suite, and unpacked when one is looked at.
const queryData = (() => {
  "use strict";

  // Sets and maps throughout: ids may be called __proto__ or constructor.
  const suiteOf = (raw) => ({
    ...raw,
    labels: new Map(raw.labels),
    words: new Map(raw.words),
    rules: raw.rules.map((rule) => ({ ...rule, members: new Set(rule.queries) })),
    haystacks: null,
    unpacked: null,
  });

  const read = () => {
    // A suite may be called that, too.
    const element = document.querySelector("script#ireval-data");
    if (!element || !element.textContent.trim()) return { first: 20, suites: [] };
    const { first, suites } = JSON.parse(element.textContent);
    return { first, suites: suites.map(suiteOf) };
  };

  // What is searched: everything a row says in words.
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  const haystack = (suite, position) => {
    const slices = suite.columns.map((each) => each.values[each.of[position]]);
    return plain([suite.ids[position], suite.texts[position] ?? "", ...slices].join("\n"));
  };
  const haystacks = (suite) => {
    suite.haystacks ??= suite.ids.map((_, position) => haystack(suite, position));
    return suite.haystacks;
  };

  // A map from a query's position to its documents; an empty one in browsers that cannot unpack.
  const documents = (suite) => {
    suite.unpacked ??=
      packed.possible
        ? packed.text(suite.documents).then((text) => new Map(JSON.parse(text).map((each) => [each.query, each])))
        : Promise.resolve(new Map());
    return suite.unpacked;
  };

  const why = (suite, position, metric) => {
    const explained = metric?.why ? metric : suite.metrics.find((each) => each.why);
    return explained ? explained.why + (suite.words.get(position) ?? suite.ids[position]) : "";
  };

  const anchor = (suite, position) => `${suite.name}::q=${suite.ids[position]}`;
  const link = (suite, position) =>
    `#${encodeURIComponent(anchor(suite, position)).replace(/%3A/g, ":").replace(/%3D/g, "=")}`;

  return { read, plain, haystacks, documents, why, anchor, link };
})();
