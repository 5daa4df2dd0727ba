// The list beside the picture: a table of values, or the text. Only the rows in sight are on the page.

const ROW = 18;
const AROUND = 10;
const COLUMNS = [["name", "value"], ["size_bytes", "bytes"], ["offset", "offset"], ["first", "first"],
  ["last", "last"], ["pool", "pool"], ["kind", "kind"], ["step", "step"], ["type", "type"]];
const order = { by: "size_bytes", down: true };
let listed = "values", rows = [];

/** Whether a value is one that the search, the kind and the peak ask for. */
function isWanted(plan, value, words) {
  const kind = $("kind").value, change = isComparison ? changeOf(plan, value.name) : value.kind;
  if (kind && kind !== change) return false;
  if ($("peak").checked && !plan.isLiveAtPeak(value)) return false;
  if (!words) return true;
  return [value.name, value.type, plan.stepText(value.step)].join(" ").toLowerCase().includes(words);
}

/** All values of a plan; of two plans those of the second, and of the first what is gone. */
function valuesOfAll() {
  const all = panes.flatMap(({ plan }) => plan.values.map(value => ({ plan, value })));
  const isShown = ({ plan, value }) =>
    !isComparison || plan === planAt(1) || changeOf(plan, value.name) === "gone";
  return all.filter(isShown);
}

function compare(a, b) {
  const left = a.value[order.by], right = b.value[order.by];
  const sign = left < right ? -1 : left > right ? 1 : 0;
  return order.down ? -sign : sign;
}

/** The rows of the list: values in order, or lines of a plan's text. */
function findRows() {
  const words = $("search").value.toLowerCase();
  if (listed === "values") {
    rows = valuesOfAll().filter(({ plan, value }) => isWanted(plan, value, words)).sort(compare);
    return;
  }
  const { plan } = panes[listed];
  rows = plan.lines.map((text, line) => ({ plan, text, line, name: plan.nameOfLine[line] }));
  if (words) rows = rows.filter(row => row.text.toLowerCase().includes(words));
}

function cellText(plan, value, key) {
  if (key === "step") return plan.stepText(value.step);
  if (key === "kind" && isComparison) return changeOf(plan, value.name);
  return String(value[key]);
}

function addRow(parent, row, index) {
  const isText = listed !== "values";
  const element = add(parent, isText ? "div" : "tr", isText ? row.text : "", isText ? "ir row" : "row");
  element.dataset.index = index;
  element.classList.toggle("on", isSelected(row));
  if (isText) return;
  for (const [key] of COLUMNS) {
    add(element, "td", cellText(row.plan, row.value, key), typeof row.value[key] === "number" ? "n" : "");
  }
}

const bufferOfRow = row => row.plan.bufferNamed(row.value ? row.value.name : row.name);

function isSelected(row) {
  const buffer = bufferOfRow(row);
  return buffer !== null && (buffer === selected || buffer === counterpart(selected));
}

/** Puts the rows in sight on the page, and as much room as the others take. */
function drawRows() {
  const list = $("list"), body = list.querySelector(".rows"), frame = list.firstElementChild;
  const from = Math.max(0, Math.floor(list.scrollTop / ROW) - AROUND);
  const to = Math.min(rows.length, from + Math.ceil(list.clientHeight / ROW) + 2 * AROUND);
  body.replaceChildren();
  for (let index = from; index < to; index++) addRow(body, rows[index], index);
  frame.style.marginTop = from * ROW + "px";
  frame.style.marginBottom = (rows.length - to) * ROW + "px";
}

function addHead(table) {
  const head = add(add(table, "thead", ""), "tr", "");
  for (const [key, title] of COLUMNS) {
    add(head, "th", title).addEventListener("click", () => {
      order.down = order.by === key ? !order.down : true;
      order.by = key;
      drawList();
    });
  }
}

/** Draws the list anew, after other rows were asked for. */
function drawList() {
  const list = $("list"), isText = listed !== "values";
  findRows();
  list.replaceChildren();
  const frame = add(list, isText ? "div" : "table", "", isText ? "rows" : "");
  if (!isText) {
    addHead(frame);
    add(frame, "tbody", "", "rows");
  }
  list.scrollTop = 0;
  drawRows();
}

/** Brings the selected buffer's row into sight. */
function scrollToSelected() {
  const isText = listed !== "values";
  const line = selected && isText ? selected.plan.lineOfBuffer(selected) : 0;
  const isRow = isText ? row => row.line === line && row.plan === selected.plan : isSelected;
  const index = selected ? rows.findIndex(isRow) : -1;
  if (index >= 0) $("list").scrollTop = index * ROW - $("list").clientHeight / 2;
  drawRows();
}

function addViews() {
  const title = ({ plan }) => isComparison ? "IR of " + plan.source.title : "IR text";
  const texts = panes.map((pane, index) => [index, title(pane)]);
  for (const [what, title] of [["values", "Values"], ...texts]) {
    const button = add($("views"), "button", title);
    button.setAttribute("aria-pressed", what === listed);
    button.addEventListener("click", () => {
      listed = what;
      for (const other of $("views").children) other.setAttribute("aria-pressed", other === button);
      drawList();
      scrollToSelected();
    });
  }
}

function addKinds() {
  const kinds = isComparison ? KINDS : ["result", "scratch", "input", "output"];
  add($("kind"), "option", isComparison ? "all changes" : "all kinds").value = "";
  kinds.forEach(kind => add($("kind"), "option", kind));
}

function startList() {
  addViews();
  addKinds();
  $("list").addEventListener("scroll", drawRows);
  $("list").addEventListener("click", event => {
    const row = event.target.closest("[data-index]");
    if (row) select(bufferOfRow(rows[row.dataset.index]));
  });
  for (const id of ["search", "kind", "peak"]) $(id).addEventListener("input", drawList);
}
