
(() => {
  const table = byId("grid");
  const names = data.models.map((model) => model.name);
  const keyOfPair = (baseline, candidate) => JSON.stringify([baseline, candidate]);
  const pairs = new Map(data.pairs.map((row) => [keyOfPair(row.baseline, row.candidate), row]));
  const references = new Map((data.reference || []).map((row) => [keyOfPair(row.baseline, row.candidate), row]));
  const signs = data.measure === "error" ? -1 : 1;
  const bdi = (name) => element("bdi", {}, String(name));
  const whole = (value) => (value === null || value === undefined ? DASH : value.toLocaleString("en"));
  const placeOf = (cell) => [cell.parentElement.rowIndex - 1, cell.cellIndex - 1];
  const betterOf = (row, first, second) => {
    if (!row || row.verdict === "inconclusive") return null;
    return row.verdict === "candidate" ? first : second; // row: the first is its candidate
  };
  const words = (cell) => {
    const [i, j] = placeOf(cell);
    if (i === j) return names[i];
    if (cell.classList.contains("up")) return `${names[i]} is shown to be better than ${names[j]}`;
    if (cell.classList.contains("down")) return `${names[j]} is shown to be better than ${names[i]}`;
    return `${names[i]} and ${names[j]}: the labels cannot tell which is better`;
  };
  const fact = (name, value) => [element("dt", {}, name), element("dd", {}, ...[].concat(value))];
  const evidence = (first, second) => {
    const row = pairs.get(keyOfPair(second, first)); // the first as candidate: differences are "first minus second"
    if (!row) return [element("p", {}, "No evidence of this pair is in the data of this page.")];
    const difference = row.difference === null ? null : signs * row.difference;
    const ends = [row.low, row.high].map((end) => (end === null ? null : signs * end)).sort((a, b) => a - b);
    const width = ends.includes(null) ? 0.1 : ends[1] - ends[0];
    const digits = width >= 0.01 || width <= 0 ? 1 : width >= 0.001 ? 2 : 3;
    const range = ends.includes(null) ? "" : ` [${ends.map((end) => pointsText(end, digits)).join(", ")}]`;
    const better = betterOf(row, first, second);
    const parts = [element("p", { class: "conclusion" }, element("strong", {},
      ...(better === null ? ["The labels cannot tell which is better."] : [bdi(better), " is shown to be better."])))];
    if (row.won !== undefined && row.won !== null) {
      const counts = [[first, row.won, "c0"], [second, row.lost, "c1"], [null, row.neither, "c7"]];
      const stack = element("div", { class: "stack", "aria-hidden": "true" });
      counts.filter(([, size]) => size).forEach(([, size, colour]) => {
        const piece = element("i", { class: colour });
        piece.style.flexGrow = String(size);
        stack.append(piece);
      });
      const key = element("ul", { class: "key" }, ...counts.map(([name, size, colour]) => element("li", {},
        element("i", { class: `dot ${colour}`, "aria-hidden": "true" }), "label says ", name === null ? "neither" : bdi(name), ": ", element("b", {}, whole(size)))));
      parts.push(element("p", {}, `They disagree on ${whole(row.won + row.lost + row.neither)} of ${whole(row.n)} instances.`), stack, key);
    }
    const facts = [
      ...fact("Difference", [`${pointsText(difference, digits)} points${range}, `, bdi(first), " minus ", bdi(second), signs < 0 ? " (turned, so that more is better)" : ""]),
      ...fact("Level", `${number(100 * row.level, 4).replace(/\.?0+$/, "")}%`),
      ...fact("p-value", row.p_value === null ? DASH : `${probabilityText(row.p_value)}, one-sided, not adjusted`),
      ...fact("Bears wrong labels", row.breakdown_rate === null ? DASH : `up to ${percentText(Math.floor(row.breakdown_rate * 1e4 + 1e-9) / 1e4, 2)}, wherever they are`),
    ];
    const truth = references.get(keyOfPair(second, first));
    if (truth) {
      const right = betterOf(truth, first, second);
      facts.push(...fact("On true labels", [right === null ? "not shown" : bdi(right), right === null ? "" : " is better",
        `; ${pointsText(truth.difference === null ? null : signs * truth.difference, digits)} points`]));
    }
    parts.push(element("dl", { class: "facts" }, ...facts));
    return parts;
  };
  const open = (cell) => {
    const [i, j] = placeOf(cell);
    if (i !== j) openPanel("Evidence of a pair", [bdi(names[i]), " against ", bdi(names[j])], evidence(names[i], names[j]));
  };
  all("td", table.tBodies[0]).forEach((cell) => { if (names.length <= 40) cell.setAttribute("aria-label", words(cell)); });
  grid(table, {
    cells: "td",
    told: (cell) => {
      byId("grid-says").textContent = words(cell);
      cell.setAttribute("aria-label", words(cell));
    },
    open,
  });
})();
