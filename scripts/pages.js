// SPDX-License-Identifier: Apache-2.0
//
// Checks of an open page: its accessibility, its width, the texts in its charts, the places of marks, and what is printed. pages.py puts it
// behind axe-core into a copy of the page, with WIDTH, the width of the page in px, and EXPECTED, the values of the result. The title has
// what was found.
"use strict";
// Largest distance of a mark from its place, in px.
const NEAR = 0.7;
const shown = selector => [...document.querySelectorAll(selector)].filter(element => element.checkVisibility());

function wide() {
  const end = document.documentElement.getBoundingClientRect().left + WIDTH;
  const beyond = element => !element.closest(".scroll,svg,pre,.skip") && element.getBoundingClientRect().right > end + 1;
  const first = [...document.body.querySelectorAll("*")].find(beyond);
  return first ? ["wider-than-the-page-" + first.tagName] : [];
}

function texts(chart) {
  const id = chart.closest("figure").id, room = chart.getBoundingClientRect(), found = [];
  const boxes = [...chart.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
  if (boxes.some(([text]) => text.includes("\u2026"))) found.push("text-is-cut-" + id);
  if (boxes.some(([, box]) => box.left < room.left - 2 || box.right > room.right + 2)) found.push("text-is-outside-" + id);
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5;
  if (boxes.some(([, a], i) => boxes.slice(i + 1).some(([, b]) => overlap(a, b)))) found.push("text-on-text-" + id);
  return found;
}

// Whether points lie on a falling line, of the values or of their logarithms: a higher value is further up.
function onAxis(points) {
  return [value => value, Math.log].some(scale => {
    const sorted = points.map(([value, y]) => [scale(value), y, value]).sort((a, b) => a[0] - b[0]);
    const [low, high] = [sorted[0], sorted[sorted.length - 1]];
    if (high[0] === low[0]) return points.every(([, y]) => Math.abs(y - low[1]) < NEAR);
    const slope = (high[1] - low[1]) / (high[0] - low[0]);
    // Values within 2 % may have the same height.
    const falls = sorted[0][2] * 1.02 > sorted[sorted.length - 1][2] ? low[1] - high[1] > -NEAR : low[1] - high[1] > NEAR;
    return falls && sorted.every(([at, y]) => Math.abs(low[1] + slope * (at - low[0]) - y) < NEAR);
  });
}

// Every run of a cell that a chart shows is a dot at the height of its value.
function dots(id, runs) {
  const cells = {};
  for (const mark of shown(`#${id} svg.chart [data-t]`)) {
    if (mark.dataset.t.includes(", invalid: ")) continue;
    const run = /; run (\d+)/.exec(mark.dataset.t), known = run && runs[run[1]], box = mark.getBoundingClientRect();
    if (known) (cells[known[0]] ||= []).push([known[1], (box.top + box.bottom) / 2]);
    else if (run) return ["unknown-run-" + id];
  }
  const all = Object.entries(cells), number = cell => Object.values(runs).filter(run => run[0] === cell).length;
  if (!all.length || all.some(([cell, points]) => points.length !== number(cell))) return ["number-of-dots-" + id];
  return all.every(([, points]) => onAxis(points)) ? [] : ["height-of-dots-" + id];
}

// Each process is a bar as long as its value.
function bars(id, values) {
  const lengths = shown(`#${id} svg.chart rect[data-t]`).map(bar => {
    const name = /^(?:.*, )?([^,:]+): /.exec(bar.dataset.t);
    return [name && values[name[1]], bar.getBoundingClientRect().width];
  });
  if (lengths.length !== Object.keys(values).length || lengths.some(([value]) => !value)) return ["number-of-bars-" + id];
  const [most, longest] = lengths.reduce((a, b) => (b[0] > a[0] ? b : a));
  const isNear = ([value, width]) => Math.abs(width - longest * value / most) < NEAR;
  return lengths.every(isNear) ? [] : ["length-of-bars-" + id];
}

// A chart that was copied stands alone: its title, its marks, and no text beyond its edge.
function copies() {
  let text = "";
  const clipboard = { writeText: copied => { text = copied; return Promise.resolve(); } };
  Object.defineProperty(navigator, "clipboard", { value: clipboard, configurable: true });
  return shown("figure.fig").flatMap(figure => {
    figure.querySelector("button.copy").click();
    const file = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
    document.body.append(file);
    const room = file.getBoundingClientRect(), texts = [...file.querySelectorAll("text")];
    const title = [...file.querySelectorAll(".head")].map(line => line.textContent).join(" ");
    const isWhole = title === figure.querySelector("h3").textContent.trim() && file.querySelector("svg").childElementCount > 2;
    const isInside = texts.every(line => line.getBoundingClientRect().right <= room.right + 2);
    file.remove();
    return isWhole && isInside ? [] : ["copy-of-" + figure.id];
  });
}

// On paper nothing scrolls and closed tables are left out: a command is whole, and each section has more than its heading.
function printed() {
  const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]).filter(rule => rule.conditionText === "print");
  const style = document.createElement("style");
  style.textContent = rules.flatMap(rule => [...rule.cssRules]).map(rule => rule.cssText).join("\n");
  document.head.append(style);
  const isCut = text => text.scrollWidth > text.clientWidth + 1;
  const isContent = element => element.tagName !== "H2" && element.checkVisibility() && element.getBoundingClientRect().height > 0;
  const bare = shown("section").filter(section => ![...section.children].some(isContent));
  const found = bare.map(section => "only-a-heading-in-print-" + section.id);
  if (shown("pre").some(isCut)) found.push("command-is-cut-in-print");
  style.remove();
  return found;
}

axe.run().then(result => {
  const found = result.violations.map(violation => violation.id).concat(wide(), shown("figure svg.chart").flatMap(texts));
  found.push(...copies());
  for (const [id, runs] of Object.entries(EXPECTED.dots)) if (document.getElementById(id)) found.push(...dots(id, runs));
  for (const [id, values] of Object.entries(EXPECTED.bars)) if (document.getElementById(id)) found.push(...bars(id, values));
  found.push(...printed());
  document.title = "violated:" + found.join(" ") + ";";
});
