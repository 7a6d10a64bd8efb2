
// What the pages about labels share: order of tables, folding, grids, downloads.
const data = JSON.parse(byId("data").textContent);
const keyOf = (name) => String(name);
// Points and percent with the digits that they are given.
const percentText = (share, digits = 1) => (share === null || share === undefined ? DASH : `${number(100 * share, digits)}%`);
const pointsText = (share, digits = 1, sign = true) => {
  if (share === null || share === undefined) return DASH;
  const text = number(100 * share, digits);
  return sign && Number(text.replace("\u2212", "-")) > 0 ? `+${text}` : text;
};
const probabilityText = (p) => (p === null || p === undefined ? DASH : p < 1e-4 ? "p < 0.0001" : `p = ${p < 0.1 ? Number(p.toPrecision(2)) : p.toFixed(2)}`);

// A grid: one cell in the order of the Tab key, arrows move among them. ``told`` writes about a cell, ``open`` opens it.
const grid = (table, { cells, told, open }) => {
  const rows = [...table.tBodies[0].rows].map((row) => all(cells, row));
  const place = new Map(rows.flatMap((row, i) => row.map((item, j) => [item, [i, j]])));
  let current = rows.flat()[0];
  if (!current) return;
  table.setAttribute("role", "grid");
  current.tabIndex = 0;
  const focus = (item) => {
    if (!item) return;
    current.tabIndex = -1;
    current = item;
    item.tabIndex = 0;
    item.focus();
  };
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  table.addEventListener("keydown", (event) => {
    const at = place.get(event.target);
    if (!at) return;
    if (steps[event.key]) {
      const [down, right] = steps[event.key];
      focus((rows[at[0] + down] || [])[at[1] + right]);
    } else if (event.key === "Home" || event.key === "End") {
      focus(event.key === "Home" ? rows[at[0]][0] : rows[at[0]].at(-1));
    } else if (open && (event.key === "Enter" || event.key === " ")) {
      open(event.target);
    } else return;
    event.preventDefault();
  });
  ["mouseover", "focusin"].forEach((name) => table.addEventListener(name, (event) => {
    const item = event.target.closest(cells);
    if (item && place.has(item)) told(item);
  }));
  table.addEventListener("click", (event) => {
    const item = event.target.closest(cells);
    if (!item || !place.has(item)) return;
    focus(item);
    if (open) open(item);
  });
};

(() => {
  // Order of tables, search in them, and folding of long ones
  const valueOf = (row, column) => {
    const place = row.cells[column];
    const text = place.dataset.v ?? place.textContent.trim();
    const value = text === "" || text === DASH ? NaN : Number(text);
    return Number.isNaN(value) ? text : value;
  };
  const missing = (value) => value === "" || value === DASH;
  const compared = (first, second) => {
    if (missing(first) || missing(second)) return missing(first) - missing(second); // gaps come last either way
    if (typeof first === "number" && typeof second === "number") return first - second;
    return String(first).localeCompare(String(second), undefined, { numeric: true });
  };
  all("table.sortable").forEach((table) => {
    const body = table.tBodies[0];
    const controls = table.dataset.first ? table.closest(".scroll").previousElementSibling : null;
    const state = { whole: false, words: [] };
    const fold = () => {
      if (!controls) return;
      let shown = 0;
      let matching = 0;
      [...body.rows].forEach((row) => {
        const name = row.cells[0].textContent.toLowerCase();
        const fits = state.words.every((word) => name.includes(word));
        matching += fits;
        row.hidden = !fits || (!state.whole && shown >= Number(table.dataset.first));
        shown += !row.hidden;
      });
      const total = body.rows.length;
      controls.querySelector(".more").textContent = state.whole ? `Show ${table.dataset.first} ${table.dataset.noun}` : `Show all ${total.toLocaleString("en")} ${table.dataset.noun}`;
      controls.querySelector(".found").textContent = state.words.length ? `${matching.toLocaleString("en")} found, ${shown.toLocaleString("en")} shown` : `${shown.toLocaleString("en")} of ${total.toLocaleString("en")} shown`;
    };
    if (controls) {
      controls.querySelector(".more").addEventListener("click", () => { state.whole = !state.whole; fold(); });
      controls.querySelector(".find").addEventListener("input", (event) => {
        state.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
        fold();
      });
    }
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (head.classList.contains("drawn")) return; // a column of bars
      const button = element("button", { type: "button", class: "sort" }, ...head.childNodes);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const numeric = head.classList.contains("number");
        const was = head.getAttribute("aria-sort");
        const order = was ? (was === "ascending" ? "descending" : "ascending") : numeric ? "descending" : "ascending";
        [...table.tHead.rows[0].cells].forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const rows = [...body.rows].map((row) => [valueOf(row, column), row]);
        rows.sort(([a], [b]) => (missing(a) || missing(b) ? compared(a, b) : sign * compared(a, b)));
        body.append(...rows.map(([, row]) => row));
        fold();
      });
    });
    fold();
  });

  // Downloads
  const flat = (item, before = "") => Object.assign({}, ...Object.entries(item).map(([key, value]) =>
    (value !== null && typeof value === "object" && !Array.isArray(value) ? flat(value, `${before}${key}.`) : { [before + key]: value })));
  all(".download-json").forEach((button) => button.addEventListener("click", () =>
    download(byId("data").textContent, "application/json", `demele-${data.kind}.json`)));
  all(".download-csv").forEach((button) => button.addEventListener("click", () => {
    const rows = (data[button.dataset.list] || []).map((item) => flat(item));
    const heads = [...new Set(rows.flatMap(Object.keys))];
    download(csvOf([heads, ...rows.map((row) => heads.map((head) => row[head]))]), "text/csv", `demele-${button.dataset.list}.csv`);
  }));

  startPage();
})();
