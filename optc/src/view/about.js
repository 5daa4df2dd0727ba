// Says in words what a plan is, and what is known of a buffer.

const $ = id => document.getElementById(id);

function bytes(number) {
  if (number < 1e4) return number + " bytes";
  const [unit, scale] = number < 1e6 ? ["kB", 1e3] : number < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return (number / scale).toFixed(2) + " " + unit + " (" + number + " bytes)";
}

/** Adds an element with a text, which is never read as markup. */
function add(parent, tag, text, className) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  parent.append(element);
  return element;
}

/** The numbers above a picture. */
function describePlan(header, plan) {
  const { pools, naive_bytes, weights_bytes, title } = plan.source, [arena] = pools;
  header.replaceChildren();
  const above = 100 * (arena.size_bytes / Math.max(1, arena.lower_bound_bytes) - 1);
  const facts = [["arena", bytes(arena.size_bytes)], ["lower bound", bytes(arena.lower_bound_bytes)],
    ["above it", above.toFixed(1) + " %"], ["without reuse", bytes(naive_bytes)],
    ["weights", bytes(weights_bytes)]];
  if (isComparison) add(header, "h2", title);
  for (const [name, text] of facts) {
    header.append(name + " ");
    add(header, "b", text);
    header.append("  ");
  }
}

const HELP = "Point at a rectangle, or use the arrow keys. The wheel zooms, dragging moves, 0 shows all.";

/** What the peak is made of, and which options would lower it. */
function describePeak(about, { plan, pool }) {
  const { live_bytes, peak, levers } = plan.source;
  add(about, "h2", "Peak at step " + plan.stepText(peak));
  add(about, "p", bytes(live_bytes[peak] || 0) + " are live there. The largest:");
  const live = plan.inPool(pool).filter(buffer => plan.isLiveAtPeak(buffer));
  live.sort((a, b) => b.size_bytes - a.size_bytes);
  for (const one of live.slice(0, 5)) {
    add(about, "p", bytes(one.size_bytes) + ": " + label(one) + " of step " + plan.stepText(one.step));
  }
  for (const lever of levers) {
    add(about, "p", lever.flags + ": arena " + bytes(lever.arena_bytes), "why");
  }
  add(about, "p", HELP);
}

/** The bytes between a buffer's end and the next place where another may begin. */
function padding(buffer) {
  const { align } = buffer.plan.poolNamed(buffer.pool);
  return (align - buffer.size_bytes % align) % align;
}

/** Which rows of what a value is written over, or what is written over its own. */
function describeOverlaps(about, plan, value) {
  for (const pair of plan.overlaps.get(value.name) || []) {
    const [input, output] = [pair.input, pair.output].map(name => plan.valueNamed(name));
    const distance = input && output ? input.offset - output.offset + " bytes apart, " : "";
    add(about, "p", pair.output + " shares rows with " + pair.input + ": " + distance + "at least " +
      pair.min_distance_bytes + " bytes");
  }
}

const CHANGES = { same: "the same in both plans", new: "only in this plan", gone: "only in this plan",
  moved: "at another place in the other plan", longer: "lives longer than before",
  shorter: "lives shorter than before" };

function describeChange(about, buffer) {
  if (!isComparison) return;
  const other = counterpart(buffer), change = CHANGES[changeOf(buffer.plan, buffer.name)];
  const place = other ? ": there " + other.name + " at offset " + other.offset + ", steps " + other.first +
    " to " + other.last : "";
  add(about, "p", change + place, "why");
}

/** Everything that is known of a buffer. */
function describeBuffer(about, buffer) {
  const { plan } = buffer;
  add(about, "h2", label(buffer) + (buffer.type ? ": " + buffer.type : ""));
  describeChange(about, buffer);
  add(about, "p", bytes(buffer.size_bytes) + " at offset " + buffer.offset + " of " + buffer.pool +
    ", and " + padding(buffer) + " bytes of padding");
  add(about, "p", "first written at step " + plan.stepText(buffer.step));
  add(about, "p", "last read at step " + plan.stepText(buffer.last));
  add(about, "p", "live from step " + buffer.first + " to " + buffer.last);
  if (buffer.values.length > 1) {
    const chain = buffer.values.map(value => value.name).join(" → ");
    add(about, "p", "one buffer, each overwrites the one before or is a view of it: " + chain);
  }
  for (const value of buffer.values) {
    describeOverlaps(about, plan, value);
    for (const remark of plan.remarks.get(value.name) || []) {
      add(about, "p", value.name + ": " + remark, "why");
    }
  }
}

function describe(buffer) {
  const about = $("about");
  about.replaceChildren();
  if (buffer) describeBuffer(about, buffer);
  else describePeak(about, panes[panes.length - 1]);
}
