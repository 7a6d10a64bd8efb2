
(() => {
  const slider = byId("wrong");
  if (!slider) return;
  const own = slider.closest(".what-if").dataset;
  const [lost, won, neither, n, bears, tail] = [own.lost, own.won, own.neither, own.n, own.bears, own.tail].map(Number);
  const pair = { lost, won, neither };
  const mirrored = { lost: won, won: lost, neither };
  // Where no names were given, the roles stand for them, as in the text of the page.
  const nameless = data.names[0] === "baseline" && data.names[1] === "candidate";
  const names = () => data.names.map((name) => element("bdi", {}, nameless ? `the ${name}` : name));
  const whole = (value) => value.toLocaleString("en");
  const line = byId("wrong-line");
  const digits = n > 20000 ? 3 : 2;
  const write = () => {
    const m = Number(slider.value);
    const [baseline, candidate] = names();
    const isCandidate = own.claim === "candidate";
    const [better, other] = isCandidate ? [candidate, baseline] : [baseline, candidate];
    const worst = worstCase(isCandidate ? pair : mirrored, m);
    const best = worstCase(isCandidate ? mirrored : pair, m);
    const p = mcnemar(worst);
    const copy = (item) => item.cloneNode(true);
    const rate = `${percentText(Math.floor(m / n * 10 ** (digits + 2) + 1e-9) / 10 ** (digits + 2), digits)} (${whole(m)} of ${whole(n)})`;
    byId("wrong-rate").textContent = rate;
    slider.setAttribute("aria-valuetext", rate);
    line.setAttribute("x1", String(1000 * m / Number(slider.max)));
    line.setAttribute("x2", line.getAttribute("x1"));
    const first = element("p", {}, "In the worst case ", copy(better),
      worst.gap > 0 ? ` would still be better on these instances, by ${pointsText(worst.gap / n, digits, false)} points.`
        : worst.gap === 0 ? " would be just as good as " : ` would be worse on these instances, by ${pointsText(-worst.gap / n, digits, false)} points.`);
    if (worst.gap === 0) first.append(copy(other), " on these instances.");
    first.append(` In the best case it would be better by ${pointsText(-best.gap / n, digits, false)} points.`);
    const second = element("p", {}, `On new instances: in the worst case ${whole(worst.won)} instances speak for `, copy(better),
      ` and ${whole(worst.lost)} for `, copy(other), `; McNemar\u2019s exact test gives ${probabilityText(p)}, `,
      p <= tail ? `within the ${percentText(tail, tail < 0.01 ? 2 : 1)} allowed.` : `more than the ${percentText(tail, tail < 0.01 ? 2 : 1)} allowed.`);
    const parts = [first, second];
    if (data.verdict !== "inconclusive" && bears >= 0) {
      parts.unshift(element("p", {}, element("strong", { class: m <= bears ? "stands" : "falls" },
        own.alone === "True" ? (m <= bears ? "The labels alone would show it too." : "In the worst case the labels alone would not show it: the verdict rests on the audit.")
          : m <= bears ? "The verdict stands." : "The verdict would not stand in the worst case.",
        own.rule === "overlap" && m > bears && p <= tail ? " (Its intervals could overlap, which asks for more than the test below.)" : "")));
    }
    byId("wrong-says").replaceChildren(...parts);
  };
  slider.addEventListener("input", write);
  write();
})();
