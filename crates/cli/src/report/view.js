"use strict";
// One chart of memory over steps, on two canvases: the placements, drawn when they change; and above them the selection, drawn when
// the mouse moves. Both draw only the visible part, and hit tests look only at boxes near the mouse.
const LEFT = 84, RIGHT = 14, PANEL = 230, ROW = 19, GAP = 44, LANE = 19, NAMES = 128, BUCKETS = 256, NAMED = 300;
const FONT = "system-ui, 'DejaVu Sans', sans-serif";

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
function named(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

class View {
  // `showSelection(view, item, step, where)` is called when the selection changes.
  constructor(chart, kinds, number, showSelection) {
    Object.assign(this, { chart, kinds, showSelection, chosen: -1, step: -1, also: -1, pinned: false, wanted: "", zoom: 1, withLines: false });
    this.boxes = [];
    chart.panels.forEach((panel, row) => panel.boxes.forEach(([item, first, end, offset, size]) =>
      this.boxes.push({ row, item, first, end, offset, size })));
    this.boxes.sort((a, b) => a.row - b.row || a.first - b.first || b.offset - a.offset);
    this.order = [...new Set(this.boxes.map(box => box.item))];
    this.of = new Map(this.order.map(item => [item, []]));
    this.boxes.forEach(box => this.of.get(box.item).push(box));
    this.index();
    this.widths = new Map();
    this.base = named(element("canvas"), { "aria-hidden": "true" });
    this.canvas = named(element("canvas", { tabIndex: 0, id: "chart-" + number }), {
      role: "application", "aria-roledescription": "memory chart", "aria-describedby": "keys",
      "aria-label": `${chart.title}: ${chart.steps.length} steps, ${chart.items.length} ${chart.what} in ${chart.panels.length} panels. The table below has the same data.`,
    });
    this.glass = element("div", { className: "glass" }, this.base, this.canvas);
    this.spacer = element("div");
    this.stage = element("div", { className: "stage" }, this.glass, this.spacer);
    this.canvas.addEventListener("mousemove", event => { if (!this.pinned) this.point(event); });
    this.canvas.addEventListener("mouseleave", () => { if (!this.pinned) this.choose(-1, -1); });
    this.canvas.addEventListener("click", event => { this.pinned = false; this.point(event); this.pinned = this.chosen >= 0; });
    this.canvas.addEventListener("keydown", event => this.key(event));
    this.canvas.addEventListener("blur", () => this.free());
    this.stage.addEventListener("scroll", () => this.draw());
  }
  // The boxes by panel and range of steps.
  index() {
    // The height of the longest rotated name.
    const g = document.createElement("canvas").getContext("2d");
    g.font = "11px " + FONT;
    const longest = this.chart.steps.reduce((most, step) => step.name.length > most.length ? step.name : most, "");
    this.names = 24 + Math.ceil(Math.min(NAMES, g.measureText(longest).width) * Math.SQRT1_2);
    this.stretch = Math.max(1, Math.ceil(this.chart.steps.length / BUCKETS));
    this.buckets = this.chart.panels.map(() => []);
    this.boxes.forEach(box => {
      const row = this.buckets[box.row];
      for (let at = Math.floor(box.first / this.stretch); at * this.stretch < box.end; at++) (row[at] ||= []).push(box);
    });
  }
  layout() {
    const room = Math.max(300, this.paper ? 1000 : this.stage.clientWidth);
    this.column = Math.max((room - LEFT - RIGHT) / Math.max(1, this.chart.steps.length) * (this.paper ? 1 : this.zoom), .5);
    this.width = Math.ceil(LEFT + RIGHT + this.column * this.chart.steps.length);
    this.seen = Math.min(this.width, room);
    this.from = this.paper ? 0 : Math.min(this.stage.scrollLeft, this.width - this.seen);
    this.tops = [];
    this.talls = [];
    let y = 8 + LANE * this.chart.lanes.length + (this.chart.marks.length || this.withLines ? 16 : 0) + 22;
    this.head = y - 22;
    for (const panel of this.chart.panels) {
      const tall = panel.rows ? Math.min(PANEL, ROW * panel.size) : PANEL;
      this.tops.push(y);
      this.talls.push(tall);
      y += tall + GAP;
    }
    this.bottom = y - GAP;
    this.height = this.bottom + this.names;
  }
  x(step) { return LEFT + this.column * step; }
  y(row, bytes) {
    const tall = this.talls[row];
    return this.tops[row] + tall - tall * Math.min(1, bytes / Math.max(1, this.top(this.chart.panels[row])));
  }
  // Bytes at the top of a panel.
  top(panel) { return Math.max(panel.size, panel.scale); }
  place(box) {
    const high = this.y(box.row, box.offset + box.size);
    return [this.x(box.first), high, this.column * (box.end - box.first), Math.max(1, this.y(box.row, box.offset) - high)];
  }
  // The visible steps, half-open.
  visible() {
    const count = this.chart.steps.length;
    return [Math.max(0, Math.floor((this.from - RIGHT) / this.column)), Math.min(count, Math.ceil((this.from + this.seen - LEFT) / this.column) + 1)];
  }
  ready(canvas) {
    const scale = this.paper ? 2 : window.devicePixelRatio || 1;
    const [wide, tall] = [Math.round(this.seen * scale), Math.round(this.height * scale)];
    if (canvas.width !== wide || canvas.height !== tall) {
      canvas.width = wide;
      canvas.height = tall;
      canvas.style.width = this.seen + "px";
      canvas.style.height = this.height + "px";
    }
    const g = canvas.getContext("2d");
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, this.seen, this.height);
    g.font = "11px " + FONT;
    return g;
  }
  draw() {
    this.layout();
    this.glass.style.cssText = `width:${this.seen}px;height:${this.height}px`;
    this.spacer.style.cssText = `width:${this.width}px;height:0`;
    const style = getComputedStyle(document.documentElement);
    this.inks = {};
    for (const name of ["ground", "ink", "soft", "line", "field", "held", "lane", "mark"]) this.inks[name] = style.getPropertyValue("--" + name).trim();
    const g = this.ready(this.base);
    g.save();
    g.beginPath();
    g.rect(LEFT - 1, 0, this.seen - LEFT + 1, this.bottom + 6);
    g.clip();
    g.translate(-this.from, 0);
    this.chart.panels.forEach((panel, row) => this.drawPanel(g, panel, row));
    this.drawBoxes(g);
    this.drawLanes(g);
    this.drawRules(g);
    g.restore();
    this.drawNames(g);
    this.chart.panels.forEach((panel, row) => this.drawAxis(g, panel, row));
    g.fillStyle = this.inks.soft;
    g.textAlign = "right";
    this.chart.lanes.forEach((lane, row) => g.fillText(lane.name, LEFT - 8, 8 + LANE * row + 13));
    g.textAlign = "left";
    this.drawGlass();
  }
  drawPanel(g, panel, row) {
    const { inks } = this, y = this.tops[row], tall = this.talls[row], [first, end] = this.visible();
    g.fillStyle = inks.field;
    const full = this.y(row, panel.size);
    g.fillRect(LEFT, full, this.column * this.chart.steps.length, y + tall - full);
    g.fillStyle = inks.held;
    // Consecutive passes with the same bound memory are one rectangle.
    for (let step = first; step < end;) {
      let next = step + 1;
      while (next < end && panel.reserved[next] === panel.reserved[step]) next++;
      const bytes = panel.reserved[step];
      if (bytes > 0) g.fillRect(this.x(step), this.y(row, bytes), this.column * (next - step), y + tall - this.y(row, bytes));
      step = next;
    }
    g.strokeStyle = inks.line;
    g.strokeRect(LEFT + .5, full + .5, this.column * this.chart.steps.length - 1, y + tall - full - 1);
  }
  drawBoxes(g) {
    const [first, end] = this.visible(), drawn = [], thin = [];
    for (const box of this.boxes) {
      if (box.end <= first || box.first >= end) continue;
      const item = this.chart.items[box.item], kind = this.kinds[item.kind];
      const [x, y, width, height] = this.place(box);
      g.globalAlpha = this.matches(item) ? 1 : .14;
      g.fillStyle = kind.fill;
      g.fillRect(x, y, width, height);
      g.strokeStyle = item.changed ? this.inks.mark : kind.edge;
      g.lineWidth = item.changed ? 2 : Math.min(1, width / 4, height / 4);
      g.strokeRect(x + .5, y + .5, Math.max(0, width - 1), Math.max(0, height - 1));
      if (height >= 12 && width >= 24) {
        // Names start at the left edge of the visible part.
        const left = Math.max(x, this.from + LEFT);
        g.fillStyle = "#1c1c20";
        g.fillText(this.cut(g, item.name, x + width - left - 8), left + 4, y + height / 2 + 4);
      } else if (height < 12) thin.push([drawn.length, box]);
      drawn.push([x, y, width, height]);
    }
    g.globalAlpha = 1;
    g.lineWidth = 1;
    const names = [];
    this.chart.panels.forEach((panel, row) => panel.rules.forEach(([bytes, name]) => {
      const y = Math.round(this.y(row, bytes)) - .5, right = this.from + this.seen - RIGHT - 4;
      g.strokeStyle = this.inks.ink;
      g.setLineDash([2, 3]);
      g.beginPath(); g.moveTo(LEFT, y); g.lineTo(this.x(this.chart.steps.length), y); g.stroke();
      g.setLineDash([]);
      g.textAlign = "right";
      g.strokeStyle = this.inks.ground;
      g.lineWidth = 3;
      const base = y - this.tops[row] < 14 ? y + 12 : y - 4;
      g.strokeText(name, right, base);
      g.fillStyle = this.inks.ink;
      g.fillText(name, right, base);
      g.textAlign = "left";
      g.lineWidth = 1;
      const wide = this.wide(g, name);
      names.push([right - wide, base - 10, wide, 11]);
    }));
    if (drawn.length <= NAMED) this.drawThinNames(g, thin, drawn, names);
  }
  // The names of boxes too thin to hold them: above or below, where nothing else is drawn.
  drawThinNames(g, thin, drawn, names) {
    g.fillStyle = this.inks.ink;
    for (const [number, box] of thin) {
      const [x, y, width, height] = drawn[number], { name } = this.chart.items[box.item];
      const left = Math.max(x, this.from + LEFT), top = this.tops[box.row], bottom = top + this.talls[box.row];
      const text = this.cut(g, name, this.from + this.seen - RIGHT - left), wide = Math.min(this.wide(g, name), this.from + this.seen - left);
      const meets = high => ([ox, oy, owide, otall], index) => index !== number && ox < left + wide && left < ox + owide && oy < high + 11 && high < oy + otall;
      const free = [y - 12, y + height + 1].find(high =>
        high >= top && high + 11 <= bottom && !drawn.some(meets(high)) && !names.some((one, index) => meets(high)(one, -1 - index)));
      if (free === undefined || !text || x + width < left) continue;
      g.fillText(text, left + 1, free + 10);
      names.push([left, free, wide, 11]);
    }
  }
  // The width of a name, measured once.
  wide(g, name) {
    let width = this.widths.get(name);
    if (width === undefined) this.widths.set(name, width = g.measureText(name).width);
    return width;
  }
  // A name cut to the available width.
  cut(g, name, room) {
    const width = this.wide(g, name);
    if (width <= room) return name;
    const fits = Math.floor(name.length * room / width) - 1;
    if (fits < 2) return "";
    // Of a path the last part, and more if it fits.
    const last = name.slice(name.lastIndexOf("/") + 1);
    return last !== name && last.length <= fits ? "…" + name.slice(-fits) : last.slice(0, fits) + "…";
  }
  drawLanes(g) {
    const [first, end] = this.visible();
    this.chart.lanes.forEach((lane, row) => lane.spans.forEach(([from, to, name]) => {
      if (to <= first || from >= end) return;
      const x = this.x(from), width = this.column * (to - from), y = 8 + LANE * row;
      g.fillStyle = this.inks.lane;
      g.beginPath();
      g.roundRect(x + 1, y, Math.max(.5, width - 2), LANE - 3, 3);
      g.fill();
      const left = Math.max(x, this.from + LEFT), room = x + width - left - 8;
      // `12` may fit where `batch 12` does not.
      const short = this.cut(g, name, room), last = name.split(" ").pop();
      g.fillStyle = this.inks.ink;
      g.fillText(short.length < 5 && short !== name ? (this.cut(g, last, room) === last ? last : "") : short, left + 5, y + 12);
    }));
  }
  drawRules(g) {
    const [first, end] = this.visible();
    const line = (x, dash, ink, from = this.head) => {
      g.strokeStyle = ink;
      g.setLineDash(dash);
      g.beginPath(); g.moveTo(Math.round(x) + .5, from); g.lineTo(Math.round(x) + .5, this.bottom + 4); g.stroke();
      g.setLineDash([]);
    };
    // Too many lines would hide the chart; the lanes show the same.
    const ruled = this.chart.lanes.filter((lane, index) => lane.ruled && (index === 0 || this.width / lane.spans.length > 40));
    [...ruled].reverse().forEach(lane => lane.spans.forEach(([from]) => {
      if (from > 0 && from >= first && from < end) line(this.x(from), [5, 3], lane === this.chart.lanes[0] ? this.inks.mark : this.inks.soft);
    }));
    this.chart.marks.forEach(([step, why]) => {
      line(this.x(step + .5), [], this.inks.mark, this.head + 4);
      g.fillStyle = this.inks.mark;
      g.textAlign = "center";
      g.fillText(why, Math.min(Math.max(this.x(step + .5), this.from + LEFT + 30), this.from + this.seen - 40), this.head);
      g.textAlign = "left";
    });
    if (!this.withLines) return;
    g.fillStyle = this.inks.mark;
    g.textAlign = "center";
    for (let step = first; step < end; step++) {
      const count = this.chart.steps[step].lines.length;
      if (!count) continue;
      if (this.column >= 16) g.fillText("▾" + count, this.x(step + .5), this.head);
      else g.fillRect(this.x(step), this.head - Math.min(12, count), Math.max(1, this.column - 1), Math.min(12, count));
    }
    g.textAlign = "left";
  }
  drawNames(g) {
    // Rotated by 45 degrees, lines of text need this distance.
    const every = Math.max(1, Math.ceil(17 / this.column)), [first, end] = this.visible();
    g.fillStyle = this.inks.soft;
    for (let step = Math.ceil(first / every) * every; step < end; step += every) {
      const x = this.x(step + .5) - this.from, { name } = this.chart.steps[step];
      if (x < LEFT - 1 || x > this.seen) continue;
      g.save();
      g.translate(x + 4, this.bottom + 12);
      g.rotate(-Math.PI / 4);
      g.textAlign = "right";
      // A name that would start left of the chart is cut at its end.
      g.fillText(this.cut(g, name, Math.min(NAMES, x * Math.SQRT2 - 4)), 0, 0);
      g.restore();
    }
  }
  drawAxis(g, panel, row) {
    g.fillStyle = this.inks.ink;
    g.font = "bold 12px " + FONT;
    const title = panel.rows ? panel.name : `${panel.name}, ${amount(panel.size)}`;
    // Lines stop at the name.
    g.strokeStyle = this.inks.ground;
    g.lineWidth = 5;
    g.strokeText(title, LEFT, this.tops[row] - 7);
    g.lineWidth = 1;
    g.fillText(title, LEFT, this.tops[row] - 7);
    g.font = "11px " + FONT;
    if (panel.rows) return;
    g.textAlign = "right";
    g.fillStyle = this.inks.soft;
    const top = this.top(panel);
    for (let quarter = 0; quarter <= 4; quarter++)
      g.fillText(amount(Math.round(top * quarter / 4)), LEFT - 8, this.y(row, top * quarter / 4) + 4);
    g.textAlign = "left";
  }
  // The selection, here or by name in another chart; and the boxes that share its bytes.
  drawGlass() {
    const g = this.ready(this.canvas), item = this.chosen >= 0 ? this.chosen : this.also;
    g.save();
    g.beginPath();
    g.rect(LEFT - 1, 0, this.seen - LEFT + 1, this.bottom + 6);
    g.clip();
    g.translate(-this.from, 0);
    if (this.step >= 0) {
      g.fillStyle = this.inks.ink;
      g.globalAlpha = .1;
      g.fillRect(this.x(this.step), 8, Math.max(1, this.column), this.bottom - 8);
      g.globalAlpha = 1;
    }
    const mine = this.of.get(item) || [];
    if (mine.length) {
      g.strokeStyle = this.inks.ink;
      g.setLineDash([4, 3]);
      g.lineWidth = 2;
      for (const box of this.sharers(item)) this.outline(g, box);
      g.setLineDash([]);
      g.lineWidth = 3;
      for (const box of mine) this.outline(g, box);
    }
    g.restore();
  }
  outline(g, box) {
    const [x, y, width, height] = this.place(box);
    g.strokeRect(x + 1, y + 1, Math.max(1, width - 2), Math.max(1, height - 2));
  }
  sharers(item) {
    const mine = this.of.get(item) || [];
    return this.boxes.filter(box => box.item !== item && !this.chart.panels[box.row].rows && mine.some(one =>
      one.row === box.row && one.offset < box.offset + box.size && box.offset < one.offset + one.size));
  }
  matches(item) { return !this.wanted || item.name.toLowerCase().includes(this.wanted); }
  filter(wanted) {
    this.wanted = wanted;
    this.draw();
  }
  point(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const inside = event.clientX - bounds.left, x = inside + this.from, y = event.clientY - bounds.top;
    let step = inside < LEFT ? -1 : Math.floor((x - LEFT) / this.column), found = -1;
    if (step >= this.chart.steps.length) step = -1;
    const row = this.tops.findIndex((top, row) => y >= top && y < top + this.talls[row]);
    if (step >= 0 && row >= 0)
      for (const box of this.buckets[row][Math.floor(step / this.stretch)] || []) {
        const [left, high, width, height] = this.place(box);
        if (x >= left && x < left + width && y >= high && y < high + height) found = box.item;
      }
    this.choose(found, found < 0 ? step : -1, { left: event.clientX, bottom: event.clientY });
  }
  key(event) {
    const now = this.order.indexOf(this.chosen), last = this.order.length - 1;
    const to = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0, End: last }[event.key];
    if (to !== undefined && last >= 0) {
      this.walk(this.order[to > last ? 0 : to < 0 ? last : to]);
      event.preventDefault();
    } else if (event.key === "Enter" && this.chosen >= 0) {
      this.showSelection(this, this.chosen, -1, null);
    } else if (event.key === "Escape") this.free();
  }
  // Selects an item and scrolls to it.
  walk(item) {
    const box = (this.of.get(item) || [])[0];
    if (!box) return false;
    const left = this.x(box.first);
    if (left < this.from + LEFT || left > this.from + this.seen - 60) {
      this.stage.scrollLeft = left - LEFT - 40;
      this.draw();
    }
    const [x, y, , height] = this.place(box), bounds = this.canvas.getBoundingClientRect();
    this.pinned = true;
    this.choose(item, -1, { left: bounds.left + x - this.from, bottom: bounds.top + y + height });
    return true;
  }
  free() {
    this.pinned = false;
    this.choose(-1, -1);
  }
  choose(item, step, where) {
    const same = item === this.chosen && step === this.step;
    this.chosen = item;
    this.step = step;
    if (!same) this.drawGlass();
    this.showSelection(this, item, step, where, same);
  }
  choosesAlso(item) {
    if (item === this.also) return;
    this.also = item;
    this.drawGlass();
  }
}
