// SPDX-License-Identifier: BSD-3-Clause
// Draws the report's plots and heat maps as SVG from the JSON in the page. Hovering, touching or the arrow keys show
// the values at a size; a click on a name in the legend hides its line. No library, no network.
"use strict";
const NS = "http://www.w3.org/2000/svg";
const W = 540, H = 300, LEFT = 74, RIGHT = 14, TOP = 12, BOTTOM = 44;
const data = JSON.parse(document.getElementById("data").textContent);

function svg(name, attributes, parent, text) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}
function tag(name, className, parent, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}
function bytes(n) {
  for (const [unit, name] of [[2 ** 30, "G"], [2 ** 20, "M"], [2 ** 10, "K"]]) if (n >= unit) return +(n / unit).toFixed(2) + name;
  return String(n);
}
function number(v) {
  if (v >= 1000) return v.toLocaleString("en", { maximumFractionDigits: 0 });
  if (v > 0 && v < 0.001) return v.toExponential(1).replace(".0e", "e").replace("e-", "e−");
  return String(+v.toPrecision(3));
}
function color(series) { return `var(--${series.mode})`; }

// --- scales ---

function logScale(low, high, from, to) {
  const a = Math.log(low), b = Math.log(high) - a || 1;
  return v => from + (Math.log(v) - a) / b * (to - from);
}
function decades(low, high) {
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) ticks.push(10 ** e);
  return ticks;
}
// Powers of ten, or with 2 and 5 between them where there would be few; always wide enough for the data.
function valueAxis(values, percent) {
  if (percent) return { low: 0, high: 100, ticks: [0, 25, 50, 75, 100], scale: (v, a, b) => a + v / 100 * (b - a) };
  const low = Math.min(...values), high = Math.max(...values);
  let ticks = decades(low, high);
  if (ticks.length <= 3) ticks = ticks.flatMap(t => [t, 2 * t, 5 * t]);
  const first = Math.max(0, ticks.findLastIndex(t => t <= low)), last = ticks.findIndex(t => t >= high);
  ticks = ticks.slice(first, last < 0 ? undefined : last + 1);
  if (ticks.length < 2) ticks = [ticks[0], ticks[0] * 10];
  return { low: ticks[0], high: ticks.at(-1), ticks };
}

// --- line plots ---

function drawPlot(plot, place) {
  const figure = tag("figure", "", place);
  const caption = tag("figcaption", "", figure, plot.title);
  tag("small", "", caption, `${plot.note} · ${plot.better} is better`);
  const legend = tag("div", "legend", figure);
  const box = tag("div", "", figure);
  const tip = tag("div", "tip", figure);
  tip.hidden = true;
  const hidden = new Set();
  const draw = () => drawLines(plot, box, tip, figure, plot.series.filter(s => !hidden.has(s.mode)));
  for (const series of plot.series) {
    const button = tag("button", "", legend);
    tag("i", "", button).style.background = color(series);
    button.append(series.name);
    button.addEventListener("click", () => {
      hidden.has(series.mode) ? hidden.delete(series.mode) : hidden.add(series.mode);
      button.classList.toggle("off", hidden.has(series.mode));
      draw();
    });
  }
  draw();
}

function drawLines(plot, box, tip, figure, shown) {
  box.replaceChildren();
  const root = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", tabindex: 0,
    "aria-label": `${plot.title}, ${plot.note}, in ${plot.unit} by message size` }, box);
  const points = plot.series.flatMap(s => s.points);
  const sizes = [...new Set(points.map(p => p[0]))].sort((a, b) => a - b);
  const low = sizes[0], high = sizes.at(-1) === low ? low * 2 : sizes.at(-1);
  const x = logScale(low, high, LEFT + 8, W - RIGHT - 8);
  const percent = plot.unit === "%";
  const axis = valueAxis(points.map(p => p[1]), percent);
  const y = percent ? v => axis.scale(v, H - BOTTOM, TOP) : logScale(axis.low, axis.high, H - BOTTOM, TOP);
  drawAxes(root, plot, sizes, x, axis, y);
  for (const series of shown) {
    const path = series.points.map(([s, v], i) => `${i ? "L" : "M"}${x(s).toFixed(1)} ${y(v).toFixed(1)}`).join("");
    svg("path", { class: "line", d: path, style: `stroke: ${color(series)}` }, root);
    for (const [s, v] of series.points) svg("circle", { cx: x(s), cy: y(v), r: 2.6, style: `fill: ${color(series)}` }, root);
  }
  const cross = svg("line", { class: "cross", y1: TOP, y2: H - BOTTOM, visibility: "hidden" }, root);
  hover({ root, tip, figure, sizes, x, cross, shown, unit: plot.unit });
}

function drawAxes(root, plot, sizes, x, axis, y) {
  for (const t of axis.ticks) {
    svg("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: y(t), y2: y(t) }, root);
    svg("text", { x: LEFT - 8, y: y(t) + 4, "text-anchor": "end" }, root, number(t));
  }
  const every = Math.ceil(sizes.length / 9);
  sizes.forEach((s, i) => {
    if (i % every && sizes.length > 9) return;
    svg("line", { class: "grid", x1: x(s), x2: x(s), y1: H - BOTTOM, y2: H - BOTTOM + 5 }, root);
    svg("text", { x: x(s), y: H - BOTTOM + 18, "text-anchor": "middle" }, root, bytes(s));
  });
  svg("text", { x: (LEFT + W - RIGHT) / 2, y: H - 6, "text-anchor": "middle" }, root, "size in bytes");
  svg("text", { x: 14, y: (TOP + H - BOTTOM) / 2, "text-anchor": "middle",
    transform: `rotate(-90 14 ${(TOP + H - BOTTOM) / 2})` }, root, plot.unit);
}

function hover(v) {
  let at = -1;
  const show = index => {
    at = Math.min(Math.max(index, 0), v.sizes.length - 1);
    const size = v.sizes[at], left = v.x(size);
    v.cross.setAttribute("x1", left);
    v.cross.setAttribute("x2", left);
    v.cross.setAttribute("visibility", "visible");
    v.tip.replaceChildren();
    tag("b", "", v.tip, `${bytes(size)} bytes`.replace(/([KMG]) bytes/, " $1iB"));
    for (const series of v.shown) {
      const point = series.points.find(p => p[0] === size);
      if (!point) continue;
      const line = tag("div", "", v.tip);
      tag("span", "", line, "● ").style.color = color(series);
      line.append(`${series.name}: ${number(point[1])} ${v.unit}` + (point[2] !== "-" && series.mode === "telpher" ? ` (${point[2]})` : ""));
    }
    v.tip.hidden = false;
    const area = v.root.getBoundingClientRect(), frame = v.figure.getBoundingClientRect();
    const place = area.left - frame.left + left / W * area.width;
    v.tip.style.left = `${Math.max(4, Math.min(place + 12, frame.width - v.tip.offsetWidth - 6))}px`;
    v.tip.style.top = `${area.top - frame.top + 14}px`;
  };
  const hide = () => { v.tip.hidden = true; v.cross.setAttribute("visibility", "hidden"); };
  v.root.addEventListener("pointermove", event => {
    const area = v.root.getBoundingClientRect();
    const left = (event.clientX - area.left) / area.width * W;
    show(v.sizes.reduce((best, s, i) => Math.abs(v.x(s) - left) < Math.abs(v.x(v.sizes[best]) - left) ? i : best, 0));
  });
  v.root.addEventListener("pointerleave", hide);
  v.root.addEventListener("blur", hide);
  v.root.addEventListener("keydown", event => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    show(at + (event.key === "ArrowRight" ? 1 : -1));
    event.preventDefault();
  });
}

// --- heat maps ---

// From pale to deep blue; deep is good.
function shade(part) {
  const a = [226, 238, 250], b = [8, 69, 148];
  return `rgb(${a.map((v, i) => Math.round(v + (b[i] - v) * part)).join(" ")})`;
}

function drawMatrix(m, place) {
  const figure = tag("figure", "", place);
  const caption = tag("figcaption", "", figure, `${m.title} in ${m.unit}`);
  tag("small", "", caption, `${m.note} · ${m.better} is better`);
  const tip = tag("div", "tip", figure);
  tip.hidden = true;
  const cell = Math.min(72, (W - LEFT - RIGHT) / m.size), top = 40, height = top + m.size * cell + 10;
  const root = svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": m.title }, figure);
  svg("text", { x: LEFT + m.size * cell / 2, y: 14, "text-anchor": "middle" }, root, "to rank");
  svg("text", { x: 13, y: top + m.size * cell / 2, "text-anchor": "middle",
    transform: `rotate(-90 13 ${top + m.size * cell / 2})` }, root, "from rank");
  for (let i = 0; i < m.size; ++i) {
    svg("text", { x: LEFT + (i + .5) * cell, y: top - 8, "text-anchor": "middle" }, root, i);
    svg("text", { x: LEFT - 8, y: top + (i + .5) * cell + 4, "text-anchor": "end" }, root, i);
    svg("text", { x: LEFT + (i + .5) * cell, y: top + (i + .5) * cell + 4, "text-anchor": "middle" }, root, "–");
  }
  const logs = m.cells.map(c => Math.log(c[2])), low = Math.min(...logs), span = Math.max(...logs) - low;
  for (const [from, to, value, path] of m.cells) {
    // A spread of a tenth is all noise: no colours for it.
    let part = span < 0.1 ? 0.5 : (Math.log(value) - low) / span;
    if (m.better === "lower") part = 1 - part;
    const group = svg("g", { class: "cell", style: `fill: ${part > 0.5 ? "#fff" : "#10233a"}` }, root);
    svg("rect", { x: LEFT + to * cell + 1, y: top + from * cell + 1, width: cell - 2, height: cell - 2, rx: 3,
      style: `fill: ${shade(part)}` }, group);
    if (cell >= 34) svg("text", { x: LEFT + (to + .5) * cell, y: top + (from + .5) * cell + 4, "text-anchor": "middle" }, group, number(value));
    group.addEventListener("pointerenter", event => {
      tip.textContent = `rank ${from} to rank ${to}: ${number(value)} ${m.unit} (${path})`;
      tip.hidden = false;
      const frame = figure.getBoundingClientRect();
      tip.style.left = `${Math.min(event.clientX - frame.left + 12, frame.width - tip.offsetWidth - 6)}px`;
      tip.style.top = `${event.clientY - frame.top + 14}px`;
    });
    group.addEventListener("pointerleave", () => { tip.hidden = true; });
  }
}

for (const place of document.querySelectorAll("[data-section]"))
  for (const plot of data.sections[place.dataset.section]) drawPlot(plot, place);
for (const matrix of data.matrices) drawMatrix(matrix, document.getElementById("matrices"));
