// The page works without this script; it adds figures, order, search, copying and the theme.
(() => {
  const evaluations = (() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    return data.evaluations || [data];
  })();
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const several = evaluations.length > 1;

  // Small tools -----------------------------------------------------------------------------------------------------

  const interval = (pair) => (pair && pair[0] !== null && pair[1] !== null ? `[${number(pair[0])}, ${number(pair[1])}]` : "");
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const named = (index) => {
    const name = element("bdi", {}, String(evaluations[index].name));
    return several ? [element("i", { class: `dot c${index % 8}`, "aria-hidden": "true" }), name] : [name];
  };
  const title = (metric) => figures.titles[metric] || metric;
  const scoreOf = (panel) => evaluations[panel.evaluation].scores[panel.score];
  const options = (select, entries) => {
    select.replaceChildren(...entries.map(([value, text]) => element("option", { value }, text)));
  };

  // Tooltips: by mouse and by keyboard, closed by Escape ------------------------------------------------------------

  const tip = byId("tip");
  const showTip = (target) => {
    const mark = target && target.closest && target.closest("[data-tip]");
    if (!mark) return;
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const box = mark.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, window.innerWidth - tip.offsetWidth - 8));
    const below = box.bottom + 6;
    tip.style.left = `${left}px`;
    tip.style.top = `${below + tip.offsetHeight < window.innerHeight ? below : box.top - tip.offsetHeight - 6}px`;
  };
  const hideTip = () => { tip.hidden = true; };
  all("button.mark[title], .best[title], .spread[title], .assumed[title]").forEach((mark) => {
    mark.dataset.tip = mark.title;
    if (mark.tagName === "BUTTON") mark.setAttribute("aria-label", mark.title);
    mark.removeAttribute("title");
  });
  ["mouseover", "focusin", "click"].forEach((name) => document.addEventListener(name, (event) => showTip(event.target)));
  document.addEventListener("mouseout", hideTip);
  document.addEventListener("focusout", hideTip);
  document.addEventListener("scroll", () => { // moving the focus scrolls: its tip must stay
    const shown = !tip.hidden;
    hideTip();
    if (shown) showTip(document.activeElement);
  }, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

  // Table of all scores: groups, order, search ----------------------------------------------------------------------

  const overview = byId("overview");
  if (overview) {
    const heads = all("thead th", overview);
    const rows = all(".row", overview);
    const groupHeads = new Map(all("tbody", overview).map((body) => [body.querySelector(".row").dataset.property, body.querySelector(".group")]));
    rows.forEach((row, index) => { row.dataset.index = index; });
    let sorted = { column: -1, sign: 1 };
    const value = (row, column) => {
      const text = row.children[column].dataset.value;
      return column === 0 ? text : text === "" ? null : Number(text);
    };
    const compare = (first, second) => {
      if (sorted.column < 0) return first.dataset.index - second.dataset.index;
      const [a, b] = [value(first, sorted.column), value(second, sorted.column)];
      if (a === null || b === null) return (a === null) - (b === null); // gaps come last, whatever the order
      return sorted.sign * (a < b ? -1 : a > b ? 1 : 0);
    };
    const headOf = (kind, key) => {
      if (kind === "property") return groupHeads.get(key).cloneNode(true);
      const name = kind === "family" ? capital(key || "other") : "All metrics";
      return element("tr", { class: "group" }, element("th", { colspan: String(heads.length), scope: "rowgroup" }, name));
    };
    const arrange = () => {
      const kind = byId("group").value;
      const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
      const only = byId("only-fragile").checked;
      const shown = rows.filter((row) => words.every((word) => row.dataset.words.includes(word)) && (!only || row.dataset.fragile === "1"));
      const groups = new Map();
      if (kind) rows.forEach((row) => groups.set(row.dataset[kind], []));
      shown.forEach((row) => {
        const key = kind ? row.dataset[kind] : "";
        groups.set(key, [...(groups.get(key) || []), row]);
      });
      const bodies = [...groups].filter(([, group]) => group.length).map(([key, group]) =>
        element("tbody", {}, ...(kind ? [headOf(kind, key)] : []), ...group.sort(compare)));
      all("tbody", overview).forEach((body) => body.remove());
      overview.append(...bodies);
      byId("found").textContent = shown.length === rows.length ? "" : `${shown.length} of ${rows.length} metrics`;
    };
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const first = column === 0 ? 1 : -1; // names from A, scores from the largest
      if (sorted.column !== column) sorted = { column, sign: first };
      else sorted = sorted.sign === first ? { column, sign: -first } : { column: -1, sign: 1 };
      heads.forEach((other, index) => other.setAttribute("aria-sort",
        index !== sorted.column ? "none" : sorted.sign > 0 ? "ascending" : "descending"));
      arrange();
    }));
    ["find", "group", "only-fragile"].forEach((id) => byId(id).addEventListener("input", arrange));
  }

  // Figures ---------------------------------------------------------------------------------------------------------

  const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
  const BOTH_WAYS = ["#b35806", "#e08214", "#fdb863", "#fee0b6", "#f7f7f7", "#d8daeb", "#b2abd2", "#8073ac", "#542788"];
  const between = (colours, share) => {
    const place = Math.max(0, Math.min(1, share)) * (colours.length - 1);
    const [below, part] = [Math.min(Math.floor(place), colours.length - 2), place - Math.min(Math.floor(place), colours.length - 2)];
    const parts = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    const [first, second] = [parts(colours[below]), parts(colours[below + 1])];
    return `rgb(${first.map((value, at) => Math.round(value + part * (second[at] - value))).join()})`;
  };
  const place = (panels, caption, alt, kind, height, draw) => {
    const made = figureOf(caption, { kind, alt, height, file: "demele-figure" }, draw);
    panels.append(made.whole);
    return made;
  };
  const hiddenOnes = new Set();
  const visible = (panels) => panels.filter((panel) => !hiddenOnes.has(panel.evaluation));
  const tables = {};
  const tableOf = (caption, heads, rows) => {
    const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
    const body = rows.map(([name, ...cells]) => element("tr", {}, element("th", { scope: "row" }, name),
      ...cells.map((cell) => element("td", { class: "number" }, cell))));
    return element("table", {}, element("caption", {}, ...caption), element("thead", {}, head), element("tbody", {}, ...body));
  };
  const fillTable = (key) => {
    const details = byId(`${key}-values`);
    if (details && details.open) details.querySelector(".scroll").replaceChildren(...tables[key]());
  };
  ["matrix", "pair", "native", "dep"].forEach((key) => {
    const details = byId(`${key}-values`);
    if (details) details.addEventListener("toggle", () => fillTable(key));
  });

  // Codes against factors

  const drawMatrices = () => {
    const panels = byId("matrix-panels");
    if (!panels) return;
    const figure = figures.matrices[Number(byId("matrix").value)];
    const { low, high, both_ways: bothWays } = figure.scale;
    const colours = bothWays ? BOTH_WAYS : VIRIDIS;
    const gradient = element("i", { style: `background:linear-gradient(to right, ${colours.join(",")})` });
    const shown = visible(figure.panels);
    const chances = shown.map(chanceOf);
    byId("minus-chance").hidden = !chances.some(Boolean);
    const minus = byId("minus").checked && !byId("minus-chance").hidden;
    const gaps = shown.some((panel) => scoreOf(panel).matrix.values.some((row) => row.includes(null)));
    byId("ramp").replaceChildren(element("b", {}, capital(figure.what || "value") + (minus ? " minus chance" : "")), number(low, 2), gradient, number(high, 2),
      ...(gaps ? [element("i", { class: "none" }), "undefined"] : []),
      ...(chances.some(Boolean) ? [element("span", {}, "\u2571 no more than codes of noise tell")] : []));
    panels.replaceChildren();
    panels.classList.toggle("single", shown.length < 2);
    const ordered = shown.map((panel, at) => {
      const [matrix, chance] = [scoreOf(panel).matrix, chances[at]];
      const order = rowOrder(matrix);
      const struck = (row, column) => chance && matrix.values[row][column] !== null && matrix.values[row][column] <= chance.limit[row][column];
      const value = (row, column) => (minus && chance && matrix.values[row][column] !== null ? matrix.values[row][column] - chance.expected[row][column] : matrix.values[row][column]);
      return {
        panel, chance, order, columns: matrix.columns, rows: order.map((row) => matrix.rows[row]),
        values: order.map((row) => matrix.columns.map((_, column) => value(row, column))),
        struck: order.map((row) => matrix.columns.map((_, column) => struck(row, column))),
      };
    });
    const inkOn = (share) => ((bothWays ? Math.abs(share - 0.5) < 0.3 : share > 0.45) ? "#111111" : "#ffffff");
    // All places first: a figure takes the width that its place has when all are there.
    ordered.map(({ panel, chance, order, rows, columns, values, struck }) => {
      const height = Math.max(170, Math.min(30, Math.max(17, 560 / rows.length)) * rows.length + 100);
      return place(panels, several ? named(panel.evaluation) : [], matrixWords(figure, rows, columns, values, struck), "heat", height, (plot) => drawHeat(plot, {
        rows, columns, across: "factor", up: "code", digits: 2, numbers: rows.length <= 40,
        cellOf: (i, j) => {
          const share = values[i][j] === null || struck[i][j] ? (0 - low) / (high - low) : (values[i][j] - low) / (high - low);
          return {
            value: values[i][j], fill: between(colours, share), ink: inkOn(share), struck: struck[i][j],
            open: () => choosePair(panel.evaluation, columns[j], rows[i]) || chooseDependency(panel.evaluation, columns[j], rows[i]),
            lines: [`${rows[i]} \u00d7 ${columns[j]}`, element("b", {}, number(values[i][j])),
              ...(chance ? [`chance ${number(chance.expected[order[i]][j])}; of noise, no cell here exceeds ${number(chance.limit[order[i]][j])}`] : [])],
          };
        },
      }));
    }).forEach((made) => made.paint());
    tables.matrix = () => ordered.map(({ panel, rows, columns, values }) => tableOf(named(panel.evaluation), ["code", ...columns],
      rows.map((name, row) => [name, ...values[row].map((value) => number(value))])));
    fillTable("matrix");
  };
  const chanceOf = (panel) => (evaluations[panel.evaluation].matrix_chance || []).find((one) => one.metrics.includes(scoreOf(panel).metric));
  const rowOrder = (matrix) => {
    const order = matrix.rows.map((_, index) => index);
    if (byId("order").value === "given") return order;
    const best = matrix.values.map((row) => row.reduce((top, value, index) => (value !== null && value > top.value ? { value, index } : top), { value: -Infinity, index: row.length }));
    return order.sort((a, b) => best[a].index - best[b].index || best[b].value - best[a].value || a - b);
  };
  const matrixWords = (figure, rows, columns, values, struck) => {
    let top = null;
    values.forEach((row, i) => row.forEach((value, j) => { if (value !== null && (!top || value > top.value)) top = { value, i, j }; }));
    const largest = top ? `; largest: ${rows[top.i]} and ${columns[top.j]}, ${number(top.value)}` : "";
    const noise = struck.flat().filter(Boolean).length;
    const no = noise ? `; ${noise} of ${rows.length * columns.length} cells tell no more than noise` : "";
    return `Heat map of ${figure.what || "values"}: ${rows.length} codes by ${columns.length} factors${largest}${no}. The table below holds all values.`;
  };
  if (byId("matrix")) {
    options(byId("matrix"), figures.matrices.map((figure, index) => {
      const names = figure.metrics.map(title);
      const more = names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
      return [index, `${capital(figure.what || "values")} (${more})`];
    }));
    ["matrix", "order", "minus"].forEach((id) => byId(id).addEventListener("input", drawMatrices));
  }

  // One code against one factor, and two codes

  const samples = (figures.rows || []).map(unpackedRows);
  const pairOf = () => {
    const index = Number(byId("pair-evaluation").value);
    const sample = samples[index];
    const [code, factor, other] = ["pair-code", "pair-factor", "pair-other"].map((id) => Number(byId(id).value));
    return { index, sample, code: sample.codes[code], factor: sample.factors[factor], other: sample.codes[other] };
  };
  // Codes from the one that tells most of a factor, as far as a matrix of the evaluation says.
  const strongest = (index, factor) => {
    const matrix = (evaluations[index].scores.find((score) => score.matrix && score.matrix.columns.includes(factor)) || {}).matrix;
    const column = matrix ? matrix.columns.indexOf(factor) : -1;
    const told = (name) => (matrix && matrix.rows.includes(name) ? matrix.values[matrix.rows.indexOf(name)][column] ?? -Infinity : -Infinity);
    return samples[index].codes.map((item, at) => ({ at, told: told(item.name) })).sort((a, b) => b.told - a.told || a.at - b.at);
  };
  const fillPair = (index, factor, code) => {
    const { codes, factors } = samples[index];
    byId("pair-evaluation").value = index;
    ["pair-code", "pair-other"].forEach((id) => options(byId(id), codes.map((item, at) => [at, item.name])));
    options(byId("pair-factor"), factors.map((item, at) => [at, item.name]));
    const of = Math.max(0, factors.findIndex((item) => item.name === factor));
    const order = strongest(index, factors[of].name);
    const own = code === undefined ? order[0].at : codes.findIndex((item) => item.name === code);
    const other = (order.find((item) => item.at !== own) || order[0]).at;
    [["pair-factor", of], ["pair-code", own], ["pair-other", other]].forEach(([id, at]) => { byId(id).value = at; });
  };
  const choosePair = (index, factor, code) => {
    const sample = samples[index];
    if (!sample || !sample.factors.some((item) => item.name === factor) || !sample.codes.some((item) => item.name === code)) return false;
    fillPair(index, factor, code);
    drawPair();
    byId("pair").scrollIntoView();
    return true;
  };
  const classColour = (place, count) => (count <= 8 ? colour(`--c${place % 8}`) : `hsl(${Math.round((360 * place) / count)} 62% 50%)`);
  const keyOf = (factor) => {
    if (!factor.levels) return [number(factor.low, 2), element("i", { style: `background:linear-gradient(to right, ${VIRIDIS.join(",")})` }), number(factor.high, 2)];
    const names = [...factor.levels, ...(factor.rarer ? [`${factor.rarer} rarer`] : [])];
    return names.map((name, at) => element("span", {}, element("i", { class: "key", style: `background:${classColour(at, names.length)}` }), element("bdi", {}, name)));
  };
  const drawPair = () => {
    const panels = byId("pair-panels");
    if (!panels) return;
    const { sample, code, factor, other } = pairOf();
    panels.replaceChildren();
    const kind = factor.levels ? "boxes" : "density";
    const groups = groupsOf(code, factor);
    const middles = groups.filter((group) => group.count).map((group) => `${group.name}: ${number(group.median)}`);
    const alt = `${factor.levels ? "Boxes" : "Density"} of ${code.name} against ${factor.name}. Medians: ${middles.join("; ")}.`;
    const count = (factor.levels || []).length + (factor.rarer ? 1 : 0);
    const shade = (row) => (factor.levels ? classColour(factor.bytes[row], count) : between(VIRIDIS, factor.bytes[row] / BYTE_STEPS));
    const two = `${other.name} against ${code.name}, a point for each row, coloured by ${factor.name}.`;
    const made = [
      place(panels, [`${code.name} against ${factor.name}`], alt, kind, 340, (plot) => (factor.levels ? drawBoxes : drawDensity)(plot, code, factor)),
      place(panels, [`${other.name} against ${code.name}, coloured by ${factor.name}`], two, "two codes", 340, (plot) => drawTwo(plot, code, other, known(factor), shade)),
    ];
    made.forEach((one) => one.paint());
    byId("pair-key").replaceChildren(element("b", {}, factor.name), ...keyOf(factor));
    const drawn = sample.drawn < sample.n ? `${sample.drawn.toLocaleString("en")} of ${sample.n.toLocaleString("en")} rows, drawn at random` : `All ${sample.n.toLocaleString("en")} rows`;
    byId("pair-says").textContent = `${drawn}. Values beyond the central 99.6% stand at the edges.`;
    tables.pair = () => [tableOf([`${code.name} by ${factor.name}`], [factor.name, "rows", "5%", "25%", "median", "75%", "95%"],
      groups.map((group) => [group.name, String(group.count), ...[group.low, group.first, group.median, group.third, group.high].map((value) => number(value))]))];
    fillTable("pair");
  };
  if (byId("pair-panels")) {
    options(byId("pair-evaluation"), evaluations.map((item, index) => [index, item.name]).filter(([index]) => samples[index]));
    const first = samples.findIndex(Boolean);
    const score = evaluations[first].scores.find((item) => item.matrix);
    let top = { value: -Infinity };
    if (score) score.matrix.values.forEach((row, i) => row.forEach((value, j) => { if (value !== null && value > top.value) top = { value, code: score.matrix.rows[i], factor: score.matrix.columns[j] }; }));
    fillPair(first, top.factor, top.code);
    byId("pair-evaluation").addEventListener("input", () => { fillPair(Number(byId("pair-evaluation").value)); drawPair(); });
    ["pair-code", "pair-factor", "pair-other"].forEach((id) => byId(id).addEventListener("input", drawPair));
  }

  // Per factor and per code

  const drawNatives = () => {
    const panels = byId("native-panels");
    if (!panels) return;
    const figure = figures.natives[Number(byId("native").value)];
    const shown = visible(figure.panels);
    // Factors are the same things for every representation; codes that share a name are not.
    const groups = figure.unit === "per factor" ? [shown] : shown.map((panel) => [panel]);
    const definition = shown.length ? `${capital(figure.unit)}; the score as a whole: ` : "";
    byId("native-definition").replaceChildren(definition, ...shown.flatMap((panel, index) => [
      ...(index ? [", "] : []), ...(several ? named(panel.evaluation) : []), ` ${number(scoreOf(panel).value)}`]));
    panels.replaceChildren();
    panels.classList.toggle("wide", groups.length < 2);
    const scale = byId("axis").checked ? reachOf(shown) : figure.scale;
    groups.filter((group) => group.length).map((group) => placeOfBars(panels, figure, group, scale)).forEach((made) => made.paint());
    tables.native = () => [nativeTable(figure, shown)];
    fillTable("native");
  };
  const namesOf = (group) => [...new Set(group.flatMap((panel) => Object.keys(scoreOf(panel).native)))];
  const placeOfBars = (panels, figure, group, scale) => {
    const names = namesOf(group);
    const height = names.length * (group.length * (group.length > 1 ? 17 : 24) + 8) + 50;
    const what = `${title(figure.metric)}, ${figure.unit}`;
    const of = group.map((panel) => evaluations[panel.evaluation].name).join(", ");
    const alt = `Bars of ${what}: ${names.length} values for each of ${of}. The table below holds all values.`;
    const series = group.map((panel) => {
      const score = scoreOf(panel);
      const pairOf = (name) => (score.native_intervals || {})[name];
      const pairs = names.map((name) => (pairOf(name) && pairOf(name)[0] !== null ? pairOf(name) : null));
      return {
        colour: `c${panel.evaluation % 8}`, pairs, values: names.map((name) => (name in score.native ? score.native[name] : undefined)),
        lines: (at) => [names[at], ...(several ? [String(evaluations[panel.evaluation].name)] : []),
          element("span", {}, element("b", {}, number(score.native[names[at]])), ` ${interval(pairs[at])}`)],
      };
    });
    return place(panels, several && group.length === 1 ? named(group[0].evaluation) : [what], alt, "bars", height,
      (plot) => drawBars(plot, { names, series, ...scale }));
  };
  const reachOf = (group) => {
    const ends = group.flatMap((panel) => {
      const score = scoreOf(panel);
      return [...Object.values(score.native), ...Object.values(score.native_intervals || {}).flat()];
    }).filter((value) => value !== null);
    const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
    return high > low ? { low: low && low - 0.03 * (high - low), high: high && high + 0.03 * (high - low) } : { low: 0, high: 1 };
  };
  const nativeTable = (figure, shown) => {
    if (figure.unit === "per factor") {
      const names = [...new Set(shown.flatMap((panel) => Object.keys(scoreOf(panel).native)))];
      return tableOf([title(figure.metric)], ["factor", ...shown.map((panel) => evaluations[panel.evaluation].name)],
        names.map((name) => [name, ...shown.map((panel) => cellOf(scoreOf(panel), name))]));
    }
    return tableOf([title(figure.metric)], ["code", several ? "representation" : "of", "value"],
      shown.flatMap((panel) => Object.keys(scoreOf(panel).native).map((name) => [name, evaluations[panel.evaluation].name, cellOf(scoreOf(panel), name)])));
  };
  const cellOf = (score, name) => {
    if (!(name in score.native)) return "";
    return `${number(score.native[name])} ${interval((score.native_intervals || {})[name])}`.trim();
  };
  if (byId("native")) {
    options(byId("native"), figures.natives.map((figure, index) => [index, `${title(figure.metric)}, ${figure.unit}`]));
    ["native", "axis"].forEach((id) => byId(id).addEventListener("input", drawNatives));
  }

  // What other factors do

  const dependencyOf = () => {
    const index = Number(byId("dep-evaluation").value);
    const [factor, code] = [byId("dep-factor").value, byId("dep-code").value].map(Number);
    const pictures = evaluations[index].dependency;
    const factors = [...new Set(pictures.map((item) => item.factor))];
    const codes = [...new Set(pictures.map((item) => item.code))];
    return { index, pictures, factors, codes, factor: factors[factor], code: codes[code] };
  };
  const fillDependency = (factor, code) => {
    const { pictures, factors, codes } = dependencyOf();
    const best = pictures.reduce((top, item) => (!top || (item.score ?? -1) > (top.score ?? -1) ? item : top), null);
    options(byId("dep-factor"), factors.map((name, index) => [index, name]));
    options(byId("dep-code"), codes.map((name, index) => [index, name]));
    byId("dep-factor").value = Math.max(0, factors.indexOf(factor ?? best.factor));
    byId("dep-code").value = Math.max(0, codes.indexOf(code ?? best.code));
  };
  const chooseDependency = (index, factor, code) => {
    const select = byId("dep-evaluation");
    if (!select || !evaluations[index].dependency.some((item) => item.factor === factor && item.code === code)) return;
    select.value = index;
    fillDependency(factor, code);
    drawDependency();
    byId("dependency").scrollIntoView();
  };
  const drawDependency = () => {
    const panels = byId("dep-panels");
    if (!panels) return;
    const { index, pictures, factor, code } = dependencyOf();
    const picture = pictures.find((item) => item.factor === factor && item.code === code);
    panels.replaceChildren();
    tables.dep = () => [];
    if (!picture) {
      panels.append(element("p", {}, "This code was not measured against this factor."));
      return;
    }
    const kind = (evaluations[index].factors.find((item) => item.name === factor) || {}).kind;
    // The same axis for every factor of a code: bands can be compared from one picture to the next.
    const ofCode = pictures.filter((item) => item.code === code);
    const low = Math.min(...ofCode.flatMap((item) => item.low.filter((value) => value !== null)));
    const high = Math.max(...ofCode.flatMap((item) => item.high.filter((value) => value !== null)));
    const room = 0.05 * (high - low || 1);
    const words = `${code} against ${factor}, robustness ${number(picture.score)}`;
    const caption = [element("bdi", {}, code), " against ", element("bdi", {}, factor), element("span", { class: "meaning" }, ` \u00b7 robustness ${number(picture.score)}`)];
    const line = {
      ...picture, colour: `c${index % 8}`, width: 2.2,
      told: (at) => [String(picture.levels[at]), element("span", {}, "mean ", element("b", {}, number(picture.mean[at]))),
        `others: ${interval([picture.low[at], picture.high[at]])}`, `${picture.count[at]} rows`],
    };
    place(panels, caption, `Mean of ${words}; the band is what the other factors cause. The table below holds all values.`, "curves", 360, (plot) => drawCurves(plot, {
      labels: picture.levels.map((level) => short(level, 14)), lines: [line], low: low - room, high: high + room,
      across: short(factor, 40), up: short(code, 30), boxes: kind !== "continuous",
    })).paint();
    tables.dep = () => [tableOf([words], [factor, "mean", "range by the other factors", "rows"],
      picture.levels.map((level, at) => [level, number(picture.mean[at]), interval([picture.low[at], picture.high[at]]), String(picture.count[at])]))];
    fillTable("dep");
  };
  if (byId("dep-panels")) {
    options(byId("dep-evaluation"), evaluations.map((item, index) => [index, item.name, item.dependency.length]).filter((item) => item[2]));
    fillDependency();
    byId("dep-evaluation").addEventListener("input", () => { fillDependency(); drawDependency(); });
    ["dep-factor", "dep-code"].forEach((id) => byId(id).addEventListener("input", drawDependency));
  }

  all(".chips input").forEach((box) => box.addEventListener("input", () => {
    const index = Number(box.value);
    if (box.checked) hiddenOnes.delete(index);
    else hiddenOnes.add(index);
    all(`.chips input[value="${index}"]`).forEach((other) => { other.checked = box.checked; });
    drawMatrices();
    drawNatives();
  }));

  // Downloading, opening, contents ----------------------------------------------------------------------------------

  const draw = () => { drawMatrices(); drawPair(); drawNatives(); drawDependency(); };
  all(".download-json").forEach((button) => button.addEventListener("click", () =>
    download(byId("data").textContent, "application/json", "demele-evaluation.json")));

  const setAll = (open) => all("#made details").forEach((details) => { details.open = open; });
  if (byId("open-all")) {
    byId("open-all").addEventListener("click", () => setAll(true));
    byId("close-all").addEventListener("click", () => setAll(false));
  }
  const reveal = () => {
    const target = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let item = target; item; item = item.parentElement) if (item.tagName === "DETAILS") item.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);

  startPage({ folded: "details:not(.values):not([open])", redraw: draw });
  draw();
  reveal();
})();
