// The report about a captured frame: verdict, two bars, changes, and what is left.
// Names between backticks as code.
function rich(text) {
  return text.split("`").map((part, index) => index % 2 ? element("code", { textContent: part }) : part);
}
function listOf(items) {
  return element("ul", {}, ...items.map(item => element("li", {}, ...rich(item))));
}
// One sentence, and bars on one scale.
function makeVerdict({ sentence, measure, longest, bars }) {
  const verdict = element("div", { className: "result" });
  if (sentence) verdict.append(element("p", { className: "verdict" }, ...rich(sentence)));
  if (!bars.length) return verdict;
  const drawn = element("div", { className: "bars" });
  for (const { name, value, text, result } of bars) {
    const fill = element("i", { className: result ? "result" : "" });
    fill.style.width = 100 * value / Math.max(1, longest) + "%";
    drawn.append(element("span", { textContent: name }), element("div", {}, fill), element("b", { textContent: text }));
  }
  const words = bars.map(({ name, text }) => `${name} ${text}`).join(", ");
  verdict.append(named(drawn, { role: "img", "aria-label": `${measure}: ${words}.` }));
  return verdict;
}
function verdictOf(report) {
  const bars = [["now", report.now_bytes, false], ["proposed", report.proposed_bytes, true]]
    .map(([name, value, result]) => ({ name, value, text: amount(value), result }));
  return { sentence: report.verdict, measure: "Memory traffic per frame", longest: report.now_bytes, bars };
}
function makeChange(change) {
  const saves = change.saves_bytes ? `${amount(change.saves_bytes)} per frame` : `${amount(change.frees_bytes)} of memory`;
  const facts = element("dl");
  for (const [name, value] of [["helps", change.helps], ["in Vulkan", change.how], ["cost", change.cost]])
    if (value) facts.append(element("dt", { textContent: name }), element("dd", {}, ...rich(value)));
  const item = element("li", {}, element("h4", {}, ...rich(change.title)), element("strong", { textContent: saves }), facts);
  if (change.details.length)
    item.append(element("details", { open: change.details.length <= 2 }, element("summary", { textContent: change.details.length === 1 ? "The resource" : "The resources" }), listOf(change.details)));
  return item;
}
function makeReport(report) {
  const section = element("div", { className: "report" });
  const verdict = makeVerdict(verdictOf(report));
  if (report.notice) verdict.querySelector(".verdict").after(element("p", { className: "notice" }, ...rich(report.notice)));
  section.append(verdict);
  const first = element("div", {}, element("h3", { textContent: "Proposed changes" }));
  first.append(report.changes.length ? element("ol", { className: "changes" }, ...report.changes.map(makeChange)) : element("p", { textContent: "None." }));
  const second = element("div", {}, element("h3", { textContent: "Changes to usages, formats and extents" }));
  const { changes, saves_bytes, none } = report.description_changes;
  second.append(...changes.length
    ? [element("p", { textContent: `Together ${amount(saves_bytes)} more per frame; check the image quality.` }), listOf(changes)]
    : [element("p", { textContent: none[0].toUpperCase() + none.slice(1) + "." })]);
  second.append(element("h3", { textContent: "Upper bound on the traffic that asynchronous compute could hide" }), element("p", { textContent: report.async_compute }));
  section.append(element("div", { className: "columns" }, first, second));
  const stays = element("div", {}, element("h3", { textContent: "Traffic that stays in memory" }));
  const reasons = element("ul", { className: "stays" });
  for (const one of report.stays)
    reasons.append(element("li", {}, element("b", { textContent: amount(one.bytes) }), " " + one.why, listOf(one.resources)));
  stays.append(reasons);
  const capture = element("div", {}, element("h3", { textContent: "The capture" }));
  const facts = element("dl", { className: "capture" });
  for (const [name, value] of report.facts) facts.append(element("dt", { textContent: name }), element("dd", { textContent: value }));
  capture.append(facts, listOf(report.limits));
  section.append(element("div", { className: "columns" }, stays, capture));
  return section;
}
