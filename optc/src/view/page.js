// Puts the page together: panes with pictures, what is selected, named sizes, and what the mouse does.

let selected = null, hovered = null, view = null, drag = null;
const panes = [];

/** The picture of a plan, with its curve and its numbers. */
class Pane {
  constructor(index) {
    const section = $("pane").content.firstElementChild.cloneNode(true);
    $("panes").append(section);
    this.header = section.querySelector("header");
    this.curve = section.querySelector(".curve canvas");
    this.map = section.querySelector(".map");
    [this.canvas, this.marks] = this.map.children;
    this.show(planAt(index));
  }

  show(plan) {
    this.plan = plan;
    describePlan(this.header, plan);
  }

  choosePool(name) {
    this.pool = this.plan.poolNamed(name) ? name : this.plan.source.pools[0].name;
    this.shown = this.plan.inPool(this.pool);
    this.live = this.plan.liveBytes(this.pool);
  }

  draw() {
    paintMap(new CanvasPainter(this.canvas), this, view);
    paintCurve(new CanvasPainter(this.curve), this, view);
    this.drawMarks();
  }

  /** Outlines what is pointed at and what is selected, and what both are in the other plan. */
  drawMarks() {
    const painter = new CanvasPainter(this.marks);
    const mark = (buffer, name, width) => {
      if (!buffer || buffer.plan !== this.plan || buffer.pool !== this.pool) return;
      painter.outline(boxOf(buffer, view, painter.width, painter.height), color(name), width);
    };
    for (const buffer of [hovered, counterpart(hovered)]) mark(buffer, "text", 1.5);
    for (const buffer of [selected, counterpart(selected)]) mark(buffer, "mark", 2.5);
  }

  /** The smallest buffer at a place of the window. */
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const step = Math.floor(view.x0 + (event.clientX - box.left) / box.width * (view.x1 - view.x0));
    const offset = view.y0 + (box.bottom - event.clientY) / box.height * (view.y1 - view.y0);
    let best = null;
    for (const buffer of this.shown) {
      if (buffer.first > step) break;
      const isThere = step <= buffer.last && buffer.offset <= offset &&
        offset < buffer.offset + buffer.size_bytes;
      if (isThere && (!best || buffer.size_bytes < best.size_bytes)) best = buffer;
    }
    return best;
  }
}

const drawAll = () => panes.forEach(pane => pane.draw());
const drawMarks = () => panes.forEach(pane => pane.drawMarks());

/** Shows all of a pool. Two plans are drawn to one scale. */
function choosePool(name) {
  panes.forEach(pane => pane.choosePool(name));
  const steps = Math.max(...panes.map(pane => pane.plan.steps));
  const most = Math.max(1, ...panes.map(pane => pane.plan.poolNamed(pane.pool).size_bytes));
  view = { x0: 0, x1: steps, y0: 0, y1: most };
  for (const button of $("pools").children) {
    button.setAttribute("aria-pressed", button.textContent === name);
  }
  drawAll();
}

function select(buffer) {
  selected = buffer;
  if (buffer && buffer.pool !== panes[0].pool) choosePool(buffer.pool);
  describe(buffer || hovered);
  drawMarks();
  scrollToSelected();
}

function hover(buffer) {
  if (buffer === hovered) return;
  hovered = buffer;
  describe(hovered || selected);
  drawMarks();
}

function moveView(event, box) {
  const dx = (event.clientX - drag.x) / box.width * (view.x1 - view.x0);
  const dy = (event.clientY - drag.y) / box.height * (view.y1 - view.y0);
  view = { x0: view.x0 - dx, x1: view.x1 - dx, y0: view.y0 + dy, y1: view.y1 + dy };
  drag = { x: event.clientX, y: event.clientY, hasMoved: true };
  drawAll();
}

/** Zooms in or out around the mouse; with the shift key, steps only. */
function zoom(event, box) {
  event.preventDefault();
  const factor = event.deltaY > 0 ? 1.25 : 0.8;
  const x = view.x0 + (event.clientX - box.left) / box.width * (view.x1 - view.x0);
  const y = view.y0 + (box.bottom - event.clientY) / box.height * (view.y1 - view.y0);
  const around = (from, to, at) => [at - (at - from) * factor, at + (to - at) * factor];
  [view.x0, view.x1] = around(view.x0, view.x1, x);
  if (!event.shiftKey) [view.y0, view.y1] = around(view.y0, view.y1, y);
  drawAll();
}

/** Arrow keys go from a buffer to the next, escape selects none, 0 shows all. */
function pressKey(event, { shown, pool }) {
  const next = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (next) select(shown[(shown.indexOf(selected) + next + shown.length) % shown.length] || null);
  else if (event.key === "Escape") select(null);
  else if (event.key === "0") choosePool(pool);
  else return;
  event.preventDefault();
}

function listen(pane) {
  const box = () => pane.canvas.getBoundingClientRect();
  pane.map.addEventListener("mousemove", event => drag ? moveView(event, box()) : hover(pane.at(event)));
  pane.map.addEventListener("mouseleave", () => hover(null));
  pane.map.addEventListener("mousedown", event => { drag = { x: event.clientX, y: event.clientY }; });
  pane.map.addEventListener("mouseup", event => { if (drag && !drag.hasMoved) select(pane.at(event)); });
  pane.map.addEventListener("wheel", event => zoom(event, box()), { passive: false });
  pane.map.addEventListener("keydown", event => pressKey(event, pane));
}

/** The number of the plan whose named sizes the sliders say: the last slider's points follow one another. */
function planNumber(sliders) {
  return sliders.reduce((number, slider, index) =>
    number * data.sizes[index].points.length + Number(slider.value), 0);
}

/** Shows another plan in the first pane; some sizes no plan can have. */
function showPlan(number) {
  if (!data.plans[number]) return add($("about"), "p", "The program can't have these sizes.", "why");
  [selected, hovered] = [null, null];
  panes[0].show(planAt(number));
  choosePool(panes[0].pool);
  drawList();
  describe(null);
}

/** A slider for each named size. Each of its points has a plan that was made with the page. */
function addSizes() {
  const sliders = [], said = [];
  const show = () => {
    data.sizes.forEach((size, index) => { said[index].value = size.points[sliders[index].value]; });
    showPlan(planNumber(sliders));
  };
  for (const { name, points, at } of data.sizes) {
    const label = add($("sizes"), "label", name);
    const slider = add(label, "input", "");
    Object.assign(slider, { type: "range", min: 0, max: points.length - 1, value: at });
    slider.addEventListener("input", show);
    sliders.push(slider);
    said.push(add(label, "output", points[at]));
  }
  return planNumber(sliders);
}

function addLegend() {
  const words = { over: "shares rows", input: "donated input" };
  const has = kind => panes.some(({ plan }) => plan.buffers.some(buffer => kindOf(buffer) === kind));
  for (const kind of KINDS.filter(has)) {
    const entry = add($("legend"), "span", "");
    add(entry, "i", "").style.background = "var(--" + kind + ")";
    entry.append(words[kind] || kind);
  }
}

/** The curves and pictures of all panes, side by side and with nothing cut off, as SVG. */
function svgText() {
  const width = 1200, curve = 100, height = 700;
  const svg = document.createElementNS(SVG, "svg");
  const all = { width: width * panes.length, height: curve + height };
  svg.setAttribute("viewBox", "0 0 " + all.width + " " + all.height);
  new SvgPainter(svg).rect({ x: 0, y: 0, w: all.width, h: all.height }, color("back"));
  panes.forEach((pane, index) => {
    const whole = { x0: 0, x1: pane.plan.steps, y0: 0, y1: view.y1 };
    whole.y1 = Math.max(1, pane.plan.poolNamed(pane.pool).size_bytes);
    const part = y => svgElement(svg, "g", { transform: "translate(" + index * width + " " + y + ")" });
    paintCurve(new SvgPainter(part(0), width, curve), pane, whole);
    paintMap(new SvgPainter(part(curve), width, height), pane, whole);
  });
  return new XMLSerializer().serializeToString(svg);
}

function saveSvg() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([svgText()], { type: "image/svg+xml" }));
  link.download = "plan.svg";
  link.click();
  URL.revokeObjectURL(link.href);
}

function addPools() {
  const names = new Set(panes.flatMap(({ plan }) => plan.source.pools.map(pool => pool.name)));
  for (const name of names) {
    add($("pools"), "button", name).addEventListener("click", () => choosePool(name));
  }
}

function start() {
  document.title = data.title + ": memory plan";
  $("title").textContent = data.title;
  const first = addSizes();
  for (const index of isComparison ? [0, 1] : [first]) panes.push(new Pane(index));
  panes.forEach(listen);
  addPools();
  addLegend();
  startList();
  $("svg").addEventListener("click", saveSvg);
  addEventListener("mouseup", () => { drag = null; });
  addEventListener("resize", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  choosePool(panes[0].plan.source.pools[0].name);
  describe(null);
  // The list of a large plan can wait until the picture is on the screen.
  requestAnimationFrame(() => setTimeout(() => {
    performance.mark("shown");
    drawList();
  }));
}

start();
