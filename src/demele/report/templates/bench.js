// The page works without this script; it adds large figures, the panel of evidence, order, search and the theme.
(async () => {
  const dataText = await unpacked(byId("data").textContent);
  const data = JSON.parse(dataText);
  const evidence = byId("evidence-html");
  if (evidence) byId("evidence-place").innerHTML = JSON.parse(await unpacked(evidence.textContent)); // made, and escaped, with the page
  const list = (value) => value || [];

  // Small tools -----------------------------------------------------------------------------------------------------

  const interval = (low, high) => (low === null || high === null ? "" : `[${number(low)}, ${number(high)}]`);

  const metrics = new Map(list(data.metrics).map((metric, position) => [metric.name, { ...metric, position }]));
  const scenarios = new Map(list(data.scenarios).map((scenario) => [scenario.name, scenario]));
  const rows = new Map(list(data.rows).map((row) => [row.name, row]));
  const criteria = new Map(list(data.criteria).map((criterion) => [criterion.name, criterion]));
  const keyOf = (...names) => JSON.stringify(names);
  const curves = new Map(list(data.curves).map((curve) => [keyOf(curve.metric, curve.scenario), curve]));
  const verdicts = new Map(list(data.verdicts).map((verdict) => [keyOf(verdict.row, verdict.criterion), verdict]));
  const titleOf = (items, name) => String((items.get(name) || {}).title || name);
  const classOf = (metric) => `c${(metrics.get(metric) || { position: 0 }).position % 8}`;
  const dashOf = (metric) => ["", "6 3", "2 2", "6 2 2 2"][Math.floor((metrics.get(metric) || { position: 0 }).position / 8) % 4];
  const labelOf = (scenario, place) => {
    const labels = list(scenario.labels);
    const severities = list(scenario.severities);
    return String(place < labels.length ? labels[place] : place < severities.length ? severities[place] : place + 1);
  };

  // Figures ---------------------------------------------------------------------------------------------------------

  const toldOf = (curve, scenario, place) => {
    const reason = list(curve.reasons)[place];
    return [
      element("b", {}, titleOf(metrics, curve.metric)), labelOf(scenario, place),
      element("span", {}, element("b", {}, number(curve.mean[place])), ` ${interval(curve.low[place], curve.high[place])}`),
      `${list(curve.n)[place] ?? 0} seeds${list(curve.failed)[place] ? `, ${curve.failed[place]} without a value` : ""}`,
      ...(reason ? [short(reason, 90)] : []),
    ];
  };
  const isOwn = (metric) => Boolean((metrics.get(metric) || {}).own);
  const lineOf = (curve, scenario, { faint = false, behind = false }) => ({
    ...curve, name: curve.metric, faint, behind, colour: classOf(curve.metric), dash: dashOf(curve.metric), width: isOwn(curve.metric) ? 4 : 2,
    told: (place) => toldOf(curve, scenario, place),
  });
  const taking = (scenario, names) => names.map((name) => curves.get(keyOf(name, scenario)))
    .filter((curve) => curve && !curve.declined && curve.mean.some((mean) => mean !== null));
  const ends = (curve) => {
    const known = curve.mean.filter((mean) => mean !== null);
    return `${titleOf(metrics, curve.metric)} from ${number(known[0])} to ${number(known[known.length - 1])}`;
  };
  // Means with their bands; those behind are thin and grey, to compare with, and tell their name when pointed at.
  const draw = (plot, name, names, behind = []) => {
    const scenario = scenarios.get(name) || { severities: [], labels: [] };
    const shown = taking(name, names);
    const compared = taking(name, behind);
    const onTop = [...shown].sort((a, b) => isOwn(a.metric) - isOwn(b.metric));
    const values = [...shown, ...compared].flatMap((curve) => [...curve.mean, ...curve.low, ...curve.high]).filter((value) => value !== null);
    const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
    const room = 0.03 * (high - low);
    const steps = Math.max(1, list(scenario.severities).length, ...shown.map((curve) => curve.mean.length));
    plot.picture.setAttribute("aria-label", `${titleOf(scenarios, name)}: ${shown.slice(0, 4).map(ends).join("; ")}${shown.length > 4 ? ` and ${shown.length - 4} more` : ""}`);
    drawCurves(plot, {
      labels: Array.from({ length: steps }, (_, place) => labelOf(scenario, place)), low: low - room, high: high + room, across: scenario.sweep || "", up: "score",
      lines: [...compared.map((curve) => lineOf(curve, scenario, { behind: true })),
        ...onTop.map((curve) => lineOf(curve, scenario, { faint: shown.length > 4 && !isOwn(curve.metric) }))],
    });
  };
  const figure = (caption, height, wanted) => figureOf(caption, { kind: "curves", height, file: "demele-curves" }, (plot) => {
    const { scenario, names, behind } = wanted();
    draw(plot, scenario, names, behind);
  });
  const valuesTable = (name, names) => {
    const scenario = scenarios.get(name) || {};
    const shown = names.map((metric) => curves.get(keyOf(metric, name))).filter(Boolean);
    const places = [...Array(Math.max(0, ...shown.map((curve) => curve.mean.length))).keys()];
    const head = element("tr", {}, element("th", { scope: "col" }, "Metric"),
      ...places.map((place) => element("th", { scope: "col", class: "number" }, labelOf(scenario, place))));
    const body = shown.map((curve) => {
      const cells = curve.declined
        ? [element("td", { colspan: String(Math.max(1, places.length)) }, `takes no part: ${curve.declined}`)]
        : places.map((place) => element("td", { class: "number" }, number(curve.mean[place]),
          element("span", { class: "interval below" }, interval(curve.low[place] ?? null, curve.high[place] ?? null)),
          ...(list(curve.failed)[place] ? [element("span", { class: "interval below", title: String(list(curve.reasons)[place] || "") }, `${curve.failed[place]} failed`)] : [])));
      return element("tr", {}, element("th", { scope: "row" }, titleOf(metrics, curve.metric)), ...cells);
    });
    return element("table", {}, element("caption", { class: "hidden" }, `Values: ${titleOf(scenarios, name)}`),
      element("thead", {}, head), element("tbody", {}, ...body));
  };
  const wordsOf = (name) => {
    const scenario = scenarios.get(name);
    if (!scenario) return [];
    const wanted = list(scenario.wanted).map((item) => element("li", {}, `${item.property === "any" ? "any metric" : item.property}: ${item.text}`));
    return [
      ...(scenario.question ? [element("p", {}, scenario.question)] : []),
      ...(wanted.length ? [element("p", { class: "wanted" }, "What is wanted of a measure of each property:"), element("ul", { class: "wanted" }, ...wanted)] : []),
    ];
  };

  // Curves: one scenario, any metrics -------------------------------------------------------------------------------

  const chosen = byId("scenario");
  const boxes = all(".chips .shown");
  let large = null; // drawn when it first comes near
  const shownMetrics = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const fillValues = () => {
    const details = byId("curves-values");
    if (details && details.open) details.querySelector(".scroll").replaceChildren(valuesTable(chosen.value, shownMetrics()));
  };
  const drawLarge = () => {
    if (!large) return;
    byId("scenario-words").replaceChildren(...wordsOf(chosen.value));
    large.paint();
    boxes.forEach((box) => box.parentElement.classList.toggle("absent", !taking(chosen.value, [box.value]).length));
    fillValues();
  };
  const startLarge = () => {
    if (large || !chosen) return;
    large = figure([], 460, () => ({ scenario: chosen.value, names: shownMetrics() }));
    byId("curves-panel").append(large.whole);
    drawLarge();
  };
  if (chosen) {
    chosen.addEventListener("input", drawLarge);
    boxes.forEach((box) => box.addEventListener("input", drawLarge));
    all(".only").forEach((button) => button.addEventListener("click", () => {
      const property = button.dataset.property;
      boxes.forEach((box) => {
        box.checked = property === "" || list((metrics.get(box.value) || {}).properties).includes(property);
      });
      drawLarge();
    }));
    byId("curves-values").addEventListener("toggle", fillValues);
    byId("scenario-words").replaceChildren(...wordsOf(chosen.value));
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      startLarge();
    }, { rootMargin: "300px" }).observe(byId("curves-panel"));
  }

  // The panel: evidence of a cell, or one curve ---------------------------------------------------------------------

  const panel = byId("panel");
  const body = byId("panel-body");
  let siblings = [];
  const show = (kind, title, content, figures) => {
    openPanel(kind, [title], content);
    figures.forEach((made) => made.paint());
  };
  const key = (names) => names.map((name) => element("span", { class: "key" },
    element("i", { class: `dot c${(metrics.get(name) || { position: 0 }).position % 8}`, "aria-hidden": "true" }), element("bdi", {}, titleOf(metrics, name))));
  // What stands grey behind own curves: metrics that claim the same; any that claim something, where that was not said.
  const comparable = (scenario, names) => {
    const own = names.map((name) => metrics.get(name)).filter((metric) => metric && metric.own);
    if (!own.length) return { names: [], why: "" };
    const claims = (metric) => [...list(metric.properties)].sort().join();
    const said = own.filter((metric) => list(metric.properties).length).map(claims);
    const same = [...metrics.values()].filter((metric) => !metric.own && claims(metric) && (!said.length || said.includes(claims(metric))));
    const curved = new Set(taking(scenario, same.map((metric) => metric.name)).map((curve) => curve.metric));
    // The first of each kind before the second of any, so that few lines are not all alike.
    const seen = new Map();
    const ranked = same.filter((metric) => curved.has(metric.name)).map((metric) => {
      const kind = keyOf(metric.family, claims(metric));
      seen.set(kind, (seen.get(kind) || 0) + 1);
      return [seen.get(kind), metric.name];
    }).sort(([a], [b]) => a - b);
    return { names: ranked.slice(0, 5).map(([, name]) => name), why: said.length ? "metrics with the same claims" : "other metrics" };
  };
  const showEvidence = (place) => {
    const { row, criterion } = cellOf.get(place.id);
    const verdict = verdicts.get(keyOf(row, criterion)) || {};
    const names = list((rows.get(row) || {}).metrics).filter((name) => metrics.has(name));
    const concerned = [...new Set([...list(verdict.parts).map((part) => part.scenario), ...list((criteria.get(criterion) || {}).scenarios)])]
      .filter((name) => scenarios.has(name) && taking(name, names).length);
    const figures = concerned.map((name) => {
      const used = taking(name, names).map((curve) => curve.metric);
      const { names: behind, why } = comparable(name, used);
      const told = behind.length ? [element("span", { class: "key behind", title: behind.map((item) => titleOf(metrics, item)).join(", ") },
        element("i", { class: "stroke", "aria-hidden": "true" }), `${why}: ${behind.length}`)] : [];
      return figure([element("b", {}, titleOf(scenarios, name)), " ", ...key(used), ...told], concerned.length > 1 ? 280 : 340,
        () => ({ scenario: name, names: used, behind }));
    });
    const asks = criteria.get(criterion) || {};
    const facts = [["Question", asks.question], ["Rule", asks.rule]].filter(([, words]) => words);
    const [conclusion, ...rest] = [...place.childNodes].map((node) => node.cloneNode(true));
    const cards = names.flatMap((name, at) => [...(at ? [", "] : []), element("a", { href: `#${identityOf(name).replace("evidence", "card")}` }, titleOf(metrics, name))]);
    conclusion.replaceChildren(element("span", { class: `badge ${String(verdict.status).replace(" ", "-")}` }, verdict.status), " ", verdict.summary || "");
    const content = [conclusion, element("dl", { class: "facts" }, ...facts.flatMap(([name, words]) => [element("dt", {}, name), element("dd", {}, words)])),
      ...rest, element("p", { class: "more" }, "All curves: ", ...cards)];
    // Conclusion, question and rule stand before the curves, the numbers after them.
    const after = content.findIndex((node) => node.classList && (node.classList.contains("scroll") || node.classList.contains("more")));
    const cut = after < 0 ? content.length : after;
    const frame = element("div", { class: `panels${figures.length > 1 ? "" : " wide"}` }, ...figures.map((item) => item.whole));
    const cell = all(".verdicts a.cell").find((link) => link.hash === `#${place.id}`);
    siblings = cell ? all("a.cell", cell.closest("tr")).map((link) => link.hash) : [];
    const at = siblings.indexOf(`#${place.id}`);
    byId("panel-before").disabled = at <= 0;
    byId("panel-after").disabled = at < 0 || at === siblings.length - 1;
    history.replaceState(null, "", `#${place.id}`);
    show(titleOf(rows, row), titleOf(criteria, criterion), [...content.slice(0, cut), frame, ...content.slice(cut)], figures);
  };
  const identityOf = (...names) => ["evidence", ...names.map((name) => String(name).replace(/[^A-Za-z0-9_]/gu, (sign) => `.${sign.codePointAt(0).toString(16)}.`))].join("-");
  const cellOf = new Map(list(data.verdicts).map((verdict) => [identityOf(verdict.row, verdict.criterion), verdict]));
  const placeOf = (hash) => {
    const target = hash.length > 1 && byId(decodeURIComponent(hash.slice(1)));
    return target && target.classList.contains("evidence-body") ? target : null;
  };
  const showCurve = (metric, scenario) => {
    const made = figure(key([metric]), 380, () => ({ scenario, names: [metric] }));
    siblings = [];
    byId("panel-before").disabled = byId("panel-after").disabled = true;
    const table = element("div", { class: "scroll" }, valuesTable(scenario, [metric]));
    show(titleOf(metrics, metric), titleOf(scenarios, scenario),
      [...wordsOf(scenario), element("div", { class: "panels wide" }, made.whole), table], [made]);
  };
  const move = (by) => {
    const next = siblings[siblings.indexOf(location.hash) + by];
    if (next) showEvidence(placeOf(next));
  };
  byId("panel-before").hidden = byId("panel-after").hidden = false;
  byId("panel-before").addEventListener("click", () => move(-1));
  byId("panel-after").addEventListener("click", () => move(1));
  panel.addEventListener("keydown", (event) => {
    if (event.target.closest(".scroll, input, select")) return;
    if (event.key === "ArrowLeft") move(-1);
    if (event.key === "ArrowRight") move(1);
  });
  panel.addEventListener("close", () => {
    if (panel.open) return; // opened again before this was told
    body.replaceChildren();
    if (placeOf(location.hash)) history.replaceState(null, "", location.pathname + location.search);
  });

  // Links lead to what they name, however folded it is --------------------------------------------------------------

  const reveal = () => {
    const place = placeOf(location.hash);
    if (place) {
      showEvidence(place);
      return;
    }
    const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let item = target; item; item = item.parentElement) if (item.tagName === "DETAILS") item.open = true;
    target.scrollIntoView();
  };
  document.addEventListener("click", (event) => {
    const spark = event.target.closest("button.spark");
    if (spark) showCurve(spark.dataset.metric, spark.dataset.scenario);
    const link = event.target.closest('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const place = placeOf(link.hash);
    if (place) {
      event.preventDefault();
      showEvidence(place);
    } else if (panel.open && panel.contains(link)) {
      panel.close();
    }
    if (!place && link.hash === location.hash) reveal(); // the address does not change, so nothing else would
  });
  window.addEventListener("hashchange", reveal);

  // Order of the tables, search among the cards ---------------------------------------------------------------------

  all("select.order").forEach((select) => {
    const rowsBody = byId(select.dataset.table).tBodies[0];
    const given = [...rowsBody.rows];
    select.addEventListener("input", () => {
      const ordered = [...given];
      if (select.value === "holds") ordered.sort((a, b) => b.dataset.holds - a.dataset.holds);
      if (select.value === "name") ordered.sort((a, b) => a.dataset.name.localeCompare(b.dataset.name));
      rowsBody.append(...ordered);
    });
  });
  const cards = all("details.metric");
  byId("find").addEventListener("input", () => {
    const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    cards.forEach((card) => { card.hidden = !words.every((word) => card.dataset.words.includes(word)); });
    const left = cards.filter((card) => !card.hidden).length;
    byId("found").textContent = left === cards.length ? "" : `${left} of ${cards.length} metrics`;
  });
  byId("open-all").addEventListener("click", () => cards.forEach((card) => { card.open = true; }));
  byId("close-all").addEventListener("click", () => cards.forEach((card) => { card.open = false; }));

  // Downloading, printing, contents ---------------------------------------------------------------------------------

  const csv = () => {
    const wasRun = (verdict) => verdict.status !== "undecided" || list(verdict.parts).some((part) => list(part.conditions).length);
    const lines = list(data.verdicts).map((verdict) => [
      verdict.row, verdict.criterion, (criteria.get(verdict.criterion) || {}).group, wasRun(verdict) ? verdict.status : "not run", verdict.summary, verdict.printed, verdict.agrees,
    ]);
    return csvOf([["row", "criterion", "group", "status", "summary", "printed", "agrees"], ...lines]);
  };
  all(".download-json").forEach((button) => button.addEventListener("click", () =>
    download(dataText, "application/json", "demele-characterisation.json")));
  all(".download-csv").forEach((button) => button.addEventListener("click", () => download(csv(), "text/csv", "demele-verdicts.csv")));

  startPage({ folded: "details.metric:not([open])", redraw: startLarge });
  reveal();
  document.body.dataset.ready = "true"; // for programs that open the page
})();
