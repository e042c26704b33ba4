// What scripts of pages use beside the page's own names.
window.middle = name => {
  const view = views[0], item = view.chart.items.findIndex(item => item.name === name);
  view.canvas.scrollIntoView({ block: 'center' });
  const [x, y, width, height] = view.place(view.of.get(item)[0]), bounds = view.canvas.getBoundingClientRect();
  return [bounds.left + x - view.from + width / 2, bounds.top + y + height / 2];
};
window.told = () => tip.hidden ? '' : tip.querySelector('b').textContent;
window.all = selector => [...document.querySelectorAll(selector)];
window.texts = selector => all(selector).map(node => node.textContent);
