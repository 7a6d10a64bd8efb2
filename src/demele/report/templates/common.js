// What the scripts of all pages share; it stands before them in the same element.
"use strict";
const DASH = "\u2013";
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const number = (value, digits = 3) => {
  if (value === null || value === undefined) return DASH;
  const text = Math.abs(value) < 1e4 ? value.toFixed(digits) : value.toPrecision(4);
  return (Number(text) === 0 ? text.replace("-", "") : text.replace("-", "\u2212"));
};
const short = (text, most = 22) => {
  const signs = [...String(text)];
  return signs.length > most ? signs.slice(0, most - 1).join("") + "\u2026" : String(text);
};
const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const theme = () => root.dataset.theme || "auto";
const setTheme = (name) => {
  if (name === "auto") root.removeAttribute("data-theme");
  else root.dataset.theme = name;
  byId("theme").textContent = `Theme: ${name}`;
};
const nextTheme = () => {
  const themes = ["auto", "light", "dark"];
  setTheme(themes[(themes.indexOf(theme()) + 1) % themes.length]);
};
const download = (text, type, name) => downloadBlob(new Blob([text], { type }), name);
const downloadBlob = (blob, name) => {
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};
const csvOf = (lines) => {
  const quoted = (value) => `"${String(value ?? "").replace(/"/g, '""')}"`;
  return lines.map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
};
// Which part of the page is being read, told in its contents.
const followContents = () => {
  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const near = new Set();
  const observer = new IntersectionObserver((entries) => {
    entries.forEach((entry) => (entry.isIntersecting ? near.add(entry.target.id) : near.delete(entry.target.id)));
    const current = [...links.keys()].find((name) => near.has(name));
    links.forEach((link, name) => (name === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
  }, { rootMargin: "-10% 0px -60% 0px" });
  all("main section").forEach((section) => observer.observe(section));
};
// Data that a page holds compressed: base64 of what zlib writes.
const unpacked = async (text) => {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
};
// What every page does: shows its controls, theme, printing with everything open, copying, the panel, contents.
const say = (text) => { byId("said").textContent = text; };
const startPage = ({ folded = "details:not([open])", redraw = () => {} } = {}) => {
  all(".controls, .chips, .tools, .copy").forEach((item) => { item.hidden = false; });
  byId("theme").addEventListener("click", nextTheme);
  byId("print").addEventListener("click", () => window.print());
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = { theme: theme(), closed: all(folded) };
    setTheme("light");
    before.closed.forEach((details) => { details.open = true; });
    document.body.classList.add("printing");
    redraw();
  });
  window.addEventListener("afterprint", () => {
    if (!before) return;
    document.body.classList.remove("printing");
    before.closed.forEach((details) => { details.open = false; });
    setTheme(before.theme);
    before = null;
    redraw();
  });
  all(".copy").forEach((button) => button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    let done = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      done = document.execCommand("copy");
    }
    button.textContent = done ? "Copied" : "Selected";
    say(done ? "Signature copied" : "Signature selected: copy it with the keyboard");
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }));
  const panel = byId("panel");
  byId("panel-close").addEventListener("click", () => panel.close());
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });
  followContents();
};
// The panel with what is known of one thing; what was in it is gone.
const openPanel = (kind, title, content) => {
  byId("tip").hidden = true;
  byId("panel-kind").textContent = kind;
  byId("panel-title").replaceChildren(...title);
  byId("panel-body").replaceChildren(...content);
  if (!byId("panel").open) byId("panel").showModal();
  byId("panel").scrollTop = 0;
  byId("panel-title").focus();
};
