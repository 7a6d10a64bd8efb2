
// Figures: SVG in the colours of the page. They tell their values to the pointer and the arrow keys, and can be saved.
const SVG = "http://www.w3.org/2000/svg";
const svg = (name, attributes = {}, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const fixed = (value) => Math.round(value * 100) / 100;
const widthOf = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text, size = 12) => {
    context.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
    return context.measureText(text).width;
  };
})();
const widest = (labels, size) => Math.max(0, ...labels.map((label) => widthOf(label, size)));
// Round numbers between two ends, about so many.
const ticksBetween = (low, high, about = 5) => {
  const rough = (high - low) / about || 1;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * [1, 2, 5, 10].find((factor) => size * factor >= rough * (1 - 1e-9));
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: Math.max(0, count) }, (_, place) => {
    const value = Number(((first + place) * step).toPrecision(12));
    return { value, text: value.toFixed(Math.min(digits, 6)).replace("-", "\u2212") };
  });
};
const text = (words, attributes) => {
  const made = svg("text", attributes);
  made.textContent = words;
  return made;
};

// A box near the pointer, or near what the keys chose; inside a dialog, which would cover it otherwise.
const tellNear = (lines, box, within) => {
  const tip = byId("tip");
  (within.closest("dialog") || document.body).append(tip);
  tip.replaceChildren(...lines.flatMap((line, place) => [...(place ? [element("br")] : []), line]));
  tip.hidden = false;
  const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
  tip.style.left = `${Math.max(8, Math.min(box.x + 14, innerWidth - wide - 8))}px`;
  tip.style.top = `${Math.max(8, box.y + 18 + high < innerHeight ? box.y + 18 : box.y - high - 10)}px`;
};

// Make a figure. ``draw(plot)`` adds marks to ``plot.marks`` and what they tell to ``plot.spots``, for the width there is.
const figureOf = (caption, { kind, height, alt = "", file }, draw) => {
  const picture = svg("svg", { class: "plot", role: "img", tabindex: "0", "aria-label": alt, "data-figure": kind });
  const save = element("button", { type: "button", class: "save", "aria-label": "Save this figure as a picture" }, "Save");
  const frame = height > 800 ? element("div", { class: "tall", tabindex: "0" }, picture) : picture;
  const whole = element("figure", {}, element("figcaption", {}, element("span", {}, ...caption), save), frame);
  let spots = [];
  let chosen = -1;
  const paint = () => {
    const width = Math.max(200, Math.floor(picture.parentElement.clientWidth || 600));
    const plot = { width, height, marks: [], spots: [], picture };
    draw(plot);
    [spots, chosen] = [plot.spots, -1];
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.style.height = `${height}px`;
    picture.replaceChildren(...plot.marks);
  };
  const leave = () => {
    byId("tip").hidden = true;
    all(".pointed", picture).forEach((mark) => mark.classList.remove("pointed"));
  };
  const tell = (place, box) => {
    leave();
    chosen = place;
    if (spots[place].mark) spots[place].mark.classList.add("pointed");
    tellNear(spots[place].lines, box, picture);
  };
  // The mark under the pointer, or the nearest one within 20 pixels.
  const nearest = (event) => {
    const box = picture.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, distance] = [-1, 20];
    spots.forEach((spot, place) => {
      const away = Math.hypot(Math.max(spot.x - x, 0, x - spot.x - (spot.w || 0)), Math.max(spot.y - y, 0, y - spot.y - (spot.h || 0)));
      if (away <= distance && (away < distance || !spot.w)) [best, distance] = [place, away];
    });
    return best;
  };
  const point = (event) => {
    const place = nearest(event);
    if (place < 0) leave();
    else tell(place, { x: event.clientX, y: event.clientY });
  };
  picture.addEventListener("pointermove", point);
  picture.addEventListener("pointerdown", point);
  ["pointerleave", "blur"].forEach((name) => picture.addEventListener(name, leave));
  const use = (place) => { if (place >= 0 && spots[place].open) { leave(); spots[place].open(); } };
  picture.addEventListener("click", (event) => use(nearest(event)));
  picture.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -spots.length, End: spots.length };
    if (event.key === "Escape" && !byId("tip").hidden) { leave(); event.stopPropagation(); event.preventDefault(); }
    if (event.key === "Enter") use(chosen);
    if (!(event.key in steps) || !spots.length) return;
    event.preventDefault();
    event.stopPropagation(); // a panel moves with the same keys
    const place = Math.max(0, Math.min(spots.length - 1, chosen + steps[event.key]));
    const box = picture.getBoundingClientRect();
    tell(place, { x: box.left + spots[place].x + (spots[place].w || 0), y: box.top + spots[place].y + (spots[place].h || 0) });
    if (byId("said")) byId("said").textContent = byId("tip").innerText;
  });
  save.addEventListener("click", () => savePicture(picture, file));
  let seen = 0;
  new ResizeObserver(() => {
    const width = whole.clientWidth;
    if (width && width !== seen && picture.isConnected) { seen = width; paint(); }
  }).observe(whole);
  return { whole, picture, paint: () => { seen = whole.clientWidth; paint(); } };
};

// The picture with the colours that it has on this page, as PNG of twice its size.
const savePicture = (picture, file) => {
  const copy = picture.cloneNode(true);
  const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity", "font-size", "font-weight", "text-anchor", "paint-order"];
  const copies = [copy, ...copy.querySelectorAll("*")];
  [picture, ...picture.querySelectorAll("*")].forEach((mark, place) => {
    const style = getComputedStyle(mark);
    kept.forEach((name) => copies[place].style.setProperty(name, style.getPropertyValue(name)));
  });
  const { width, height } = picture.viewBox.baseVal;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.style.fontFamily = getComputedStyle(document.body).fontFamily;
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = element("canvas", { width: 2 * width, height: 2 * height });
    const context = canvas.getContext("2d");
    context.fillStyle = colour("--page");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => downloadBlob(blob, `${file}.png`));
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
};

// Labels below an axis: slanted where one is wider than its column, and left out where there is no room for all.
const footOf = (labels, room, size = 12) => {
  const slanted = widest(labels, size) > room - 4;
  const step = slanted ? Math.max(1, Math.ceil(16 / room)) : 1;
  return { labels, slanted, step, size, height: slanted ? Math.min(120, 0.58 * widest(labels, size) + 16) : size + 10 };
};
const footMarks = (foot, at, top) => foot.labels.flatMap((label, place) => {
  if (place % foot.step) return [];
  const [x, y] = [fixed(at(place)), top + foot.size + 3];
  return [text(label, foot.slanted ? { class: "label", x: x + 4, y, "text-anchor": "end", transform: `rotate(-35 ${x + 4} ${y})` }
    : { class: "label", x, y, "text-anchor": "middle" })];
});
// How far slanted labels reach to the left of the first column.
const reachOfFoot = (foot, room) => (foot.slanted
  ? Math.max(0, ...foot.labels.map((label, place) => 0.82 * widthOf(label, foot.size) - (place + 0.5) * room)) : 0);
const titles = (plot, across, up, { left, right, top, bottom }) => {
  if (across) plot.marks.push(text(across, { class: "label", x: (left + plot.width - right) / 2, y: plot.height - 5, "text-anchor": "middle" }));
  if (!up) return;
  const [x, y] = [13, (top + plot.height - bottom) / 2];
  plot.marks.push(text(up, { class: "label", x, y, "text-anchor": "middle", transform: `rotate(-90 ${x} ${y})` }));
};

// A heat map; ``cellOf(row, column)`` returns its colour, the colour of its number, what it tells and what a click does.
const drawHeat = (plot, { rows, columns, across, up, digits, numbers, cellOf }) => {
  const labels = columns.map((name) => short(name, 16));
  const rowLabels = rows.map((name) => short(name, 18));
  const step = Math.max(1, Math.ceil(rows.length / 60));
  const top = 6;
  const left = Math.max(60, widest(rowLabels) + 30);
  const room = (plot.width - left - 6) / columns.length;
  const foot = footOf(labels, room);
  const bottom = foot.height + 22;
  const high = (plot.height - top - bottom) / rows.length;
  rows.forEach((_, i) => {
    if (i % step === 0) plot.marks.push(text(rowLabels[i], { class: "label", x: left - 6, y: fixed(top + (i + 0.5) * high + 4), "text-anchor": "end" }));
    columns.forEach((__, j) => {
      const box = { x: fixed(left + j * room), y: fixed(top + i * high), w: fixed(room), h: fixed(high) };
      const { value, fill, ink, lines, open, struck } = cellOf(i, j);
      const gap = Math.min(1.5, 0.15 * Math.min(room, high));
      const mark = svg("rect", { class: value === null ? "gap" : "heat-cell", x: box.x, y: box.y, width: fixed(room - gap), height: fixed(high - gap), style: value === null ? undefined : `fill:${fill}` });
      plot.marks.push(mark);
      plot.spots.push({ ...box, mark, lines, open });
      if (struck) plot.marks.push(svg("line", { class: "struck", x1: fixed(box.x + 2), x2: fixed(box.x + Math.min(room, high, 24) - gap - 2), y1: fixed(box.y + Math.min(room, high, 24) - gap - 2), y2: fixed(box.y + 2), style: `stroke:${ink}` }));
      if (numbers && room >= 22) {
        plot.marks.push(text(number(value, room >= 31 ? digits : 1), {
          x: fixed(box.x + room / 2), y: fixed(box.y + high / 2 + 4), "text-anchor": "middle", class: "label", style: `font-size:${room >= 42 ? 11 : 10}px;${value === null ? "" : `fill:${ink}`}`,
        }));
      }
    });
  });
  plot.marks.push(...footMarks(foot, (place) => left + (place + 0.5) * room, plot.height - bottom));
  titles(plot, across, up, { left, right: 6, top, bottom });
};

// Bars from zero, one for each name and series; ``series`` are {colour, values, pairs, lines}, numbers stand at the right.
const drawBars = (plot, { names, series, low, high }) => {
  const labels = names.map((name) => short(name));
  const wide = plot.width > 460;
  const shownRange = wide && series.some((one) => one.pairs.some(Boolean));
  const [left, right, top, bottom] = [widest(labels) + 12, shownRange ? 160 : 62, 4, 26];
  const at = (value) => left + (Math.max(low, Math.min(high, value)) - low) / (high - low) * (plot.width - left - right);
  const band = (plot.height - top - bottom) / names.length;
  const thick = 0.8 * band / series.length;
  ticksBetween(low, high, plot.width > 700 ? 8 : 4).forEach(({ value, text: words }) => {
    plot.marks.push(svg("line", { class: value === 0 ? "axis" : "rule", x1: fixed(at(value)), x2: fixed(at(value)), y1: top, y2: plot.height - bottom }));
    plot.marks.push(text(words, { class: "label", x: fixed(at(value)), y: plot.height - 8, "text-anchor": "middle" }));
  });
  names.forEach((_, place) => {
    const start = top + place * band + 0.1 * band;
    plot.marks.push(text(labels[place], { class: "name", x: left - 8, y: fixed(start + 0.4 * band + 4), "text-anchor": "end" }));
    series.forEach((one, index) => {
      const [value, pair] = [one.values[place], one.pairs[place]];
      if (value === undefined) return;
      const y = start + index * thick;
      const middle = fixed(y + thick / 2);
      if (value !== null) {
        const ends = [at(0), at(value)].sort((a, b) => a - b);
        const mark = svg("rect", { class: `bar ${one.colour}`, x: fixed(ends[0]), y: fixed(y + 0.07 * thick), width: fixed(ends[1] - ends[0]), height: fixed(0.86 * thick) });
        plot.marks.push(mark);
        plot.spots.push({ x: left, y, w: plot.width - left, h: thick, mark, lines: one.lines(place) });
        if (pair) plot.marks.push(svg("path", { class: "error", d: `M${fixed(at(pair[0]))} ${middle}H${fixed(at(pair[1]))}M${fixed(at(pair[0]))} ${middle - 3}v6M${fixed(at(pair[1]))} ${middle - 3}v6` }));
      }
      const words = text(number(value), { class: value === null ? "label" : "name", x: plot.width - right + 8, y: middle + 4 });
      if (wide && pair) words.append(svg("tspan", { class: "label", dx: 8 }, `[${number(pair[0])}, ${number(pair[1])}]`));
      plot.marks.push(words);
    });
  });
};

// Curves over named steps. ``lines`` are {colour, width, dash, mean, low, high, faint, behind, told(place)}: those behind
// are thin and grey; where ``boxes``, steps have no order, and stand for themselves.
const drawCurves = (plot, { labels, lines, low, high, across, up, boxes = false }) => {
  const steps = Math.max(1, labels.length);
  const ticks = ticksBetween(low, high);
  const plain = labels.map((label) => short(label, 26));
  const first = widest(ticks.map((tick) => tick.text)) + (up ? 34 : 14);
  const foot = footOf(plain, (plot.width - first - 12) / steps);
  const left = Math.max(first, reachOfFoot(foot, (plot.width - first - 12) / steps));
  const [right, top, bottom] = [12, 8, foot.height + (across ? 22 : 6)];
  const room = (plot.width - left - right) / steps;
  const at = (place) => fixed(left + (place + 0.5) * room);
  const to = (value) => fixed(top + (high - value) / (high - low) * (plot.height - top - bottom));
  ticks.forEach(({ value, text: words }) => {
    plot.marks.push(svg("line", { class: "rule", x1: left, x2: plot.width - right, y1: to(value), y2: to(value) }));
    plot.marks.push(text(words, { class: "label", x: left - 6, y: to(value) + 4, "text-anchor": "end" }));
  });
  plot.marks.push(...footMarks(foot, at, plot.height - bottom));
  titles(plot, across, up, { left, right, top, bottom });
  const bands = (line) => {
    const known = (place) => line.mean[place] !== null && line.low[place] !== null && line.high[place] !== null;
    return runsOf(line.mean.length, known).map((run) => {
      const ends = (side) => run.map((place) => `${at(place)},${to(line[side][place])}`);
      if (boxes) return svg("path", { class: `box ${line.colour}`, d: run.map((place) => `M${at(place) - 0.25 * room},${to(line.low[place])}h${0.5 * room}V${to(line.high[place])}h${-0.5 * room}z`).join("") });
      if (run.length === 1) return svg("path", { class: `error ${line.colour}`, d: `M${ends("low")[0]}L${ends("high")[0]}M${at(run[0]) - 3},${to(line.low[run[0]])}h6M${at(run[0]) - 3},${to(line.high[run[0]])}h6` });
      return svg("polygon", { class: `band ${line.colour}${line.faint ? " faint" : ""}`, points: [...ends("high"), ...ends("low").reverse()].join(" ") });
    });
  };
  lines.forEach((line) => {
    const runs = runsOf(line.mean.length, (place) => line.mean[place] !== null);
    const kind = line.behind ? "behind" : `mean ${line.colour}`;
    if (!line.behind) plot.marks.push(...bands(line));
    if (!boxes) {
      plot.marks.push(svg("path", {
        class: kind, "data-name": line.name, style: line.behind ? undefined : `stroke-width:${line.width};stroke-dasharray:${line.dash || "none"}`,
        d: runs.map((run) => `M${run.map((place) => `${at(place)},${to(line.mean[place])}`).join("L")}`).join(""),
      }));
    }
    runs.flat().forEach((place) => {
      const [x, y] = [at(place), to(line.mean[place])];
      const mark = line.behind ? undefined : svg("circle", { class: `point ${line.colour}`, cx: x, cy: y, r: boxes ? 4.5 : (line.width + (line.faint ? 3 : 4)) / 2 });
      if (mark) plot.marks.push(mark);
      plot.spots.push({ x, y, mark, lines: line.told(place) });
    });
  });
};
// Stretches of places that are known.
const runsOf = (length, known) => {
  const runs = [[]];
  for (let place = 0; place < length; place += 1) {
    if (known(place)) runs.at(-1).push(place);
    else if (runs.at(-1).length) runs.push([]);
  }
  return runs.filter((run) => run.length);
};
