// What a drawing's ground is, how many texts it has, and those whose contrast is below 4.5.
const parts = color => color.match(/\d+/g).map(Number),
light = color => parts(color).reduce((sum, value, channel) => { const part = value / 255;
  return sum + [.2126, .7152, .0722][channel] * (part <= .03928 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4); }, 0),
contrast = (one, other) => (Math.max(light(one), light(other)) + .05) / (Math.min(light(one), light(other)) + .05),
fill = element => getComputedStyle(element).fill, boxes = [...document.querySelectorAll('rect')].filter(box => !box.closest('g'));
const under = text => { const at = text.getBBox(), x = at.x + at.width / 2, y = at.y + at.height / 2;
  return fill(boxes.filter(box => { const area = box.getBBox(); return !text.closest('g') && x >= area.x && x <= area.x + area.width
  && y >= area.y && y <= area.y + area.height; }).pop() ?? boxes[0]); };
return { ground: fill(boxes[0]), texts: document.querySelectorAll('text').length, faint: [...document.querySelectorAll('text')]
  .filter(text => !text.hasAttribute('transform') && contrast(fill(text), under(text)) < 4.5)
  .map(text => [text.textContent, fill(text), under(text)]) };
