
// Codes against factors, row by row: from a sample of the rows that the page holds, a byte for each value.
const BYTE_STEPS = 254;
const NO_BYTE = 255;
const unpackedRows = (sample) => {
  if (!sample) return null;
  const unpack = (column) => ({ ...column, bytes: Uint8Array.from(atob(column.values), (sign) => sign.charCodeAt(0)) });
  return { ...sample, codes: sample.codes.map(unpack), factors: sample.factors.map(unpack) };
};
const ofByte = (column, byte) => column.low + (byte / BYTE_STEPS) * (column.high - column.low);
const known = (column) => [...column.bytes.keys()].filter((row) => column.bytes[row] !== NO_BYTE);

// The rows of a code in groups of a factor: its classes, or stretches of its values, each with what its middle is.
const groupsOf = (code, factor, stretches = 12) => {
  const names = factor.levels ? [...factor.levels, ...(factor.rarer ? [`${factor.rarer} rarer`] : [])]
    : Array.from({ length: stretches }, (_, at) => [at, at + 1].map((end) => number(ofByte(factor, (end / stretches) * BYTE_STEPS), 2)).join(" to "));
  const groups = names.map((name) => ({ name, rows: [] }));
  known(factor).forEach((row) => {
    const byte = factor.bytes[row];
    const at = factor.levels ? byte : Math.min(stretches - 1, Math.floor((byte / (BYTE_STEPS + 1)) * stretches));
    if (groups[at]) groups[at].rows.push(code.bytes[row]);
  });
  return groups.map(({ name, rows }) => {
    rows.sort((a, b) => a - b);
    const share = (part) => (rows.length ? ofByte(code, rows[Math.min(rows.length - 1, Math.floor(part * rows.length))]) : null);
    return { name, count: rows.length, low: share(0.05), first: share(0.25), median: share(0.5), third: share(0.75), high: share(0.95) };
  });
};

const axesOf = (plot, { code, up, across, foot }) => {
  const ticks = ticksBetween(code.low, code.high);
  const left = widest(ticks.map((tick) => tick.text)) + 34;
  const [right, top, bottom] = [10, 8, (foot ? foot.height : 20) + 22];
  const to = (value) => fixed(top + ((code.high - value) / ((code.high - code.low) || 1)) * (plot.height - top - bottom));
  ticks.forEach(({ value, text: words }) => {
    plot.marks.push(svg("line", { class: "rule", x1: left, x2: plot.width - right, y1: to(value), y2: to(value) }));
    plot.marks.push(text(words, { class: "label", x: left - 6, y: to(value) + 4, "text-anchor": "end" }));
  });
  titles(plot, short(across, 40), short(up, 30), { left, right, top, bottom });
  return { left, right, top, bottom, to };
};
const acrossOf = (plot, column, { left, right, bottom }) => {
  const at = (value) => fixed(left + ((value - column.low) / ((column.high - column.low) || 1)) * (plot.width - left - right));
  ticksBetween(column.low, column.high, plot.width > 420 ? 6 : 4).forEach(({ value, text: words }) => {
    plot.marks.push(text(words, { class: "label", x: at(value), y: plot.height - bottom + 15, "text-anchor": "middle" }));
  });
  return at;
};

// How dense the rows are over a quantity and a code, with the median of the code along the quantity.
const drawDensity = (plot, code, factor) => {
  const [wide, high] = [24, 18];
  const place = axesOf(plot, { code, up: code.name, across: factor.name });
  const { left, right, top, bottom, to } = place;
  const at = acrossOf(plot, factor, place);
  const counts = new Map();
  const rows = known(factor);
  rows.forEach((row) => {
    const [x, y] = [[factor, wide], [code, high]].map(([column, parts]) => Math.floor((column.bytes[row] / (BYTE_STEPS + 1)) * parts));
    counts.set(y * wide + x, (counts.get(y * wide + x) || 0) + 1);
  });
  const most = Math.max(1, ...counts.values());
  const [room, step] = [(plot.width - left - right) / wide, (plot.height - top - bottom) / high];
  const end = (column, place, parts) => number(ofByte(column, (place / parts) * BYTE_STEPS), 2);
  [...counts.keys()].sort((a, b) => a - b).forEach((key) => {
    const [x, y, count] = [key % wide, Math.floor(key / wide), counts.get(key)];
    const box = { x: fixed(left + x * room), y: fixed(top + (high - 1 - y) * step), w: fixed(room), h: fixed(step) };
    const mark = svg("rect", { class: "dense", x: box.x, y: box.y, width: box.w, height: box.h, style: `opacity:${fixed(0.1 + 0.9 * Math.sqrt(count / most))}` });
    plot.marks.push(mark);
    plot.spots.push({ ...box, mark, lines: [`${factor.name} ${end(factor, x, wide)} to ${end(factor, x + 1, wide)}`,
      `${code.name} ${end(code, y, high)} to ${end(code, y + 1, high)}`, element("b", {}, `${count} of ${rows.length} rows`)] });
  });
  const middles = groupsOf(code, factor).map((group, place) => ({ ...group, x: at(ofByte(factor, ((place + 0.5) / 12) * BYTE_STEPS)) })).filter((group) => group.count >= 5);
  if (middles.length > 1) plot.marks.push(svg("path", { class: "median", d: `M${middles.map((group) => `${group.x},${to(group.median)}`).join("L")}` }));
};

// A box for each class: the middle half and the median of the code, and the central 90% as a line.
const drawBoxes = (plot, code, factor) => {
  const groups = groupsOf(code, factor);
  const labels = groups.map((group) => short(group.name, 16));
  const foot = footOf(labels, (plot.width - 70) / groups.length);
  const { left, right, bottom, to } = axesOf(plot, { code, up: code.name, across: factor.name, foot });
  const room = (plot.width - left - right) / groups.length;
  const at = (place) => fixed(left + (place + 0.5) * room);
  plot.marks.push(...footMarks(foot, at, plot.height - bottom));
  groups.forEach((group, place) => {
    if (!group.count) return;
    const [x, half] = [at(place), fixed(Math.min(22, 0.35 * room))];
    const mark = svg("rect", { class: "boxed", x: fixed(x - half), y: to(group.third), width: 2 * half, height: fixed(Math.max(1, to(group.first) - to(group.third))) });
    plot.marks.push(svg("line", { class: "whisker", x1: x, x2: x, y1: to(group.low), y2: to(group.high) }), mark,
      svg("line", { class: "median", x1: fixed(x - half), x2: fixed(x + half), y1: to(group.median), y2: to(group.median) }));
    plot.spots.push({ x: fixed(x - room / 2), y: to(group.high), w: fixed(room), h: fixed(to(group.low) - to(group.high)), mark,
      lines: [group.name, element("b", {}, `median ${number(group.median)}`), `half of the rows ${number(group.first)} to ${number(group.third)}`, `${group.count} rows`] });
  });
};

// Two codes, a point for each row, in the colour of its factor.
const drawTwo = (plot, first, second, rows, colourOf) => {
  const place = axesOf(plot, { code: second, up: second.name, across: first.name });
  const at = acrossOf(plot, first, place);
  rows.forEach((row) => {
    plot.marks.push(svg("circle", { class: "row", cx: at(ofByte(first, first.bytes[row])), cy: place.to(ofByte(second, second.bytes[row])), r: 2.2, style: `fill:${colourOf(row)}` }));
  });
};
