"use strict";
// Draws a memory plan: x is the step, y the offset in a pool, a rectangle a buffer.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const steps = Math.max(1, data.live_bytes.length, ...data.steps.map(step => step.index + 1));
const stepOf = new Map(data.steps.map(step => [step.index, step]));
const placed = data.values.filter(value => value.pool !== "input" && value.pool !== "output");
const remarksOf = new Map();
for (const [name, text] of data.remarks) {
  if (!remarksOf.has(name)) remarksOf.set(name, []);
  remarksOf.get(name).push(text);
}

// One rectangle for all values that share bytes: the root's place, from the first to the last of them.
const buffers = new Map();
for (const value of placed) {
  const key = value.pool + " " + value.root;
  const known = buffers.get(key);
  if (!known) {
    buffers.set(key, { ...value, values: [value] });
    continue;
  }
  known.values.push(value);
  known.first = Math.min(known.first, value.first);
  known.last = Math.max(known.last, value.last);
  if (value.name === value.root || value.size_bytes > known.size_bytes) {
    known.offset = Math.min(known.offset, value.offset);
    known.size_bytes = Math.max(known.size_bytes, value.size_bytes);
  }
}
for (const buffer of buffers.values()) {
  const root = buffer.values.find(value => value.name === value.root);
  if (root) Object.assign(buffer, { name: root.name, type: root.type, kind: root.kind });
}
const all = [...buffers.values()].filter(buffer => buffer.size_bytes > 0);
const overlapping = new Set(data.overlaps.flatMap(pair => [pair.input, pair.output]));
const overlapOf = name => data.overlaps.filter(pair => pair.input === name || pair.output === name);

let pool = data.pools[0].name, shown = [], byStep = [], selected = null, hovered = null;
let view = { x0: 0, x1: steps, y0: 0, y1: 1 };
const poolNamed = name => data.pools.find(known => known.name === name);

function bytes(number) {
  if (number < 1e4) return number + " bytes";
  const [unit, scale] = number < 1e6 ? ["kB", 1e3] : number < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return (number / scale).toFixed(2) + " " + unit + " (" + number + " bytes)";
}
const color = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
function kind(buffer) {
  if (buffer.pool === "state") return "state";
  if (buffer.values.some(value => overlapping.has(value.name))) return "over";
  return buffer.kind === "scratch" ? "scratch" : "result";
}

function choosePool(name) {
  pool = name;
  shown = all.filter(buffer => buffer.pool === name).sort((a, b) => a.first - b.first || a.offset - b.offset);
  byStep = Array.from({ length: steps }, () => []);
  for (const buffer of shown) for (let at = buffer.first; at <= Math.min(buffer.last, steps - 1); at++) byStep[at].push(buffer);
  view = { x0: 0, x1: steps, y0: 0, y1: Math.max(1, poolNamed(name).size_bytes) };
  for (const button of $("pools").children) button.setAttribute("aria-pressed", button.textContent === name);
  drawAll();
}

function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  canvas.width = Math.max(1, box.width * ratio);
  canvas.height = Math.max(1, box.height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  return [context, box.width, box.height];
}

const mapCanvas = $("map").firstElementChild, curveCanvas = $("curve").firstElementChild;
const place = (buffer, width, height) => {
  const sx = width / (view.x1 - view.x0), sy = height / (view.y1 - view.y0);
  const x = (buffer.first - view.x0) * sx, w = (buffer.last - buffer.first + 1) * sx;
  const h = buffer.size_bytes * sy, y = height - (buffer.offset - view.y0) * sy - h;
  return [x, y, w, h];
};

function drawMap() {
  const [context, width, height] = prepare(mapCanvas);
  context.fillStyle = color("free");
  const all = place({ first: 0, last: steps - 1, offset: 0, size_bytes: poolNamed(pool).size_bytes }, width, height);
  context.fillRect(...all);
  const colors = Object.fromEntries(["result", "scratch", "state", "over"].map(name => [name, color(name)]));
  const edge = color("back"), text = color("text");
  context.font = "11px system-ui, sans-serif";
  for (const buffer of shown) {
    const [x, y, w, h] = place(buffer, width, height);
    if (x > width || x + w < 0 || y > height || y + h < 0) continue;
    context.fillStyle = colors[kind(buffer)];
    context.fillRect(x, y, Math.max(w, 0.6), Math.max(h, 0.6));
    if (w > 3 && h > 3) {
      context.strokeStyle = edge;
      context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    }
    if (w > 40 && h > 13) {
      context.save();
      context.beginPath();
      context.rect(x, y, w - 3, h);
      context.clip();
      context.fillStyle = text;
      context.fillText(label(buffer), x + 4, y + 12);
      context.restore();
    }
  }
  const outline = (buffer, name, wide) => {
    if (!buffer || buffer.pool !== pool) return;
    const [x, y, w, h] = place(buffer, width, height);
    context.strokeStyle = color(name);
    context.lineWidth = wide;
    context.strokeRect(x, y, Math.max(w, 2), Math.max(h, 2));
    context.lineWidth = 1;
  };
  outline(hovered, "text", 1.5);
  outline(selected, "mark", 2.5);
  marker(context, width, height);
}

function marker(context, width, height) {
  if (pool !== data.pools[0].name) return;
  const sx = width / (view.x1 - view.x0);
  context.strokeStyle = color("mark");
  context.setLineDash([4, 3]);
  const x = (data.peak + 0.5 - view.x0) * sx;
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, height);
  context.stroke();
  context.setLineDash([]);
}

function liveBytes() {
  if (pool === data.pools[0].name) return data.live_bytes;
  return byStep.map(list => list.reduce((sum, buffer) => sum + buffer.size_bytes, 0));
}

function drawCurve() {
  const [context, width, height] = prepare(curveCanvas);
  const live = liveBytes(), most = Math.max(1, poolNamed(pool).size_bytes, ...live.slice(0, 1e5));
  const sx = width / (view.x1 - view.x0), sy = (height - 18) / most;
  context.fillStyle = color("live");
  for (let step = Math.max(0, Math.floor(view.x0)); step < Math.min(live.length, Math.ceil(view.x1)); step++) {
    context.fillRect((step - view.x0) * sx, height - live[step] * sy, Math.max(0.6, sx - (sx > 4 ? 1 : 0)), live[step] * sy);
  }
  const line = (value, name) => {
    context.strokeStyle = color(name);
    context.beginPath();
    context.moveTo(0, height - value * sy);
    context.lineTo(width, height - value * sy);
    context.stroke();
  };
  line(poolNamed(pool).size_bytes, "text");
  line(poolNamed(pool).lower_bound_bytes, "mark");
  context.fillStyle = color("text");
  context.font = "11px system-ui, sans-serif";
  context.fillText("live bytes; the line above is the pool's size, the coloured one its lower bound", 6, 12);
  marker(context, width, height);
}

function drawAll() {
  drawMap();
  drawCurve();
}

const label = buffer => buffer.kind === "scratch" ? "scratch" : buffer.name;
function stepText(index) {
  const step = stepOf.get(index);
  return step ? index + ", " + step.op + (step.name ? " (" + step.name + ")" : "") : String(index);
}

function line(parent, tag, text, className) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  parent.append(element);
  return element;
}

function describe(buffer) {
  const about = $("about");
  about.replaceChildren();
  if (!buffer) {
    line(about, "h2", "Peak at step " + stepText(data.peak));
    line(about, "p", bytes(data.live_bytes[data.peak] || 0) + " are live there. The largest:");
    const live = (byStep[data.peak] || []).slice().sort((a, b) => b.size_bytes - a.size_bytes);
    for (const one of live.slice(0, 5)) line(about, "p", bytes(one.size_bytes) + ": " + label(one) + " of step " + stepText(one.step));
    for (const lever of data.levers) line(about, "p", lever.flags + ": arena " + bytes(lever.arena_bytes), "why");
    line(about, "p", "Point at a rectangle, or use the arrow keys. The wheel zooms, dragging moves, 0 shows all.");
    return;
  }
  line(about, "h2", label(buffer) + (buffer.type ? ": " + buffer.type : ""));
  line(about, "p", bytes(buffer.size_bytes) + " at offset " + buffer.offset + " of " + buffer.pool);
  line(about, "p", "made at step " + stepText(buffer.step));
  line(about, "p", "kept from step " + buffer.first + " to " + stepText(buffer.last));
  const others = buffer.values.filter(value => value.name !== buffer.name).map(value => value.name);
  if (others.length) line(about, "p", "in the same bytes (overwritten, or views): " + others.join(", "));
  for (const value of buffer.values) {
    for (const pair of overlapOf(value.name)) line(about, "p", pair.output + " is written over rows of " + pair.input + ", at a distance of at least " + pair.min_distance_bytes + " bytes");
    for (const remark of remarksOf.get(value.name) || []) line(about, "p", value.name + ": " + remark, "why");
  }
}

function select(buffer, scroll) {
  selected = buffer;
  if (buffer && buffer.pool !== pool) choosePool(buffer.pool);
  describe(buffer || hovered);
  drawMap();
  const names = new Set(buffer ? buffer.values.map(value => value.name) : []);
  for (const row of $("list").querySelectorAll("[data-name]")) {
    row.classList.toggle("on", names.has(row.dataset.name));
    if (scroll && buffer && row.dataset.name === buffer.name) row.scrollIntoView({ block: "center" });
  }
}

function at(event) {
  const box = mapCanvas.getBoundingClientRect();
  const step = Math.floor(view.x0 + (event.clientX - box.left) / box.width * (view.x1 - view.x0));
  const offset = view.y0 + (box.bottom - event.clientY) / box.height * (view.y1 - view.y0);
  const found = (byStep[step] || []).filter(buffer => buffer.offset <= offset && offset < buffer.offset + buffer.size_bytes);
  return found.reduce((best, buffer) => !best || buffer.size_bytes < best.size_bytes ? buffer : best, null);
}

let drag = null;
mapCanvas.addEventListener("mousemove", event => {
  if (drag) {
    const box = mapCanvas.getBoundingClientRect();
    const dx = (event.clientX - drag.x) / box.width * (view.x1 - view.x0), dy = (event.clientY - drag.y) / box.height * (view.y1 - view.y0);
    view = { x0: view.x0 - dx, x1: view.x1 - dx, y0: view.y0 + dy, y1: view.y1 + dy };
    drag = { x: event.clientX, y: event.clientY, moved: true };
    return drawAll();
  }
  const found = at(event);
  if (found === hovered) return;
  hovered = found;
  describe(selected || hovered);
  drawMap();
});
mapCanvas.addEventListener("mousedown", event => { drag = { x: event.clientX, y: event.clientY, moved: false }; });
addEventListener("mouseup", event => {
  const was = drag;
  drag = null;
  if (was && !was.moved && event.target === mapCanvas) select(at(event), true);
});
mapCanvas.addEventListener("wheel", event => {
  event.preventDefault();
  const box = mapCanvas.getBoundingClientRect(), factor = event.deltaY > 0 ? 1.25 : 0.8;
  const px = (event.clientX - box.left) / box.width, py = (box.bottom - event.clientY) / box.height;
  const x = view.x0 + px * (view.x1 - view.x0), y = view.y0 + py * (view.y1 - view.y0);
  view.x0 = x - (x - view.x0) * factor;
  view.x1 = x + (view.x1 - x) * factor;
  if (!event.shiftKey) {
    view.y0 = y - (y - view.y0) * factor;
    view.y1 = y + (view.y1 - y) * factor;
  }
  drawAll();
}, { passive: false });
$("map").addEventListener("keydown", event => {
  const index = shown.indexOf(selected);
  const next = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (next) select(shown[(index + next + shown.length) % shown.length], true);
  else if (event.key === "Escape") select(null);
  else if (event.key === "0") choosePool(pool);
  else return;
  event.preventDefault();
});

let tab = "table", order = { by: "size_bytes", down: true };
const columns = [["name", "value"], ["size_bytes", "bytes"], ["offset", "offset"], ["first", "first"], ["last", "last"], ["pool", "pool"], ["type", "type"]];
const bufferOf = name => all.find(buffer => buffer.values.some(value => value.name === name));
function drawList() {
  const list = $("list"), words = $("search").value.toLowerCase();
  list.replaceChildren();
  if (tab === "text") {
    for (const row of data.text.split("\n")) {
      if (words && !row.toLowerCase().includes(words)) continue;
      const element = line(list, "div", row, "ir"), name = /^\s*(%\d+)(?::\d+)? = /.exec(row);
      if (name) element.dataset.name = name[1];
    }
    return;
  }
  const table = document.createElement("table"), head = document.createElement("tr"), body = document.createElement("tbody");
  for (const [key, title] of columns) {
    line(head, "th", title).addEventListener("click", () => {
      order = { by: key, down: order.by === key ? !order.down : true };
      drawList();
    });
  }
  const compare = (a, b) => (a[order.by] < b[order.by] ? -1 : a[order.by] > b[order.by] ? 1 : 0) * (order.down ? -1 : 1);
  const matches = value => !words || (value.name + " " + (value.type || "") + " " + stepText(value.step)).toLowerCase().includes(words);
  for (const value of data.values.filter(matches).sort(compare).slice(0, 2000)) {
    const row = document.createElement("tr");
    row.dataset.name = value.name;
    for (const [key] of columns) line(row, "td", value[key] === undefined ? "" : String(value[key]), typeof value[key] === "number" ? "n" : "");
    body.append(row);
  }
  table.append(head, body);
  list.append(table);
}
$("list").addEventListener("click", event => {
  const row = event.target.closest("[data-name]");
  if (row) select(bufferOf(row.dataset.name) || null);
});
$("search").addEventListener("input", drawList);
for (const button of $("tabs").querySelectorAll("button")) {
  button.addEventListener("click", () => {
    tab = button.dataset.tab;
    for (const other of $("tabs").querySelectorAll("button")) other.setAttribute("aria-pressed", other === button);
    drawList();
    select(selected, true);
  });
}

$("svg").addEventListener("click", () => {
  const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg"), width = 1200, height = 700;
  svg.setAttribute("xmlns", space);
  svg.setAttribute("viewBox", "0 0 " + width + " " + height);
  const kept = view;
  view = { x0: 0, x1: steps, y0: 0, y1: Math.max(1, poolNamed(pool).size_bytes) };
  for (const buffer of shown) {
    const rect = document.createElementNS(space, "rect"), title = document.createElementNS(space, "title");
    ["x", "y", "width", "height"].forEach((name, index) => rect.setAttribute(name, place(buffer, width, height)[index].toFixed(2)));
    rect.setAttribute("fill", color(kind(buffer)));
    rect.setAttribute("stroke", color("back"));
    title.textContent = label(buffer) + ", " + bytes(buffer.size_bytes);
    rect.append(title);
    svg.append(rect);
  }
  view = kept;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }));
  link.download = "plan.svg";
  link.click();
  URL.revokeObjectURL(link.href);
});

const arena = data.pools[0];
document.title = data.title + ": memory plan";
$("title").textContent = data.title;
const fact = (name, value) => {
  $("facts").append(name + " ");
  line($("facts"), "b", value);
  $("facts").append("  ");
};
fact("arena", bytes(arena.size_bytes));
fact("lower bound", bytes(arena.lower_bound_bytes));
fact("above it", (100 * (arena.size_bytes / Math.max(1, arena.lower_bound_bytes) - 1)).toFixed(1) + " %");
fact("without reuse", bytes(data.naive_bytes));
fact("weights", bytes(data.weights_bytes));
for (const known of data.pools) {
  line($("pools"), "button", known.name).addEventListener("click", () => choosePool(known.name));
}
addEventListener("resize", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
choosePool(pool);
drawList();
describe(null);
