// The page around the charts: facts, legends, tables, curves, search, and the tooltip of the selection.
const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
const search = document.getElementById("search");
const views = [];

function showTip(title, facts, where) {
  tip.hidden = !title;
  if (!title) return;
  const list = element("dl");
  for (const [name, value] of facts)
    list.append(element("dt", { textContent: name }), element("dd", {}, ...rich(value)));
  tip.replaceChildren(element("b", { textContent: title }), list);
  moveTip(where);
}
function moveTip(where) {
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = Math.max(8, Math.min(where.left + 14, innerWidth - width - 8)) + "px";
  tip.style.top = (where.bottom + 14 + height < innerHeight ? where.bottom + 14 : Math.max(8, where.bottom - height - 20)) + "px";
}

// A name that may be broken after a slash or an underscore.
function breakable(name) {
  return String(name).split(/(?<=[/_])/).flatMap((part, index) => index ? [element("wbr"), part] : [part]);
}
// Rows of cells, each a word or [number, text]; headings sort. Returns the element and its rows in the order of `rows`.
function makeTable(columns, rows, label) {
  const isNumber = columns.map((_, column) => rows.some(row => Array.isArray(row[column])));
  const made = rows.map(row => element("tr", {}, ...row.map((cell, column) => {
    const text = Array.isArray(cell) ? cell[1] : cell;
    return column === 0 ? named(element("th", {}, ...breakable(text)), { scope: "row" }) : element("td", { className: isNumber[column] ? "number" : "" }, ...rich(text));
  })));
  const body = element("tbody", {}, ...made);
  const heads = columns.map((name, column) => {
    const button = element("button", { type: "button", textContent: name, title: "Sort by " + name });
    const head = named(element("th", { className: isNumber[column] && column ? "number" : "" }, button), { scope: "col" });
    button.addEventListener("click", () => {
      // Numbers descend first, words ascend.
      const down = head.ariaSort ? head.ariaSort === "ascending" : isNumber[column];
      const key = index => Array.isArray(rows[index][column]) ? rows[index][column][0] : isNumber[column] ? -1 : rows[index][column];
      const order = rows.map((_, index) => index).sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (down ? -1 : 1) || a - b);
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.ariaSort = down ? "descending" : "ascending";
      body.append(...order.map(index => made[index]));
    });
    return head;
  });
  const table = named(element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body), { "aria-label": label });
  return { made, frame: named(element("div", { className: "wide", tabIndex: 0 }, table), { role: "group", "aria-label": label }) };
}
// A section whose content is made when it is opened.
function folded(title, open, make) {
  const details = element("details", {}, element("summary", { textContent: title }));
  let made = false;
  const fill = () => { if (!made && details.open) { made = true; details.append(make()); } };
  details.addEventListener("toggle", fill);
  details.open = open;
  fill();
  return Object.assign(details, { unfold() { details.open = true; fill(); } });
}

// The colors of a kind in the chart: a square in tile memory, a disc elsewhere.
function makeMark(kind) {
  const mark = named(element("i", { className: kind.name === "tile memory" ? "mark" : "mark disc" }), { "aria-hidden": "true" });
  Object.assign(mark.style, { background: kind.fill, borderColor: kind.edge });
  return mark;
}
function makeLegend(view) {
  const legend = element("div", { className: "legend" }), { chart } = view;
  const entry = (style, text, rule) => {
    const swatch = element("i", { className: rule ? "rule" : "" });
    Object.assign(swatch.style, style);
    legend.append(element("span", {}, swatch, text));
  };
  data.kinds.forEach((kind, index) => {
    if (view.boxes.some(box => chart.items[box.item].kind === index)) legend.append(element("span", {}, makeMark(kind), kind.name));
  });
  if (chart.panels.some(panel => panel.reserved.some(bytes => bytes > 0))) entry({ background: "var(--held)", borderColor: "var(--line)" }, "bound tile memory");
  chart.lanes.filter(lane => lane.ruled).forEach((lane, index) => lane.spans.length > 1 && entry({ borderColor: index ? "var(--soft)" : "var(--mark)" }, `start of ${lane.name === "commands" ? "command buffer" : lane.name}`, true));
  if (chart.items.some(item => item.changed)) entry({ background: "none", borderColor: "var(--mark)" }, "placed differently in the other plan");
  return legend;
}

function makeItems(view) {
  const { chart } = view;
  const columns = ["lifetime", "reason", "savings", "storage", "shares memory with", "advice"]
    .filter(name => chart.items.some(item => item.facts.some(fact => fact[0] === name)));
  const value = (item, name) => item.facts.filter(fact => fact[0] === name).map(fact => fact[1]).join("; ");
  const rows = chart.items.map(item => [item.name, data.kinds[item.kind].name, [item.size, amount(item.size)], ...columns.map(name => value(item, name))]);
  const title = `${chart.items.length} ${chart.items.length === 1 ? chart.what.slice(0, -1) : chart.what} as a table`;
  return folded(title, chart.items.length <= 40, () => {
    const { made, frame } = makeTable(["name", "placement", "size", ...columns], rows, title);
    frame.removeAttribute("tabindex");
    view.rows = made;
    made.forEach((row, index) => {
      row.className = "item" + (chart.items[index].changed ? " changed" : "");
      row.firstChild.prepend(makeMark(data.kinds[chart.items[index].kind]));
      // One tab stop for all rows; arrow keys move between them.
      row.tabIndex = index ? -1 : 0;
      const choose = () => {
        const { left, bottom } = row.getBoundingClientRect();
        view.pinned = true;
        view.choose(index, -1, { left: left + 60, bottom });
      };
      row.addEventListener("click", choose);
      row.addEventListener("keydown", event => {
        const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
        let to = step && row[step];
        while (to && to.hidden) to = to[step];
        if (to) { row.tabIndex = -1; to.tabIndex = 0; to.focus(); event.preventDefault(); }
        else if (event.key === "Enter" || event.key === " ") { choose(); event.preventDefault(); }
        else if (event.key === "Escape") view.free();
      });
    });
    showRows(view);
    return frame;
  });
}
function showRows(view) {
  (view.rows || []).forEach((row, index) => { row.hidden = !view.matches(view.chart.items[index]); });
}

// The details of each step that match the search.
function showLines(view, show) {
  view.lines.replaceChildren();
  view.withLines = show;
  view.draw();
  if (!show) return;
  const [title, columns] = view.chart.lines, { wanted } = view;
  const rows = view.chart.steps.flatMap(step => step.lines.map(line => [step.name, ...line]))
    .filter(row => !wanted || row.some(cell => cell.toLowerCase().includes(wanted)));
  view.lines.append(element("h3", { textContent: `${title || "Details"}: ${rows.length}` }), makeTable(["step", ...columns], rows, title).frame);
}

function makeCurve(curve) {
  const figure = element("figure", { className: curve.wide ? "across" : "" }), count = curve.at.length;
  // Drawn by the command that wrote this page, names escaped.
  figure.innerHTML = curve.svg;
  const svg = figure.firstElementChild, { left, right, top, bottom } = svg.dataset;
  const shown = value => curve.share ? `${(value / 10).toFixed(1)} %` : amount(value);
  const range = ({ name, values }) => `${name ? name + ": " : ""}${shown(Math.min(...values))} to ${shown(Math.max(...values))}`;
  named(svg, { tabindex: 0, role: "img", "aria-label": `${curve.title}. ${curve.series.filter(series => series.values.length).map(range).join("; ")}. Arrow keys read the values.` });
  const cross = named(document.createElementNS("http://www.w3.org/2000/svg", "line"), { y1: top, y2: bottom, stroke: "var(--ink)", "stroke-width": 1, visibility: "hidden" });
  svg.append(cross);
  let now = -1;
  const show = (index, where) => {
    now = index;
    cross.setAttribute("visibility", index < 0 ? "hidden" : "visible");
    if (index < 0) return showTip("");
    const x = Number(left) + (right - left) * (index + .5) / count;
    cross.setAttribute("x1", x);
    cross.setAttribute("x2", x);
    const bounds = svg.getBoundingClientRect();
    const rows = curve.series.map(({ name, values }) => [name || curve.across, shown(values[index])]);
    showTip(curve.at[index], rows, where || { left: bounds.left + x / svg.viewBox.baseVal.width * bounds.width, bottom: bounds.top + bounds.height / 2 });
  };
  svg.addEventListener("mousemove", event => {
    const bounds = svg.getBoundingClientRect(), x = (event.clientX - bounds.left) / bounds.width * svg.viewBox.baseVal.width;
    const index = Math.floor((x - left) / (right - left) * count);
    show(index >= 0 && index < count ? index : -1, { left: event.clientX, bottom: event.clientY });
  });
  svg.addEventListener("mouseleave", () => show(-1));
  svg.addEventListener("blur", () => show(-1));
  svg.addEventListener("keydown", event => {
    const stride = event.shiftKey ? Math.max(1, Math.round(count / 20)) : 1;
    const to = { ArrowRight: now + stride, ArrowLeft: now < 0 ? count - 1 : now - stride, Home: 0, End: count - 1 }[event.key];
    if (to !== undefined && count) { show(Math.max(0, Math.min(count - 1, to))); event.preventDefault(); }
    if (event.key === "Escape") show(-1);
  });
  figure.append(folded("Values as a table", false, () => {
    // At most a thousand rows: the largest of several positions.
    const stride = Math.ceil(count / 1000), rows = [];
    for (let first = 0; first < count; first += stride) {
      const last = Math.min(count, first + stride) - 1;
      rows.push([[first, first === last ? curve.at[first] : `${curve.at[first]} … ${curve.at[last]}`], ...curve.series.map(({ values }) => {
        const most = Math.max(...values.slice(first, last + 1));
        return [most, shown(most)];
      })]);
    }
    return makeTable([curve.across, ...curve.series.map(({ name }) => name || curve.title)], rows, curve.title).frame;
  }));
  return figure;
}

function makeSection(chart, number) {
  const facts = element("dl", { className: "facts" });
  for (const [name, value] of chart.facts)
    facts.append(element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value })));
  const section = named(element("section"), { "aria-label": chart.title });
  if (data.charts.length > 1 && !(chart.report && number === 0)) section.append(element("h2", { textContent: chart.title }));
  const body = element("div", { className: "body" });
  if (chart.report) section.append(makeReport(chart.report), body);
  else section.append(makeVerdict(chart.verdict), facts, body);
  if (chart.arrangement) {
    const { sentence, svg, label } = chart.arrangement, figure = element("figure", { className: "across" });
    body.append(element("h3", { textContent: "Arrangement" }), sentence ? element("p", { textContent: sentence }) : figure);
    if (!sentence) {
      figure.innerHTML = svg;
      named(figure.firstElementChild, { role: "img", "aria-label": label });
    }
  }
  if (chart.panels.length) {
    const view = new View(chart, data.kinds, number, showSelection);
    view.lines = element("div");
    view.details = makeItems(view);
    body.append(view.stage, makeLegend(view), view.lines, view.details);
    views.push(view);
  }
  if (chart.curves.length) body.append(element("div", { className: "curves" }, ...chart.curves.map(makeCurve)));
  for (const table of chart.tables) body.append(showTable(table));
  if (chart.notes.length)
    body.append(element("ul", { className: "notes" }, ...chart.notes.map(note => element("li", {}, ...rich(note)))));
  return section;
}
function showTable(table) {
  return folded(table.title, table.rows.length <= 60, () => {
    const { made, frame } = makeTable(table.columns, table.rows, table.title);
    if (table.chosen !== null) {
      const [row, mark] = table.chosen;
      made[row].className = "best";
      made[row].firstChild.dataset.mark = mark;
    }
    return frame;
  });
}

// The selection of a view changed; without a position, go to its row in the table.
function showSelection(view, item, step, where, same) {
  if (where === null) {
    view.details.unfold();
    const row = view.rows[item];
    row.hidden = false;
    row.scrollIntoView({ block: "center" });
    row.focus();
    return;
  }
  if (same && where && !tip.hidden) return moveTip(where);
  if (!same) {
    (view.rows || []).forEach((row, index) => row.classList.toggle("chosen", index === item));
    const name = item >= 0 ? view.chart.items[item].name : null;
    for (const other of views)
      if (other !== view) other.choosesAlso(name === null ? -1 : other.chart.items.findIndex(item => item.name === name));
  }
  if (item >= 0) {
    const { name, size, facts } = view.chart.items[item];
    showTip(size ? `${name}, ${amount(size)}` : name, facts, where);
  } else if (step >= 0) {
    const { name, facts } = view.chart.steps[step];
    showTip(name, facts, where);
  } else showTip("");
}

const drawAll = () => views.forEach(view => view.draw());
function filterAll() {
  const wanted = search.value.trim().toLowerCase();
  views.forEach(view => {
    view.filter(wanted);
    showRows(view);
    if (view.withLines) showLines(view, true);
  });
  const items = views.flatMap(view => view.chart.items), found = views.flatMap(view => view.chart.items.filter(item => view.matches(item))).length;
  document.getElementById("found").textContent = wanted ? `${found} of ${items.length}` : "";
}
// Print in light colors, as wide as the sheet.
function paper(on) {
  views.forEach(view => { view.paper = on; });
  drawAll();
}

const main = document.getElementById("charts");
// Reports about captured frames are as wide as the page, each above its charts.
let side = null;
data.charts.forEach((chart, number) => {
  if (chart.report) side = null;
  side ||= main.appendChild(element("div", { className: data.charts.length > 1 && !chart.report ? "side" : "" }));
  side.append(makeSection(chart, number));
  if (chart.report) side = null;
});
if (data.differences) {
  const tables = data.differences.filter(table => table.rows.length);
  const section = named(element("section", { id: "differences" }, element("h2", { textContent: "Differences of the second plan" })), { "aria-label": "Differences" });
  section.append(...(tables.length ? tables.map(showTable) : [element("p", { textContent: "The plans are equal: same placements, bindings and totals." })]));
  main.append(section);
  const counts = tables.map(table => `${table.title} (${table.rows.length})`).join(", ");
  main.prepend(element("p", { className: "hint" }, element("a", { href: "#differences", textContent: tables.length ? `Differences: ${counts}` : "No differences" })));
}
const lines = document.getElementById("lines");
const kinds = new Set(views.filter(view => view.chart.steps.some(step => step.lines.length)).map(view => view.chart.lines[0].toLowerCase()));
document.getElementById("lines-name").textContent = [...kinds].join(", ");
lines.parentElement.hidden = !kinds.size;
document.querySelectorAll(".drawn").forEach(tool => { tool.hidden ||= !views.length; });
search.parentElement.hidden = !views.length;
search.addEventListener("input", filterAll);
search.addEventListener("keydown", event => {
  if (event.key === "Escape") { search.value = ""; filterAll(); views.forEach(view => view.free()); }
  if (event.key === "Enter")
    views.some(view => view.walk(view.order.find(item => search.value.trim() && view.matches(view.chart.items[item]))));
});
lines.addEventListener("change", () => views.forEach(view => showLines(view, lines.checked)));
const zoom = document.getElementById("zoom");
zoom.addEventListener("input", () => views.forEach(view => { view.zoom = Number(zoom.value); view.draw(); }));
addEventListener("resize", drawAll);
addEventListener("keydown", event => { if (event.key === "Escape") views.forEach(view => view.free()); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
matchMedia("print").addEventListener("change", event => paper(event.matches));
addEventListener("beforeprint", () => paper(true));
addEventListener("afterprint", () => paper(false));
drawAll();
