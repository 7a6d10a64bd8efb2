
// The pages about agreement: two of the matrices side by side, in one order, with the same pair marked in both.
(() => {
  const figures = new Map(all("#figures > figure").map((figure) => [figure.dataset.name, figure]));
  const panes = all("#panes > .pane");
  if (!figures.size || !panes.length) return;

  const reorder = (order) => {
    const place = new Map(order.map((name, number) => [name, number]));
    const sorted = (items) => items.sort((a, b) => place.get(a.dataset.metric) - place.get(b.dataset.metric));
    all("table.taus").forEach((table) => {
      const head = table.tHead.rows[0];
      head.append(...sorted(all("th", head)));
      [...table.tBodies[0].rows].forEach((row) => row.append(...sorted(all("td", row))));
      table.tBodies[0].append(...sorted([...table.tBodies[0].rows]));
    });
  };

  // A figure stands where it is shown; two panes that ask for the same one share a copy.
  const show = () => {
    const taken = new Set();
    panes.forEach((pane) => {
      const name = pane.querySelector(".choose").value;
      const figure = figures.get(name);
      pane.querySelector(".shown-matrix").replaceChildren(taken.has(name) ? figure.cloneNode(true) : figure);
      taken.add(name);
    });
    byId("figures").hidden = true;
  };

  const pairOf = (cell) => [cell.dataset.metric, cell.parentElement.dataset.metric];
  const mark = (cell) => {
    all("td.same").forEach((other) => other.classList.remove("same"));
    if (!cell) return;
    const [column, row] = pairOf(cell);
    all("#panes table.taus tbody tr").filter((line) => line.dataset.metric === row).forEach((line) => {
      const twin = all("td", line).find((other) => other.dataset.metric === column);
      if (twin) twin.classList.add("same");
    });
  };
  byId("panes").addEventListener("mouseover", (event) => mark(event.target.closest("table.taus td[title]")));

  panes.forEach((pane) => {
    pane.hidden = false;
    pane.querySelector(".choose").addEventListener("change", show);
  });
  byId("order").addEventListener("change", (event) => reorder(data.page.orders[event.target.value]));
  show();
})();
