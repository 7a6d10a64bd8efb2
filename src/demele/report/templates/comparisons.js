
// The page about comparison methods: one choice of rate, measure and methods for tables, curves and matrices.
const comparison = (() => {
  const looks = data.page.looks;
  const rates = data.columns.map((column) => column.wanted);
  const keyOfCell = (measure, rate, method) => JSON.stringify([measure, rate, method]);
  const tallies = new Map(data.tallies.map((row) => [keyOfCell(row.measure, row.noise, row.method), row]));
  const state = {
    rate: data.page.rate,
    measure: data.measures[0],
    method: data.page.first,
    shown: new Set(looks.filter((look) => look.main).map((look) => look.name)),
    told: [],
  };
  const tally = (method, rate = state.rate) => tallies.get(keyOfCell(state.measure, rate, method));
  const shareText = (value) => (value === null || value === undefined ? DASH : `${number(value, 2)}%`);
  const spreadText = (value) => (value === null || value === undefined ? "" : `\u00b1 ${number(value, 2)}`);
  const rateText = (rate) => `${Number((100 * rate).toPrecision(6))}%`;
  const whole = (value) => (value === null || value === undefined ? DASH : value.toLocaleString("en"));
  const askedText = (value) => (value === null || value === undefined ? DASH
    : value.toLocaleString("en", Number.isInteger(value) ? {} : { minimumFractionDigits: 1, maximumFractionDigits: 1 }));
  const changed = () => state.told.forEach((redraw) => redraw());
  const bdi = (name) => element("bdi", {}, String(name));

  // The table at the chosen rate
  const table = document.querySelector("table.tallies");
  const published = new Map((data.published || []).map((row) => [JSON.stringify([row.measure, Number(row.noise.toFixed(9)), row.method]), row]));
  const source = (method) => published.get(JSON.stringify([state.measure.split(" of ")[0], Number(state.rate.toFixed(9)), method]));
  const put = (cell, text, value, below = "") => {
    if (value === null || value === undefined) delete cell.dataset.v;
    else cell.dataset.v = String(value);
    cell.replaceChildren(text, ...(below ? [element("span", { class: "interval below" }, below)] : []));
  };
  const fillTable = () => {
    const printed = looks.some((look) => source(look.name));
    all(".printed", table).forEach((cell) => { cell.hidden = !printed; });
    all("tr[data-method]", table).forEach((line) => {
      const row = tally(line.dataset.method) || {};
      const cells = [...line.cells];
      ["type_1", "type_2", "agreement"].forEach((key, place) => {
        put(cells[1 + place], shareText(row[key]), row[key], spreadText(row[`${key}_se`]));
        if (cells[7 + place]) {
          const of = source(line.dataset.method) || {};
          put(cells[7 + place], shareText(of[key]), of[key]);
        }
      });
      put(cells[4], shareText(row.inconclusive), row.inconclusive);
      put(cells[5], whole(row.reversed), row.reversed);
      put(cells[6], askedText(row.labels_asked), row.labels_asked);
    });
    const sorted = table.querySelector("th[aria-sort]"); // the rows keep the order that was asked for
    if (sorted) {
      sorted.setAttribute("aria-sort", sorted.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending");
      sorted.querySelector(".sort").click();
    }
  };

  // Curves
  const [width, height, left, right, top, bottom] = [320, 230, 44, 12, 10, 36];
  const ticksOf = (values, fromZero) => {
    let low = fromZero ? 0 : Math.min(...values);
    let high = Math.max(...values, low);
    if (!values.length) [low, high] = [0, 100];
    if (high - low < 1e-9) [low, high] = [low - 0.005, high + 0.005];
    const rough = (high - low) / 4;
    const size = 10 ** Math.floor(Math.log10(rough));
    const step = size * [1, 2, 5, 10].find((factor) => size * factor >= rough * (1 - 1e-12));
    const first = Math.max(0, Math.floor(low / step + 1e-9));
    const last = Math.min(Math.ceil(high / step - 1e-9), Math.floor(100 / step + 1e-9));
    const ticks = Array.from({ length: last - first + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)));
    const ends = [Math.min(ticks[0], low), Math.max(ticks.at(-1), high)];
    if (ends[1] - ends[0] < 1) return fromZero ? [0, 1, [0, 0.5, 1]] : [99, 100, [99, 99.5, 100]];
    return [...ends, ticks];
  };
  const across = (rate) => {
    const [first, last] = [rates[0], rates.at(-1)];
    const part = last <= first ? 0.5 : (rate - first) / (last - first);
    return left + 6 + part * (width - left - right - 12);
  };
  const markOf = (variant, x, y) => [
    `M${x - 3},${y}a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z`, `M${x - 3},${y - 3}h6v6h-6z`,
    `M${x},${y - 4}l4,7h-8z`, `M${x},${y - 4}l4,4l-4,4l-4,-4z`][variant % 4];
  const shownLooks = () => looks.filter((look) => state.shown.has(look.name));
  const drawCurve = (picture) => {
    const key = picture.dataset.key;
    const rows = shownLooks().map((look) => [look, rates.map((rate) => tally(look.name, rate)).filter((row) => row && row[key] !== null)]);
    const [low, high, ticks] = ticksOf(rows.flatMap(([, found]) => found.map((row) => row[key])), key !== "agreement");
    const up = (value) => top + (high - value) / (high - low) * (height - top - bottom);
    const parts = ticks.flatMap((tick) => [
      svg("line", { class: "rule", x1: left, x2: width - right, y1: up(tick), y2: up(tick) }),
      svg("text", { class: "side", x: left - 6, y: up(tick) + 3.5 }, `${tick}%`)]);
    let previous = -99;
    rates.forEach((rate) => {
      if (across(rate) - previous < 26) return;
      previous = across(rate);
      parts.push(svg("text", { class: "foot", x: previous, y: height - bottom + 15 }, rateText(rate)));
    });
    parts.push(svg("text", { class: "foot", x: (left + width - right) / 2, y: height - 5 }, "wrong labels"));
    rows.forEach(([look, found]) => {
      const own = `c${look.colour}`;
      parts.push(svg("polyline", { class: `line ${own} v${look.variant % 4}`, points: found.map((row) => `${across(row.noise)},${up(row[key])}`).join(" ") }));
      found.forEach((row) => {
        const [x, error] = [across(row.noise), row[`${key}_se`]];
        if (error !== null) parts.push(svg("line", { class: `error ${own}`, x1: x, x2: x, y1: up(Math.min(row[key] + error, high)), y2: up(Math.max(row[key] - error, low)) }));
        parts.push(svg("path", { class: `point ${own}`, d: markOf(look.variant, x, up(row[key])) }));
      });
    });
    picture.replaceChildren(...parts);
  };
  const tip = byId("tip");
  const pointed = (picture, place, at) => {
    const [key, rate] = [picture.dataset.key, rates[place]];
    all(".guide").forEach((line) => line.remove());
    picture.prepend(svg("line", { class: "guide", x1: across(rate), x2: across(rate), y1: top, y2: height - bottom }));
    const rows = shownLooks().map((look) => [look, tally(look.name, rate)]).filter(([, row]) => row);
    rows.sort(([, a], [, b]) => (b[key] ?? -1) - (a[key] ?? -1));
    const lines = rows.map(([look, row]) => element("li", {}, bdi(look.title), element("span", {}, `${shareText(row[key])} ${spreadText(row[`${key}_se`])}`)));
    tip.replaceChildren(element("b", {}, `${rateText(rate)} wrong labels`), element("ul", {}, ...lines));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(at.x + 16, innerWidth - box.width - 12))}px`;
    tip.style.top = `${Math.max(8, Math.min(at.y + 16, innerHeight - box.height - 12))}px`;
    return rows.map(([look, row]) => `${look.title} ${shareText(row[key])}`).join(", ");
  };
  const leave = () => { tip.hidden = true; all(".guide").forEach((line) => line.remove()); };
  const pictures = all("svg.curve");
  pictures.forEach((picture) => {
    let place = 0;
    picture.setAttribute("tabindex", "0");
    const nearest = (event) => {
      const box = picture.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * width;
      place = rates.reduce((best, rate, i) => (Math.abs(across(rate) - x) < Math.abs(across(rates[best]) - x) ? i : best), 0);
      pointed(picture, place, { x: event.clientX, y: event.clientY });
    };
    const byKeys = () => {
      const box = picture.getBoundingClientRect();
      say(`${rateText(rates[place])}: ${pointed(picture, place, { x: box.left + across(rates[place]) / width * box.width, y: box.top })}`);
    };
    picture.addEventListener("pointermove", nearest);
    picture.addEventListener("pointerdown", nearest);
    picture.addEventListener("pointerleave", leave);
    picture.addEventListener("blur", leave);
    picture.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -rates.length, End: rates.length };
      if (event.key === "Escape") { leave(); return; }
      if (!(event.key in steps)) return;
      event.preventDefault();
      place = Math.max(0, Math.min(rates.length - 1, tip.hidden ? place : place + steps[event.key]));
      byKeys();
    });
  });

  // Which methods are shown
  const boxes = all("#legend input");
  boxes.forEach((box) => {
    box.hidden = false;
    box.parentElement.hidden = false;
    box.addEventListener("change", () => {
      if (box.checked) state.shown.add(box.value);
      else state.shown.delete(box.value);
      changed();
    });
  });
  all(".pick").forEach((button) => button.addEventListener("click", () => {
    const wanted = { main: (look) => look.main, all: () => true, none: () => false }[button.dataset.pick];
    state.shown = new Set(looks.filter(wanted).map((look) => look.name));
    changed();
  }));

  // Choices of rate and measure move together
  const picks = [[".pick-rate", "rate", Number], [".pick-measure", "measure", String]];
  picks.forEach(([selector, key, read]) => all(selector).forEach((select) => select.addEventListener("change", () => {
    state[key] = read(select.value);
    all(selector).forEach((other) => { other.value = select.value; });
    changed();
  })));
  const tell = () => {
    all(".of-rate").forEach((item) => { item.textContent = rateText(state.rate); });
    all(".of-measure").forEach((item) => { item.textContent = state.measure; });
    boxes.forEach((box) => {
      box.checked = state.shown.has(box.value);
      box.parentElement.classList.toggle("off", !box.checked);
    });
  };
  state.told.push(tell, fillTable, () => pictures.forEach(drawCurve));
  return { state, looks, tally, keyOfCell, shareText, changed, bdi };
})();
