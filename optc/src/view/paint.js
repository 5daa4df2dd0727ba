// Paints a plan: x is the step, y the offset in a pool, a rectangle a buffer.

const color = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const FONT = "11px system-ui, sans-serif";
const LETTER = 6.5;

/** Paints on a canvas. */
class CanvasPainter {
  constructor(canvas) {
    const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    canvas.width = Math.max(1, box.width * ratio);
    canvas.height = Math.max(1, box.height * ratio);
    Object.assign(this, { width: box.width, height: box.height, context: canvas.getContext("2d") });
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.font = FONT;
  }

  rect({ x, y, w, h }, fill) {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, Math.max(w, 0.6), Math.max(h, 0.6));
  }

  outline({ x, y, w, h }, stroke, width) {
    this.context.strokeStyle = stroke;
    this.context.lineWidth = width;
    this.context.strokeRect(x, y, Math.max(w, 2), Math.max(h, 2));
  }

  line(x0, y0, x1, y1, stroke, dashes = []) {
    const { context } = this;
    context.strokeStyle = stroke;
    context.lineWidth = 1;
    context.setLineDash(dashes);
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
    context.setLineDash([]);
  }

  text(x, y, text, fill) {
    this.context.fillStyle = fill;
    this.context.fillText(text, x, y);
  }

  hatch({ x, y, w, h }, stroke) {
    const tile = document.createElement("canvas"), brush = tile.getContext("2d");
    tile.width = tile.height = 8;
    brush.strokeStyle = stroke;
    for (const shift of [-8, 0, 8]) {
      brush.moveTo(shift, 8);
      brush.lineTo(shift + 8, 0);
    }
    brush.stroke();
    this.context.fillStyle = this.context.createPattern(tile, "repeat");
    this.context.fillRect(x, y, w, h);
  }
}

const SVG = "http://www.w3.org/2000/svg";

/** Adds an element of SVG with attributes. */
function svgElement(parent, name, attributes, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

/** Paints a picture of vectors, in which a buffer says its name when it is pointed at. */
class SvgPainter {
  constructor(root, width, height) {
    Object.assign(this, { root, width, height, isExact: true });
  }

  rect({ x, y, w, h }, fill, buffer) {
    const size = { x: x.toFixed(2), y: y.toFixed(2), width: w.toFixed(2), height: h.toFixed(2) };
    const rect = svgElement(this.root, "rect", { ...size, fill });
    if (buffer) svgElement(rect, "title", {}, label(buffer) + ", " + bytes(buffer.size_bytes));
    return rect;
  }

  outline(box, stroke, width) {
    const rect = this.rect(box, "none");
    rect.setAttribute("stroke", stroke);
    rect.setAttribute("stroke-width", width);
  }

  line(x1, y1, x2, y2, stroke, dashes = []) {
    svgElement(this.root, "line", { x1, y1, x2, y2, stroke, "stroke-dasharray": dashes.join(" ") });
  }

  text(x, y, text, fill) {
    svgElement(this.root, "text", { x, y, fill, "font-size": 11, "font-family": "sans-serif" }, text);
  }

  hatch(box, stroke) {
    const size = { width: 8, height: 8, patternUnits: "userSpaceOnUse" };
    const pattern = svgElement(this.root, "pattern", { id: "free", ...size });
    svgElement(pattern, "path", { d: "M0 8L8 0", stroke });
    this.rect(box, "url(#free)");
  }
}

/** Where in a picture a place in the pool is, from one step to another. */
function boxOf(place, view, width, height) {
  const sx = width / (view.x1 - view.x0), sy = height / (view.y1 - view.y0);
  const h = place.size_bytes * sy;
  const w = (place.last - place.first + 1) * sx;
  return { x: (place.first - view.x0) * sx, y: height - (place.offset - view.y0) * sy - h, w, h };
}

/** The name of a buffer's colour. */
function kindOf(buffer) {
  if (isComparison) return changeOf(buffer.plan, buffer.name);
  if (buffer.pool === "state") return "state";
  const { overlaps } = buffer.plan;
  if (overlaps.size > 0 && buffer.values.some(value => overlaps.has(value.name))) return "over";
  return buffer.kind === "scratch" || buffer.kind === "input" ? buffer.kind : "result";
}

const label = buffer => buffer.kind === "scratch" ? "scratch" : buffer.name;

/** The values of a buffer that overwrite one another, each in an outline of its own. */
function paintChain(painter, buffer, view, stroke) {
  for (const value of buffer.values) {
    const box = boxOf(value, view, painter.width, painter.height);
    if (box.w > 6 && box.h > 6) {
      const inner = { x: box.x + 1.5, y: box.y + 1.5, w: box.w - 3, h: box.h - 3 };
      painter.outline(inner, stroke, 1);
    }
  }
}

function paintBuffer(painter, buffer, box, view, colors) {
  painter.rect(box, colors[kindOf(buffer)], buffer);
  if (box.w > 3 && box.h > 3) painter.outline(box, colors.back, 1);
  if (buffer.values.length > 1) paintChain(painter, buffer, view, colors.tie);
  if (box.w > 40 && box.h > 13) {
    const letters = Math.floor((box.w - 8) / LETTER);
    painter.text(Math.max(0, box.x) + 4, box.y + 12, label(buffer).slice(0, letters), colors.text);
  }
}

/** Whether a box has the same pixels as one before: of many buffers in a pixel's width, one is painted. */
function hiding() {
  const painted = new Set();
  return ({ x, y, w, h }) => {
    if (w >= 0.5) return false;
    const pixels = (Math.floor(x) * 4096 + Math.floor(y)) * 4096 + Math.floor(h);
    if (painted.has(pixels)) return true;
    painted.add(pixels);
    return false;
  };
}

/** Paints the buffers of a pool; what is free is hatched. */
function paintMap(painter, pane, view) {
  const { plan, pool, shown } = pane, { width, height } = painter;
  const colors = Object.fromEntries(COLORS.map(name => [name, color(name)]));
  const size_bytes = plan.poolNamed(pool).size_bytes;
  painter.hatch(boxOf({ first: 0, last: plan.steps - 1, offset: 0, size_bytes }, view, width, height),
    color("hatch"));
  const isHidden = painter.isExact ? () => false : hiding();
  for (const buffer of shown) {
    const box = boxOf(buffer, view, width, height);
    const isOutside = box.x > width || box.x + box.w < 0 || box.y > height || box.y + box.h < 0;
    if (!isOutside && !isHidden(box)) paintBuffer(painter, buffer, box, view, colors);
  }
  paintPeak(painter, pane, view);
}

const KINDS = isComparison
  ? ["same", "new", "gone", "moved", "longer", "shorter"]
  : ["result", "scratch", "over", "state", "input"];
const COLORS = [...KINDS, "back", "text", "tie"];

function paintPeak(painter, { plan, pool }, view) {
  if (pool !== plan.source.pools[0].name) return;
  const x = (plan.source.peak + 0.5 - view.x0) * painter.width / (view.x1 - view.x0);
  painter.line(x, 0, x, painter.height, color("mark"), [4, 3]);
}

/** The most live bytes in each of the columns of a picture that is `width` wide. */
function columnsOf(live, view, width) {
  const from = Math.max(0, Math.floor(view.x0)), to = Math.min(live.length, Math.ceil(view.x1));
  const each = Math.max(1, Math.ceil((to - from) / Math.max(1, width)));
  const columns = [];
  for (let step = from; step < to; step += each) {
    let most = 0;
    for (let at = step; at < Math.min(to, step + each); at++) most = Math.max(most, live[at]);
    columns.push({ step, each, most });
  }
  return columns;
}

/** Paints the curve of live bytes, with the pool's size and its lower bound as lines. */
function paintCurve(painter, pane, view) {
  const { width, height } = painter, { size_bytes, lower_bound_bytes } = pane.plan.poolNamed(pane.pool);
  const most = pane.live.reduce((most, bytes) => Math.max(most, bytes), Math.max(1, size_bytes));
  const sx = width / (view.x1 - view.x0), sy = (height - 18) / most, fill = color("live");
  for (const { step, each, most } of columnsOf(pane.live, view, width)) {
    const gap = sx > 4 ? 1 : 0, h = most * sy;
    painter.rect({ x: (step - view.x0) * sx, y: height - h, w: each * sx - gap, h }, fill);
  }
  const line = (bytes, name) =>
    painter.line(0, height - bytes * sy, width, height - bytes * sy, color(name));
  line(size_bytes, "text");
  line(lower_bound_bytes, "mark");
  const said = "live bytes; the line above is the pool's size, the coloured one its lower bound";
  painter.text(6, 12, said, color("text"));
  paintPeak(painter, pane, view);
}
