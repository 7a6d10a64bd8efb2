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
  const colourOf = (index) => colour(`--c${index % 8}`);
  const named = (index) => {
    const name = element("bdi", {}, String(evaluations[index].name));
    return several ? [element("i", { class: `dot c${index % 8}`, "aria-hidden": "true" }), name] : [name];
  };
  const title = (metric) => figures.titles[metric] || metric;
  const scoreOf = (panel) => evaluations[panel.evaluation].scores[panel.score];
  const options = (select, entries) => {
    select.replaceChildren(...entries.map(([value, text]) => element("option", { value }, text)));
  };
  const say = (text) => { byId("said").textContent = text; };

  all(".controls, .chips, .tools, .copy").forEach((item) => { item.hidden = false; });

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
  const stops = (colours) => colours.map((item, index) => [index / (colours.length - 1), item]);
  const config = { responsive: true, displayModeBar: false };
  const layoutWith = (own) => ({
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, dragmode: false,
    font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: colour("--text") },
    hoverlabel: { bgcolor: colour("--text"), bordercolor: colour("--text"), font: { color: colour("--page"), size: 12.5 }, align: "left" },
    ...own,
  });
  const axisWith = (own) => ({
    automargin: true, zeroline: false, gridcolor: colour("--line"), linecolor: colour("--strong-line"),
    tickfont: { color: colour("--soft") }, fixedrange: true, ...own,
  });
  const place = (panels, caption, alt, height) => {
    const plot = element("div", { class: "plot", role: "img", "aria-label": alt, style: `height:${height}px` });
    const save = element("button", { type: "button", class: "save", "aria-label": "Save this figure as a picture" }, "Save");
    save.addEventListener("click", () => Plotly.downloadImage(plot, { format: "png", scale: 2, filename: "demele-figure" }));
    const frame = height > 800 ? element("div", { class: "tall", tabindex: "0" }, plot) : plot;
    panels.append(element("figure", {}, element("figcaption", {}, element("span", {}, ...caption), save), frame));
    return plot;
  };
  // A figure may be replaced while it is still being drawn: what it then fails at concerns nobody.
  const paint = (plot, traces, layout) => Plotly.react(plot, traces, layout, config)
    .catch((error) => { if (plot.isConnected) throw error; });
  // Slanted where a name is wider than its column.
  const slant = (labels, columnWidth) => (labels.some((label) => label.length * 7 > columnWidth) ? -35 : 0);
  const clear = (panels) => { all(".plot", panels).forEach((plot) => Plotly.purge(plot)); panels.replaceChildren(); };
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
  ["matrix", "native", "dep"].forEach((key) => {
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
    const gaps = shown.some((panel) => scoreOf(panel).matrix.values.some((row) => row.includes(null)));
    byId("ramp").replaceChildren(element("b", {}, capital(figure.what || "value")), number(low, 2), gradient, number(high, 2),
      ...(gaps ? [element("i", { class: "none" }), "undefined"] : []));
    clear(panels);
    panels.classList.toggle("single", shown.length < 2);
    const ordered = shown.map((panel) => {
      const matrix = scoreOf(panel).matrix;
      const order = rowOrder(matrix);
      return { panel, columns: matrix.columns, rows: order.map((row) => matrix.rows[row]), values: order.map((row) => matrix.values[row]) };
    });
    // All places first: a figure takes the width that its place has when all are there.
    const places = ordered.map(({ panel, rows, columns, values }) => {
      const height = Math.max(170, Math.min(30, Math.max(17, 560 / rows.length)) * rows.length + 100);
      return place(panels, several ? named(panel.evaluation) : [], matrixWords(figure, rows, columns, values), height);
    });
    ordered.forEach(({ panel, rows, columns, values }, position) => {
      const plot = places[position];
      const labels = columns.map((name) => short(name, 16));
      const room = (plot.clientWidth - 70) / columns.length;
      const few = room >= 22 && rows.length <= 40;
      const ink = (value) => {
        if (value === null) return colour("--soft");
        const share = (value - low) / (high - low);
        return (bothWays ? Math.abs(share - 0.5) < 0.3 : share > 0.45) ? "#111111" : "#ffffff";
      };
      const cells = few ? values.flatMap((row, i) => row.map((value, j) => ({ value, i, j }))) : [];
      const numbers = {
        type: "scatter", mode: "text", x: cells.map((cell) => cell.j), y: cells.map((cell) => cell.i), hoverinfo: "skip", cliponaxis: false,
        text: cells.map((cell) => number(cell.value, room >= 31 ? 2 : 1)),
        textfont: { size: room >= 42 ? 11 : 10, color: cells.map((cell) => ink(cell.value)) },
      };
      paint(plot, [{
        type: "heatmap", z: values, x: columns.map((_, index) => index), y: rows.map((_, index) => index),
        zmin: low, zmax: high, colorscale: stops(colours), showscale: false, xgap: 1.5, ygap: 1.5, hoverongaps: true,
        customdata: values.map((row, i) => row.map((value, j) => `${safe(rows[i])} \u00d7 ${safe(columns[j])}<br><b>${number(value)}</b>`)),
        hovertemplate: "%{customdata}<extra></extra>",
      }, numbers], layoutWith({
        margin: { l: 10, r: 6, t: 6, b: 10 }, plot_bgcolor: colour("--empty"),
        xaxis: axisWith({ tickvals: columns.map((_, index) => index), ticktext: labels.map(safe), tickangle: slant(labels, (plot.clientWidth - 90) / columns.length), ticklabeloverflow: "allow", range: [-0.5, columns.length - 0.5], showgrid: false, ticks: "", title: { text: "factor", font: { color: colour("--soft"), size: 11.5 }, standoff: 6 } }),
        yaxis: axisWith({ ...rowTicks(rows), range: [rows.length - 0.5, -0.5], showgrid: false, ticks: "", title: { text: "code", font: { color: colour("--soft"), size: 11.5 }, standoff: 6 } }),
      }));
      plot.on("plotly_click", (event) => {
        const point = event.points[0];
        chooseDependency(panel.evaluation, columns[point.x], rows[point.y]);
      });
    });
    tables.matrix = () => ordered.map(({ panel, rows, columns, values }) => tableOf(named(panel.evaluation), ["code", ...columns],
      rows.map((name, row) => [name, ...values[row].map((value) => number(value))])));
    fillTable("matrix");
  };
  const rowTicks = (rows) => {
    const step = Math.max(1, Math.ceil(rows.length / 60));
    const ticks = rows.map((_, index) => index).filter((index) => index % step === 0);
    return { tickvals: ticks, ticktext: ticks.map((index) => safe(short(rows[index], 18))) };
  };
  const rowOrder = (matrix) => {
    const order = matrix.rows.map((_, index) => index);
    if (byId("order").value === "given") return order;
    const best = matrix.values.map((row) => row.reduce((top, value, index) => (value !== null && value > top.value ? { value, index } : top), { value: -Infinity, index: row.length }));
    return order.sort((a, b) => best[a].index - best[b].index || best[b].value - best[a].value || a - b);
  };
  const matrixWords = (figure, rows, columns, values) => {
    let top = null;
    values.forEach((row, i) => row.forEach((value, j) => { if (value !== null && (!top || value > top.value)) top = { value, i, j }; }));
    const largest = top ? `; largest: ${rows[top.i]} and ${columns[top.j]}, ${number(top.value)}` : "";
    return `Heat map of ${figure.what || "values"}: ${rows.length} codes by ${columns.length} factors${largest}. The table below holds all values.`;
  };
  if (byId("matrix")) {
    options(byId("matrix"), figures.matrices.map((figure, index) => {
      const names = figure.metrics.map(title);
      const more = names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
      return [index, `${capital(figure.what || "values")} (${more})`];
    }));
    ["matrix", "order"].forEach((id) => byId(id).addEventListener("input", drawMatrices));
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
    clear(panels);
    panels.classList.toggle("wide", groups.length < 2);
    groups.filter((group) => group.length).map((group) => [group, placeOfBars(panels, figure, group)])
      .forEach(([group, plot]) => drawBars(plot, figure, group, byId("axis").checked ? reachOf(shown) : figure.scale));
    tables.native = () => [nativeTable(figure, shown)];
    fillTable("native");
  };
  const namesOf = (group) => [...new Set(group.flatMap((panel) => Object.keys(scoreOf(panel).native)))];
  const placeOfBars = (panels, figure, group) => {
    const names = namesOf(group);
    const height = names.length * (group.length * (group.length > 1 ? 17 : 24) + 8) + 50;
    const what = `${title(figure.metric)}, ${figure.unit}`;
    const of = group.map((panel) => evaluations[panel.evaluation].name).join(", ");
    const alt = `Bars of ${what}: ${names.length} values for each of ${of}. The table below holds all values.`;
    return place(panels, several && group.length === 1 ? named(group[0].evaluation) : [what], alt, height);
  };
  const drawBars = (plot, figure, group, { low, high }) => {
    const names = namesOf(group);
    const wide = plot.clientWidth > 460;
    const width = 0.8 / group.length;
    const notes = [];
    let anyInterval = false;
    const traces = group.map((panel, index) => {
      const score = scoreOf(panel);
      const values = names.map((name) => (name in score.native ? score.native[name] : null));
      const pairs = names.map((name) => (score.native_intervals || {})[name]).map((pair) => (pair && pair[0] !== null ? pair : null));
      const has = pairs.some(Boolean);
      anyInterval = anyInterval || has;
      names.forEach((name, position) => {
        if (!(name in score.native)) return;
        notes.push({
          xref: "paper", x: 1, xanchor: "left", xshift: 8, yref: "y", y: position - 0.4 + (index + 0.5) * width, showarrow: false,
          text: `${number(values[position])}${wide && pairs[position] ? `  <span>${interval(pairs[position])}</span>` : ""}`,
          font: { size: 11.5, color: values[position] === null ? colour("--soft") : colour("--text") }, align: "left",
        });
      });
      return {
        type: "bar", orientation: "h", x: values, y: names.map((_, position) => position), width: width * 0.86, offset: -0.4 + index * width + width * 0.07,
        marker: { color: colourOf(panel.evaluation), opacity: 0.85 },
        error_x: has ? {
          type: "data", symmetric: false, color: colour("--text"), thickness: 1.3, width: 3,
          array: pairs.map((pair, position) => (pair ? Math.max(0, pair[1] - values[position]) : 0)),
          arrayminus: pairs.map((pair, position) => (pair ? Math.max(0, values[position] - pair[0]) : 0)),
        } : undefined,
        customdata: names.map((name, position) => `${safe(name)}${several ? `<br>${safe(evaluations[panel.evaluation].name)}` : ""}<br><b>${number(values[position])}</b> ${interval(pairs[position])}`),
        hovertemplate: "%{customdata}<extra></extra>",
      };
    });
    paint(plot, traces, layoutWith({
      barmode: "overlay", annotations: notes, margin: { l: 10, r: wide && anyInterval ? 150 : 58, t: 4, b: 30 },
      xaxis: axisWith({ range: [low, high], ticks: "", zeroline: true, zerolinecolor: colour("--strong-line") }),
      yaxis: axisWith({ tickvals: names.map((_, index) => index), ticktext: names.map((name) => safe(short(name))), range: [names.length - 0.5, -0.5], showgrid: false, ticks: "", tickfont: { color: colour("--text") } }),
    }));
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
    clear(panels);
    tables.dep = () => [];
    if (!picture) {
      panels.append(element("p", {}, "This code was not measured against this factor."));
      return;
    }
    const kind = (evaluations[index].factors.find((item) => item.name === factor) || {}).kind;
    const ordered = kind === "continuous";
    const x = picture.levels.map((_, position) => position);
    const own = colourOf(index);
    const band = `${own}33`;
    // The same axis for every factor of a code: bands can be compared from one picture to the next.
    const ofCode = pictures.filter((item) => item.code === code);
    const low = Math.min(...ofCode.flatMap((item) => item.low.filter((value) => value !== null)));
    const high = Math.max(...ofCode.flatMap((item) => item.high.filter((value) => value !== null)));
    const room = 0.05 * (high - low || 1);
    const words = `${code} against ${factor}, robustness ${number(picture.score)}`;
    const caption = [element("bdi", {}, code), " against ", element("bdi", {}, factor), element("span", { class: "meaning" }, ` \u00b7 robustness ${number(picture.score)}`)];
    const plot = place(panels, caption, `Mean of ${words}; the band is what the other factors cause. The table below holds all values.`, 360);
    const labels = picture.levels.map((level) => short(level, 14));
    const hover = x.map((position) => `${safe(picture.levels[position])}<br>mean <b>${number(picture.mean[position])}</b><br>others: ${interval([picture.low[position], picture.high[position]])}<br>${picture.count[position]} rows`);
    const line = {
      type: "scatter", mode: ordered ? "lines+markers" : "markers", x, y: picture.mean, line: { color: own, width: 2.2 },
      marker: { color: own, size: ordered ? 6 : 9 }, customdata: hover, hovertemplate: "%{customdata}<extra></extra>",
    };
    const bands = ordered
      ? [
        { type: "scatter", mode: "lines", x, y: picture.low, line: { width: 0 }, hoverinfo: "skip" },
        { type: "scatter", mode: "lines", x, y: picture.high, line: { width: 0 }, fill: "tonexty", fillcolor: band, hoverinfo: "skip" },
      ]
      : [{
        type: "bar", x, base: picture.low, y: picture.high.map((value, position) => value - picture.low[position]),
        marker: { color: band }, width: 0.5, customdata: hover, hovertemplate: "%{customdata}<extra></extra>",
      }];
    const step = Math.max(1, Math.ceil(x.length / 12));
    const ticks = x.filter((position) => position % step === 0);
    paint(plot, [...bands, line], layoutWith({
      margin: { l: 10, r: 10, t: 8, b: 10 },
      xaxis: axisWith({ tickvals: ticks, ticktext: ticks.map((position) => safe(labels[position])), tickangle: slant(labels, (plot.clientWidth - 70) / ticks.length), ticklabeloverflow: "allow", range: [-0.5, x.length - 0.5], showgrid: false, ticks: "", title: { text: safe(short(factor, 40)), standoff: 8 } }),
      yaxis: axisWith({ range: [low - room, high + room], ticks: "", title: { text: safe(short(code, 30)), standoff: 8 } }),
    }));
    tables.dep = () => [tableOf([words], [factor, "mean", "range by the other factors", "rows"],
      x.map((position) => [picture.levels[position], number(picture.mean[position]), interval([picture.low[position], picture.high[position]]), String(picture.count[position])]))];
    fillTable("dep");
  };
  if (byId("dep-panels")) {
    options(byId("dep-evaluation"), evaluations.map((item, index) => [index, item.name, item.dependency.length]).filter((item) => item[2]));
    fillDependency();
    byId("dep-evaluation").addEventListener("input", () => { fillDependency(); drawDependency(); });
    ["dep-factor", "dep-code"].forEach((id) => byId(id).addEventListener("input", drawDependency));
  }

  const draw = () => { drawMatrices(); drawNatives(); drawDependency(); };
  all(".chips input").forEach((box) => box.addEventListener("input", () => {
    const index = Number(box.value);
    if (box.checked) hiddenOnes.delete(index);
    else hiddenOnes.add(index);
    all(`.chips input[value="${index}"]`).forEach((other) => { other.checked = box.checked; });
    drawMatrices();
    drawNatives();
  }));

  // Theme, printing, copying, downloading, contents -----------------------------------------------------------------

  byId("theme").addEventListener("click", () => {
    nextTheme();
    draw();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  byId("print").addEventListener("click", () => window.print());
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = { theme: theme(), closed: all("details:not(.values):not([open])") };
    setTheme("light");
    before.closed.forEach((details) => { details.open = true; });
    document.body.classList.add("printing");
    draw();
  });
  window.addEventListener("afterprint", () => {
    if (!before) return;
    document.body.classList.remove("printing");
    before.closed.forEach((details) => { details.open = false; });
    setTheme(before.theme);
    before = null;
    draw();
  });

  const copy = async (button) => {
    const code = button.parentElement.querySelector("code");
    let done = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      done = document.execCommand("copy");
    }
    button.textContent = done ? "Copied" : "Selected";
    say(done ? "Signature copied" : "Signature selected: copy it with the keyboard");
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  all(".copy").forEach((button) => button.addEventListener("click", () => copy(button)));

  byId("download").addEventListener("click", () => download(byId("data").textContent, "application/json", "demele-evaluation.json"));

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

  followContents();

  draw();
  reveal();
})();
