"use strict";
// Draws the charts of the data block: one canvas each, redrawn when anything changes.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const LEFT = 84, PANEL = 230, GAP = 46, HEAD = 26, NAMES = 104;
const tip = document.getElementById("tip");
const search = document.getElementById("search");
const withBarriers = document.getElementById("barriers");
const zoom = document.getElementById("zoom");
const views = [];

function amount(bytes) {
  for (const [unit, scale] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
    if (bytes >= scale) return (bytes / scale).toFixed(1).replace(/\.0$/, "") + " " + unit;
  return bytes + " B";
}
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
const ink = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

class View {
  constructor(chart, number) {
    this.chart = chart;
    this.chosen = -1;
    this.pinned = false;
    this.panels = chart.panels.filter(panel => panel.boxes.length || panel.reserved.some(bytes => bytes > 0));
    this.boxes = [];
    this.panels.forEach((panel, row) => panel.boxes.forEach(([item, first, end, offset, size]) =>
      this.boxes.push({ row, item, first, end, offset, size })));
    this.boxes.sort((a, b) => a.row - b.row || a.first - b.first || b.offset - a.offset);
    this.canvas = element("canvas", { tabIndex: 0, id: "chart-" + number });
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label",
      `${chart.title}: ${chart.steps.length} steps, ${chart.items.length} resources. The table below says the same.`);
    this.stage = element("div", { className: "stage" }, this.canvas);
    this.build(number);
    this.canvas.addEventListener("mousemove", event => { if (!this.pinned) this.point(event); });
    this.canvas.addEventListener("mouseleave", () => { if (!this.pinned) this.choose(-1); });
    this.canvas.addEventListener("click", event => { this.pinned = false; this.point(event); this.pinned = this.chosen >= 0; });
    this.canvas.addEventListener("keydown", event => this.key(event));
    this.stage.addEventListener("scroll", () => this.draw());
  }
  build(number) {
    const { chart } = this;
    const facts = element("dl", { className: "facts" });
    for (const [name, value] of chart.facts)
      facts.append(element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value })));
    const legend = element("div", { className: "legend" });
    data.kinds.forEach((kind, index) => {
      if (!this.boxes.some(box => chart.items[box.item].kind === index)) return;
      const swatch = element("i");
      swatch.style.background = kind.fill;
      swatch.style.borderColor = kind.edge;
      legend.append(element("span", {}, swatch, kind.name));
    });
    if (this.panels.some(panel => panel.reserved.length)) {
      const swatch = element("i");
      swatch.style.background = "var(--held)";
      legend.append(element("span", {}, swatch, "reserved in the pass"));
    }
    if (chart.steps.some((step, index) => index && step.part !== chart.steps[index - 1].part))
      legend.append(element("span", { textContent: "┆ another command buffer or batch begins" }));
    this.lines = element("div");
    const section = element("section", {}, ...(data.charts.length > 1 ? [element("h2", { textContent: chart.title })] : []), facts, this.stage, legend, this.lines);
    if (chart.notes.length)
      section.append(element("ul", { className: "notes" }, ...chart.notes.map(note => element("li", { textContent: note }))));
    section.append(this.table(number));
    document.getElementById("charts").append(section);
  }
  table(number) {
    const names = [...new Set(this.chart.items.flatMap(item => item.facts.map(([name]) => name)))]
      .filter(name => ["life", "why", "worth", "bytes"].includes(name));
    const value = (item, name) => item.facts.filter(fact => fact[0] === name).map(fact => fact[1]).join("; ");
    const body = element("tbody");
    this.rows = this.chart.items.map((item, index) => {
      const row = element("tr", { tabIndex: 0, className: item.changed ? "changed" : "" },
        element("td", { textContent: item.name }),
        element("td", { textContent: data.kinds[item.kind].name }),
        element("td", { textContent: amount(item.size), className: "number" }),
        ...names.map(name => element("td", { textContent: value(item, name) })));
      const choose = () => { this.pinned = true; this.choose(index, row.getBoundingClientRect()); };
      row.addEventListener("click", choose);
      row.addEventListener("keydown", event => { if (event.key === "Enter") choose(); if (event.key === "Escape") this.free(); });
      return row;
    });
    body.append(...this.rows);
    const heads = ["name", "where", "size", ...names].map((name, column) => {
      const button = element("button", { textContent: name, title: "sort" });
      button.addEventListener("click", () => {
        const key = row => column === 2 ? -this.chart.items[this.rows.indexOf(row)].size : row.cells[column].textContent;
        const sorted = [...body.rows].sort((a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
        body.append(...sorted);
      });
      return element("th", { scope: "col" }, button);
    });
    const title = this.chart.items.length + " resources as a table";
    const details = element("details", { id: "table-" + number }, element("summary", { textContent: title }),
      element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
    details.open = this.chart.items.length <= 40;
    return details;
  }
  layout() {
    const room = Math.max(480, this.stage.clientWidth - 2);
    const steps = Math.max(1, this.chart.steps.length);
    this.column = Math.max((room - LEFT - 12) / steps * Number(zoom.value), 2);
    this.width = Math.ceil(LEFT + 12 + this.column * steps);
    this.height = HEAD + this.panels.length * (PANEL + GAP) - GAP + NAMES;
  }
  top(row) { return HEAD + row * (PANEL + GAP); }
  at(row, bytes) { return this.top(row) + PANEL - PANEL * Math.min(1, bytes / Math.max(1, this.panels[row].size)); }
  place(box) {
    const x = LEFT + this.column * box.first, high = this.at(box.row, box.offset + box.size);
    return [x, high, this.column * (box.end - box.first), Math.max(1, this.at(box.row, box.offset) - high)];
  }
  draw() {
    this.layout();
    // The canvas is as wide as what is seen: a long chart scrolls below it.
    const seen = Math.min(this.width, Math.max(480, this.stage.clientWidth - 2));
    const from = this.stage.scrollLeft;
    const scale = window.devicePixelRatio || 1;
    const { canvas } = this;
    if (canvas.width !== Math.round(seen * scale) || canvas.height !== Math.round(this.height * scale)) {
      canvas.width = Math.round(seen * scale);
      canvas.height = Math.round(this.height * scale);
    }
    canvas.style.cssText = `width:${seen}px;height:${this.height}px;position:sticky;left:0`;
    if (!this.spacer) { this.spacer = element("div"); this.stage.append(this.spacer); }
    this.spacer.style.cssText = `width:${this.width}px;height:1px`;
    const g = canvas.getContext("2d");
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, seen, this.height);
    g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    g.save();
    g.beginPath(); g.rect(LEFT - 1, 0, seen - LEFT + 1, this.height); g.clip();
    g.translate(-from, 0);
    this.panels.forEach((panel, row) => this.drawPanel(g, panel, row));
    this.drawBoxes(g);
    this.drawSteps(g);
    g.restore();
    this.panels.forEach((panel, row) => this.drawAxis(g, panel, row));
  }
  drawPanel(g, panel, row) {
    const y = this.top(row);
    g.fillStyle = ink("--field");
    g.fillRect(LEFT, y, this.column * this.chart.steps.length, PANEL);
    g.fillStyle = ink("--held");
    panel.reserved.forEach((bytes, step) => {
      if (bytes > 0) g.fillRect(LEFT + this.column * step, this.at(row, bytes), this.column + .5, y + PANEL - this.at(row, bytes));
    });
    g.strokeStyle = ink("--line");
    g.strokeRect(LEFT + .5, y + .5, this.column * this.chart.steps.length - 1, PANEL - 1);
  }
  drawBoxes(g) {
    const wanted = search.value.trim().toLowerCase();
    for (const box of this.boxes) {
      const item = this.chart.items[box.item], kind = data.kinds[item.kind];
      const [x, y, width, height] = this.place(box);
      const found = !wanted || item.name.toLowerCase().includes(wanted);
      g.globalAlpha = found ? 1 : .16;
      g.fillStyle = kind.fill;
      g.fillRect(x, y, width, height);
      const chosen = box.item === this.chosen;
      g.strokeStyle = chosen ? ink("--ink") : item.changed ? ink("--mark") : kind.edge;
      g.lineWidth = chosen ? 3 : item.changed ? 2 : 1;
      g.strokeRect(x + .5, y + .5, Math.max(0, width - 1), Math.max(0, height - 1));
      if (height >= 12 && width >= 24) {
        g.fillStyle = "#1c1c20";
        let name = item.name;
        while (name.length > 2 && g.measureText(name).width > width - 8) name = name.slice(0, -2) + "…";
        if (g.measureText(name).width <= width - 8) g.fillText(name, x + 4, y + height / 2 + 4);
      }
      g.globalAlpha = 1;
      g.lineWidth = 1;
    }
  }
  drawSteps(g) {
    const bottom = this.top(this.panels.length - 1) + PANEL;
    const every = Math.max(1, Math.ceil(13 / this.column));
    g.fillStyle = ink("--soft");
    this.chart.steps.forEach((step, index) => {
      if (index % every) return;
      g.save();
      g.translate(LEFT + this.column * (index + .5), bottom + 12);
      g.rotate(-Math.PI / 4);
      g.textAlign = "right";
      g.fillText(step.name.length > 19 ? step.name.slice(0, 18) + "…" : step.name, 0, 0);
      g.restore();
    });
    g.strokeStyle = ink("--mark");
    g.setLineDash([5, 3]);
    this.chart.steps.forEach((step, index) => {
      if (!index || step.part === this.chart.steps[index - 1].part) return;
      const x = Math.round(LEFT + this.column * index) + .5;
      g.beginPath(); g.moveTo(x, HEAD - 4); g.lineTo(x, bottom + 4); g.stroke();
    });
    g.setLineDash([]);
  }
  drawAxis(g, panel, row) {
    g.textAlign = "right";
    g.fillStyle = ink("--soft");
    for (let quarter = 0; quarter <= 4; quarter++)
      g.fillText(amount(panel.size * quarter / 4), LEFT - 6, this.at(row, panel.size * quarter / 4) + 4);
    g.textAlign = "left";
    g.fillStyle = ink("--ink");
    g.font = "bold 12px system-ui, 'DejaVu Sans', sans-serif";
    g.fillText(`${panel.name}, ${amount(panel.size)}`, LEFT, this.top(row) - 8);
    g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  }
  point(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const x = event.clientX - bounds.left + this.stage.scrollLeft, y = event.clientY - bounds.top;
    let found = -1;
    if (event.clientX - bounds.left >= LEFT)
      for (const box of this.boxes) {
        const [left, high, width, height] = this.place(box);
        if (x >= left && x < left + width && y >= high && y < high + height) found = box.item;
      }
    this.choose(found, { left: event.clientX, bottom: event.clientY });
  }
  key(event) {
    const order = [...new Set(this.boxes.map(box => box.item))];
    const now = order.indexOf(this.chosen);
    const go = step => {
      this.pinned = true;
      const item = order[(now + step + order.length) % order.length];
      const box = this.boxes.find(box => box.item === item);
      if (!box) return;
      const [x, y, , height] = this.place(box);
      if (x < this.stage.scrollLeft + LEFT || x > this.stage.scrollLeft + this.stage.clientWidth - 60) this.stage.scrollLeft = x - LEFT - 40;
      const bounds = this.canvas.getBoundingClientRect();
      this.choose(item, { left: bounds.left + x - this.stage.scrollLeft, bottom: bounds.top + y + height });
      event.preventDefault();
    };
    if (event.key === "ArrowRight" || event.key === "ArrowDown") go(1);
    else if (event.key === "ArrowLeft" || event.key === "ArrowUp") go(now < 0 ? 0 : -1);
    else if (event.key === "Enter") this.pinned = this.chosen >= 0;
    else if (event.key === "Escape") this.free();
  }
  free() { this.pinned = false; this.choose(-1); }
  choose(item, where) {
    if (item !== this.chosen) {
      this.chosen = item;
      this.rows.forEach((row, index) => row.classList.toggle("chosen", index === item));
      this.draw();
    }
    tip.hidden = item < 0;
    if (item < 0) return;
    const { name, size, facts } = this.chart.items[item];
    const list = element("dl");
    for (const [name, value] of facts) list.append(element("dt", { textContent: name }), element("dd", { textContent: value }));
    tip.replaceChildren(element("b", { textContent: `${name}, ${amount(size)}` }), list);
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(where.left + 14, innerWidth - width - 8)) + "px";
    tip.style.top = (where.bottom + 14 + height < innerHeight ? where.bottom + 14 : Math.max(8, where.bottom - height - 20)) + "px";
  }
  showBarriers(show) {
    this.lines.replaceChildren();
    if (!show) return;
    const text = this.chart.steps.filter(step => step.lines.length)
      .map(step => step.name + "\n" + step.lines.map(line => "  " + line).join("\n")).join("\n");
    this.lines.append(element("h3", { textContent: "In each step" }), element("pre", { textContent: text || "none" }));
  }
  filter(wanted) {
    let first = -1;
    this.chart.items.forEach((item, index) => {
      const found = !wanted || item.name.toLowerCase().includes(wanted);
      this.rows[index].hidden = !found;
      if (found && first < 0) first = index;
    });
    this.draw();
    return first;
  }
}

data.charts.forEach((chart, number) => views.push(new View(chart, number)));
if (data.differences.length) {
  const section = element("section", { id: "differences" }, element("h2", { textContent: "What the second plan does differently" }),
    element("pre", { textContent: data.differences.join("\n") }));
  document.getElementById("charts").append(section);
}
const drawAll = () => views.forEach(view => view.draw());
search.addEventListener("input", () => views.forEach(view => view.filter(search.value.trim().toLowerCase())));
search.addEventListener("keydown", event => { if (event.key === "Escape") { search.value = ""; views.forEach(view => view.filter("")); } });
withBarriers.addEventListener("change", () => views.forEach(view => view.showBarriers(withBarriers.checked)));
zoom.addEventListener("input", drawAll);
addEventListener("resize", drawAll);
addEventListener("keydown", event => { if (event.key === "Escape") views.forEach(view => view.free()); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
drawAll();
})();
