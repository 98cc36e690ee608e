// Which queries a table shows, in which columns, and in which order.
const queryChoice = (() => {
  "use strict";

  const { figure, change, movedBy } = queryView;
  const collator = new Intl.Collator("en", { numeric: true });

  const changed = (metric) => metric.change.some((value) => value);
  const firstChanged = (metrics) => metrics.find(changed) ?? metrics[0];
  const isWorse = (metric, position) => movedBy(metric.change[position], metric.direction) === "worse";

  // ---- what there is to see: columns, each with its values

  const textColumn = (name, kind, value) => ({ name, kind, numeric: false, value, text: value });

  // A column of numbers is one for sorting, too; other values stay last.
  const ownColumn = ({ name, values, of }) => {
    const numbers = values.map((value) => (value.trim() ? Number(value) : NaN));
    const text = (position) => values[of[position]];
    if (!numbers.some(Number.isFinite) || values.some((value, each) => value && !Number.isFinite(numbers[each]))) {
      return textColumn(name, "column", text);
    }
    const number = (position) => (Number.isFinite(numbers[of[position]]) ? numbers[of[position]] : null);
    return { name, kind: "column", numeric: true, falls: false, value: number, text };
  };

  const numberColumns = (metric) => {
    const falls = metric.direction === "lower"; // the worst first means the largest first
    const column = (name, values, text) => ({
      name, kind: name, metric, numeric: true, falls, value: (position) => values[position] ?? null,
      text: (position) => text(values[position]),
    });
    const now = column("now", metric.now, figure);
    if (!metric.baseline.length) return [now];
    return [column("baseline", metric.baseline, figure), now, column("change", metric.change, change)];
  };

  const weightColumn = ({ weights }) => ({
    name: "weight", kind: "weight", numeric: true, falls: true,
    value: (position) => weights[position],
    text: (position) => String(weights[position]),
  });

  const columnsOf = (explorer) => {
    const { suite } = explorer;
    return [
      textColumn("query", "id", (position) => suite.ids[position]),
      textColumn("text", "text", (position) => suite.texts[position] ?? ""),
      ...suite.columns.map(ownColumn),
      ...(suite.weights ? [weightColumn(suite)] : []),
      ...explorer.metrics().flatMap(numberColumns),
    ];
  };

  // ---- which queries, in which order

  const inSlice = (suite, chosen) => {
    if (!chosen) return () => true;
    const [column, value] = chosen.split(":").map(Number);
    return (position) => suite.columns[column].of[position] === value;
  };

  const behindRules = (suite, chosen) => {
    if (!chosen) return () => true;
    const red = (rule) => ["fail", "stale", "error"].includes(rule.verdict);
    const meant = (rule, place) => chosen === "any" || (chosen === "red" ? red(rule) : place === Number(chosen));
    const rules = suite.rules.filter(meant);
    return (position) => rules.some((rule) => rule.members.has(position));
  };

  const withWords = (suite, text) => {
    const words = queryData.plain(text).split(/\s+/u).filter(Boolean);
    if (!words.length) return () => true;
    const texts = queryData.haystacks(suite);
    return (position) => words.every((word) => texts[position].includes(word));
  };

  const worsened = (explorer) => {
    if (!explorer.part("worsened").checked) return () => true;
    const metrics = explorer.metrics();
    return (position) => metrics.some((metric) => isWorse(metric, position));
  };

  const filtered = (explorer) => {
    const { suite, part } = explorer;
    const tests = [
      inSlice(suite, part("slice").value),
      behindRules(suite, part("rule").value),
      withWords(suite, part("words").value),
      worsened(explorer),
    ];
    return suite.ids.map((_, position) => position).filter((position) => tests.every((test) => test(position)));
  };

  // Queries without a figure stay last, whichever way the others go.
  const compare = (column, down) => (a, b) => {
    const left = column.value(a), right = column.value(b);
    if (left === null || right === null) return (left === null) - (right === null) || a - b;
    const way = column.numeric ? left - right : collator.compare(left, right);
    return (down ? -way : way) || a - b;
  };

  const same = (a, b) => a && b && a.name === b.name && a.kind === b.kind && a.metric === b.metric;

  const worstFirst = (explorer) => {
    const metric = firstChanged(explorer.metrics());
    const numeric = explorer.columns.filter((column) => column.metric === metric);
    const column = numeric[numeric.length - 1] ?? explorer.columns[0];
    return { column, down: Boolean(column.falls) };
  };

  return { columnsOf, filtered, compare, same, worstFirst, firstChanged };
})();
