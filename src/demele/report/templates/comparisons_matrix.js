
// Matrices of all pairs: unpacked, drawn, told about; the data as they were measured.
(() => {
  const { state, looks, tally, keyOfCell, shareText, changed, bdi } = comparison;
  const m = data.names.length;
  const unpacked = (text) => {
    const bytes = atob(text);
    return Uint8Array.from({ length: m * m }, (_, place) => {
      if (place % (m + 1) === 0) return 0; // beside itself
      return 1 + ((bytes.charCodeAt(place >> 2) >> (2 * (place & 3))) & 3);
    });
  };
  const matrices = new Map(data.matrices.map((item) => [keyOfCell(item.measure, item.noise, item.method), item]));
  const cellsOf = (method) => {
    const item = matrices.get(keyOfCell(state.measure, state.rate, method));
    if (!item) return null;
    item.cells = item.cells || unpacked(item.packed);
    return item.cells;
  };

  // Everything as it was measured: one digit for each cell, nothing of the page
  const measured = () => {
    const { page, ...rest } = data;
    const unfold = ({ method, measure, noise, packed, cells }) => ({ method, measure, noise, cells: (cells || unpacked(packed)).join("") });
    return { ...rest, matrices: data.matrices.map(unfold) };
  };
  all(".download-json").forEach((button) => {
    const own = button.cloneNode(true); // without the usual download, which would be that of the page's data
    button.replaceWith(own);
    own.addEventListener("click", () => download(JSON.stringify(measured(), null, 1), "application/json", "demele-method-comparison.json"));
  });
  window.demeleMeasured = measured; // for programs that read the page

  const canvas = byId("matrix");
  if (!canvas) { state.told.forEach((redraw) => redraw()); return; }
  const says = byId("matrix-says");
  const byAccuracy = byId("by-accuracy");
  const faint = [178, 186, 196];
  const rgb = data.page.colours.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
  const shownOutcomes = new Set([1, 2, 3, 4]);
  const orderOf = () => (byAccuracy.checked ? data.page.by_accuracy : data.names.map((_, model) => model));
  let order = orderOf();
  let cells = null;
  let at = null;

  // One point for each cell; larger when it is drawn
  const pictureOf = (of) => {
    const small = element("canvas", { width: m, height: m });
    const context = small.getContext("2d");
    const picture = context.createImageData(m, m);
    order.forEach((row, i) => order.forEach((column, j) => {
      const outcome = of[row * m + column];
      const colour = outcome === 0 || shownOutcomes.has(outcome) ? rgb[outcome] : faint;
      picture.data.set([...colour, 255], 4 * (i * m + j));
    }));
    context.putImageData(picture, 0, 0);
    return small;
  };
  let base = null;
  const size = Math.max(1, Math.floor(900 / m));
  canvas.width = canvas.height = m * size;
  const paint = () => {
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (!base) return;
    context.drawImage(base, 0, 0, canvas.width, canvas.height);
    if (!at) return;
    const edge = Math.max(1, size / 5);
    [["#ffffff", 2 * edge], ["#b000b0", edge]].forEach(([colour, thick]) => {
      context.strokeStyle = colour;
      context.lineWidth = thick;
      context.strokeRect(at[1] * size - edge, at[0] * size - edge, size + 2 * edge, size + 2 * edge);
    });
  };
  const words = () => {
    const [baseline, candidate] = [order[at[0]], order[at[1]]];
    const outcome = cells[baseline * m + candidate];
    const [sign, name, meaning] = data.page.cells[outcome];
    const accuracy = (model) => ` (accuracy ${shareText(100 * data.accuracies[model])})`;
    if (outcome === 0) return [element("span", {}, "The same classifier: ", bdi(data.names[baseline]), accuracy(baseline))];
    return [
      element("span", {}, "Baseline: ", bdi(data.names[baseline]), accuracy(baseline)),
      element("span", {}, "Candidate: ", bdi(data.names[candidate]), accuracy(candidate)),
      element("span", {}, element("i", { class: `cell o${outcome}`, "aria-hidden": "true" }, sign), element("b", {}, name), `: ${meaning}.`),
    ];
  };
  const pointAt = (row, column) => {
    if (!cells) return;
    at = [Math.max(0, Math.min(m - 1, row)), Math.max(0, Math.min(m - 1, column))];
    says.replaceChildren(...words());
    paint();
  };
  const byPointer = (event) => {
    const box = canvas.getBoundingClientRect();
    pointAt(Math.floor((event.clientY - box.top) / box.height * m), Math.floor((event.clientX - box.left) / box.width * m));
  };
  canvas.addEventListener("pointermove", byPointer);
  canvas.addEventListener("pointerdown", byPointer);
  canvas.addEventListener("focus", () => { if (!at) pointAt(0, Math.min(1, m - 1)); });
  canvas.addEventListener("keydown", (event) => {
    const far = event.shiftKey ? 10 : 1;
    const steps = { ArrowUp: [-far, 0], ArrowDown: [far, 0], ArrowLeft: [0, -far], ArrowRight: [0, far], Home: [0, -m], End: [0, m] };
    if (!steps[event.key] || !at) return;
    event.preventDefault();
    pointAt(at[0] + steps[event.key][0], at[1] + steps[event.key][1]);
  });

  // Small pictures of the methods that are shown
  const thumbs = byId("thumbs");
  const thumb = (look) => {
    const own = cellsOf(look.name);
    if (!own) return [];
    const row = tally(look.name) || {};
    const button = element("button", { type: "button", "data-method": look.name, "aria-pressed": String(look.name === state.method) },
      element("img", { src: pictureOf(own).toDataURL(), alt: "" }), element("b", {}, bdi(look.title)),
      element("span", {}, `I ${shareText(row.type_1)} \u00b7 II ${shareText(row.type_2)}`));
    button.addEventListener("click", () => {
      state.method = look.name;
      changed();
      all("button", thumbs).find((other) => other.dataset.method === look.name).focus({ preventScroll: true });
      canvas.scrollIntoView({ block: "nearest" });
    });
    return [element("li", {}, button)];
  };

  const pick = byId("pick-method");
  const draw = () => {
    order = orderOf();
    cells = cellsOf(state.method);
    base = cells && pictureOf(cells);
    pick.value = state.method;
    const title = looks.find((look) => look.name === state.method).title;
    all(".of-method").forEach((item) => { item.textContent = title; });
    const counts = [0, 0, 0, 0, 0];
    if (cells) cells.forEach((outcome) => { counts[outcome] += 1; });
    all(".counted").forEach((item) => {
      const number = counts[Number(item.dataset.outcome)];
      item.textContent = cells ? `${number.toLocaleString("en")} (${shareText(m > 1 ? 100 * number / (m * (m - 1)) : null)})` : "not compared on this measure";
    });
    canvas.setAttribute("aria-label", `Outcomes of ${title}, ${m} by ${m} classifiers: ${counts.slice(1).map((number, place) => `${number} ${data.page.cells[place + 1][1]}`).join(", ")}. Arrow keys move among the cells, with Shift by ten.`);
    document.querySelector(".order-says").textContent = byAccuracy.checked
      ? "From the least accurate on true labels (top, left) to the most accurate." : "In the order in which they were given.";
    if (!cells) at = null;
    if (at) says.replaceChildren(...words());
    paint();
    thumbs.replaceChildren(...looks.filter((look) => state.shown.has(look.name)).flatMap(thumb));
  };
  pick.addEventListener("change", () => { state.method = pick.value; changed(); });
  byAccuracy.addEventListener("change", changed);
  all("#outcomes input").forEach((box) => {
    box.hidden = false;
    box.addEventListener("change", () => {
      if (box.checked) shownOutcomes.add(Number(box.value));
      else shownOutcomes.delete(Number(box.value));
      changed();
    });
  });
  document.querySelector(".drawn .still").remove();
  canvas.hidden = false;
  state.told.push(draw);
  changed();
})();
