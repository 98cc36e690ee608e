// Draws recall and precision of one query: the documents that were found, and the steps of what is left to expect.
const queryCurve = (() => {
  "use strict";

  const WIDTH = 320, HEIGHT = 200, LEFT = 34, TOP = 10, RIGHT = 12, FOOT = 34;
  const x = (recall) => Math.round((LEFT + recall * (WIDTH - LEFT - RIGHT)) * 10) / 10;
  const y = (precision) => Math.round((HEIGHT - FOOT - precision * (HEIGHT - FOOT - TOP)) * 10) / 10;
  const shape = (...parts) => queryView.shape(...parts);

  // At each recall the best precision there or later; nothing beyond the last document that was found.
  const steps = ({ recall, precision }) => {
    const best = [...precision];
    for (let each = best.length - 2; each >= 0; each--) best[each] = Math.max(best[each], best[each + 1]);
    const path = best.map((value, each) => `V${y(value)}H${x(recall[each])}`).join("");
    return `M${x(0)} ${y(best.length ? best[0] : 0)}${path}V${y(0)}H${x(1)}`;
  };

  const axes = () => [
    ...[0, 0.5, 1].flatMap((value) => [
      shape("line", { class: "grid", x1: x(0), x2: x(1), y1: y(value), y2: y(value) }),
      shape("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, String(value)),
      shape("text", { x: x(value), y: HEIGHT - FOOT + 14, "text-anchor": "middle" }, String(value)),
    ]),
    shape("text", { x: x(0.5), y: HEIGHT - 4, "text-anchor": "middle" }, "recall"),
  ];

  const curve = (points, side) =>
    shape(
      "g",
      { class: side },
      shape("path", { d: steps(points) }),
      ...points.recall.map((recall, each) => shape("circle", { cx: x(recall), cy: y(points.precision[each]), r: 3 })),
    );

  const said = (points, side) => {
    const last = points.recall.length ? ` up to recall ${points.recall[points.recall.length - 1].toFixed(2)}` : "";
    return `${side}: ${points.recall.length} relevant found${last}.`;
  };

  const key = (side) => queryView.make("span", { class: `key ${side}` }, side);

  // A list of one picture, or of none where the query has no relevant documents.
  const draw = ({ curves: [before, now] }) => {
    const sides = [[before, "baseline"], [now, "now"]].filter(([points]) => points);
    if (!sides.length) return [];
    const label = `Precision at each recall. ${sides.map(([points, side]) => said(points, side)).join(" ")}`;
    const picture = shape(
      "svg",
      { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
      ...axes(),
      ...sides.map(([points, side]) => curve(points, side)),
    );
    const title = queryView.make("figcaption", {}, "Precision at each recall", ...sides.map(([, side]) => key(side)));
    return [queryView.make("figure", { class: "query-curve" }, title, picture)];
  };

  return { draw };
})();
