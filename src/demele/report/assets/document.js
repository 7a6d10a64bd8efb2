"use strict";
const all = (what, inside = document) => [...inside.querySelectorAll(what)];
const byId = (identity) => document.getElementById(identity);
const make = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });
const say = (text) => { byId("said").textContent = text; };

// Data: JSON as it is, or base64 of zlib
const unpacked = async (element) => {
  if (element.type === "application/json") return JSON.parse(element.textContent);
  const bytes = Uint8Array.from(atob(element.textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};

// Theme and print
const themes = ["auto", "light", "dark"];
let theme = 0;
const setTheme = (shown = themes[theme]) => { document.documentElement.dataset.theme = shown; };
byId("theme").addEventListener("click", () => {
  theme = (theme + 1) % 3;
  byId("theme").textContent = `Theme: ${themes[theme]}`;
  setTheme();
});
byId("print").addEventListener("click", () => print());
addEventListener("beforeprint", () => setTheme("light"));
addEventListener("afterprint", () => setTheme());

// Contents: folded where they stand above the text, the section in view marked
const contents = document.querySelector("nav details");
if (innerWidth < 960) contents.open = false;
const watch = new IntersectionObserver((entries) => entries.forEach((entry) => {
  if (!entry.isIntersecting) return;
  all("nav a").forEach((link) => link.toggleAttribute("aria-current", link.hash === `#${entry.target.id}`));
}), { rootMargin: "-10% 0px -80%" });
all("main > section").forEach((section) => watch.observe(section));

// Downloads
const file = document.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60) || "demele";
const save = (text, name, type) => {
  const link = make("a", "", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
};
const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csvOf = (table) => [...table.rows].map((row) => [...row.cells]
  .map((cell) => quoted(cell.textContent.replaceAll("−", "-").trim())).join(",")).join("\r\n");
const download = (title, give) => {
  const button = make("button", title, { type: "button" });
  button.addEventListener("click", () => { give(); byId("download").open = false; });
  const item = make("li", "");
  item.append(button);
  document.querySelector("#download ul").append(item);
};
download("All values (JSON)", async () => save(JSON.stringify(await unpacked(byId("result-json")), null, 1), `${file}.json`, "application/json"));
const titles = new Set();
all("main table[aria-label]").forEach((table) => {
  const title = table.getAttribute("aria-label");
  if (titles.has(title) || table.closest(".evidence")) return;
  titles.add(title);
  download(`${title} (CSV)`, () => save(csvOf(table), `${file}-${titles.size}.csv`, "text/csv"));
});

// Tables: sort by a click on a head, find and unfold where there are many rows
const value = (cell) => {
  if (!cell) return NaN;
  const text = cell.dataset.v || cell.textContent.replaceAll("−", "-").replace(/[,%[<\s]/g, "");
  return /^[+-]?[\d.∞]/.test(text) ? parseFloat(text.replace("∞", "Infinity")) : NaN;
};
const sortBy = (table, column) => {
  const head = table.tHead.rows[0].cells[column];
  const down = head.getAttribute("aria-sort") !== (head.classList.contains("n") ? "descending" : "ascending");
  const sign = down === head.classList.contains("n") ? -1 : 1;
  all("[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", sign < 0 ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [value(row.cells[column]), row.cells[column]?.textContent ?? "", row]);
  rows.sort(([a, left], [b, right]) => {
    if (Number.isNaN(a) && Number.isNaN(b)) return sign * left.localeCompare(right, undefined, { numeric: true });
    return Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : sign * (a - b);
  });
  table.tBodies[0].append(...rows.map(([, , row]) => row));
  say(`Sorted by ${head.textContent}`);
};
all("table[data-first]").forEach((table) => {
  const heads = [...table.tHead.rows[0].cells];
  const rows = () => [...table.tBodies[0].rows];
  const most = Number(table.dataset.first);
  let whole = rows().length <= most, wanted = "";
  const show = () => {
    const found = rows().filter((row) => row.textContent.toLowerCase().includes(wanted));
    const shown = new Set(wanted || whole ? found : found.slice(0, most));
    rows().forEach((row) => { row.hidden = !shown.has(row); });
    return shown.size;
  };
  heads.forEach((head, column) => {
    const button = make("button", "", { type: "button" });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => { sortBy(table, column); show(); });
  });
  if (whole) return;
  const find = make("input", "", { type: "search", placeholder: "Find" });
  find.setAttribute("aria-label", "Find rows");
  const more = make("button", `Show all ${rows().length.toLocaleString("en")} rows`, { type: "button" });
  const bar = make("div", "", { className: "find" });
  bar.append(find, more);
  table.parentElement.before(bar);
  find.addEventListener("input", () => { wanted = find.value.toLowerCase(); say(`${show()} rows`); });
  more.addEventListener("click", () => { whole = true; more.hidden = true; show(); });
  show();
});

// Choices: one panel at a time
all(".choice").forEach((choice) => {
  const panels = [...choice.children];
  const select = make("select", "");
  panels.forEach((panel) => select.append(make("option", panel.firstChild.textContent)));
  const show = () => panels.forEach((panel, index) => { panel.hidden = index !== select.selectedIndex; });
  const label = make("label", `${choice.dataset.label} `);
  label.append(select);
  choice.prepend(label);
  panels.forEach((panel) => { panel.firstChild.hidden = true; });
  select.addEventListener("change", show);
  show();
});

// The panel, for evidence and scatter
const panel = byId("panel");
const open = (...inside) => {
  panel.lastChild.replaceChildren(...inside);
  if (!panel.open) panel.showModal();
};
panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });
const evidence = async (identity) => {
  const holder = byId(`evidence-${identity.replace(/-\d+-\d+$/, "")}`);
  if (holder && holder.type) {
    const whole = make("div", "");
    whole.innerHTML = await unpacked(holder);
    whole.hidden = true;
    holder.replaceWith(whole);
  }
  const found = byId(identity);
  if (found) open(found.cloneNode(true));
};
const scatter = async (data, across, up) => {
  const columns = await unpacked(data);
  if (!columns[across] || !columns[up]) return;
  const [x, y] = [across, up].map((name) => Uint8Array.from(atob(columns[name].steps), (sign) => sign.charCodeAt(0)));
  const canvas = make("canvas", "", { width: 560, height: 420 });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${up} against ${across}, ${x.length} rows`);
  const range = (name) => `${name}: ${columns[name].low} to ${columns[name].high}`;
  open(make("h4", `${up} against ${across}`), canvas, make("p", `Across, ${range(across)}. Up, ${range(up)}. ${x.length.toLocaleString("en")} rows.`));
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(canvas).color;
  pen.globalAlpha = Math.max(0.08, Math.min(0.7, 120 / x.length));
  x.forEach((at, row) => {
    pen.beginPath();
    pen.arc(20 + at * 2.04, 400 - y[row] * 1.49, 3, 0, 7);
    pen.fill();
  });
};

// Grids: one stop of the Tab key, arrows inside, a cell is read aloud
all("table.grid").forEach((grid) => {
  const figure = grid.closest("figure");
  const data = figure.querySelector('script[id^="rows-"]');
  if (data) grid.classList.add("clicks");
  const cells = [...grid.tBodies[0].rows].map((row) => [...row.cells].slice(1));
  const heads = [...grid.tHead.rows[0].cells].slice(1).map((head) => head.textContent);
  const name = (row) => grid.tBodies[0].rows[row].cells[0].textContent;
  let at = [0, 0];
  const go = (row, column) => {
    if (!cells[row]?.[column]) return;
    cells[at[0]][at[1]].tabIndex = -1;
    at = [row, column];
    cells[row][column].tabIndex = 0;
    cells[row][column].focus();
    say(`${name(row)}, ${heads[column]}: ${cells[row][column].textContent || "empty"}`);
  };
  const enter = () => {
    const cell = cells[at[0]][at[1]];
    if (cell.dataset.for) evidence(cell.dataset.for);
    else if (data) scatter(data, heads[at[1]], name(at[0]));
  };
  if (cells[0]?.[0]) cells[0][0].tabIndex = 0;
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  grid.addEventListener("keydown", (event) => {
    if (steps[event.key]) go(at[0] + steps[event.key][0], at[1] + steps[event.key][1]);
    else if (event.key === "Home") go(at[0], 0);
    else if (event.key === "End") go(at[0], heads.length - 1);
    else if (event.key === "Enter" || event.key === " ") enter();
    else return;
    event.preventDefault();
  });
  grid.addEventListener("click", (event) => {
    const cell = event.target.closest("tbody td");
    if (!cell) return;
    go(cell.parentElement.sectionRowIndex, cell.cellIndex - 1);
    enter();
  });
});
const follow = () => { if (/-\d+-\d+$/.test(location.hash)) evidence(location.hash.slice(1)); };
addEventListener("hashchange", follow);
follow();

// Lines: the values at the pointer, or by the arrow keys
all(".chart").forEach((chart) => {
  const area = chart.querySelector(".area");
  const table = chart.closest("figure").querySelector(".values table");
  const [from, to] = [Number(chart.dataset.from), Number(chart.dataset.to)];
  const rows = [...table.tBodies[0].rows];
  const places = rows.map((row) => (100 * (value(row.cells[0]) - from)) / (to - from));
  if (!rows.length || places.some(Number.isNaN)) return;
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
  const cursor = make("span", "", { className: "cursor", hidden: true });
  const readout = make("div", "", { className: "readout", hidden: true });
  area.append(cursor, readout);
  let at = 0;
  const show = (index) => {
    at = Math.max(0, Math.min(rows.length - 1, index));
    const texts = [...rows[at].cells].map((cell, place) => `${heads[place]}: ${cell.textContent}`);
    readout.textContent = texts.filter((text) => !text.endsWith(": –")).slice(0, 14).join("\n");
    cursor.hidden = readout.hidden = false;
    cursor.style.left = `${places[at]}%`;
    readout.style.cssText = places[at] > 55 ? `right:${101 - places[at]}%` : `left:${places[at] + 1}%`;
  };
  const hide = () => { cursor.hidden = readout.hidden = true; };
  chart.removeAttribute("aria-hidden");
  area.tabIndex = 0;
  area.setAttribute("role", "img");
  area.setAttribute("aria-label", `${table.getAttribute("aria-label")}: arrow keys read the values`);
  area.addEventListener("pointermove", (event) => {
    const box = area.getBoundingClientRect();
    const pointer = (100 * (event.clientX - box.left)) / box.width;
    show(places.reduce((best, place, index) => (Math.abs(place - pointer) < Math.abs(places[best] - pointer) ? index : best), 0));
  });
  area.addEventListener("pointerleave", hide);
  area.addEventListener("blur", hide);
  area.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(at + step);
    say(readout.textContent);
  });
});

document.querySelector(".tools").hidden = false;
