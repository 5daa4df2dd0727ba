"use strict";
// The plans of the page: which buffer lies where, and when.

const data = JSON.parse(document.getElementById("data").textContent);
const isPlanned = value => value.pool !== "input" && value.pool !== "output";

/** Lists of what `pick` takes from each item, by the item's key. */
function grouped(items, key, pick = item => item) {
  const groups = new Map();
  for (const item of items) {
    if (!groups.has(key(item))) groups.set(key(item), []);
    groups.get(key(item)).push(pick(item));
  }
  return groups;
}

/** The values of a plan, from columns that mostly have differences. */
function valuesOf({ name, step, pool, offset, size_bytes, first, last, root, kind, type }) {
  let at = 0;
  return name.map((name, row) => {
    at += step[row];
    const begin = at + first[row];
    return { row, name, step: at, pool: pool.words[pool.at[row]], offset: offset[row],
      size_bytes: size_bytes[row], first: begin, last: begin + last[row], root: row + root[row],
      kind: kind.words[kind.at[row]], type: type.words[type.at[row]] };
  });
}

function stepsOf({ index, op, name }) {
  let at = 0;
  return new Map(index.map((after, row) => {
    at += after;
    return [at, { index: at, op: op.words[op.at[row]], name: name[row] }];
  }));
}

/** Widens a buffer by the place and the live range of a value. */
function widen(buffer, value) {
  const end = Math.max(buffer.offset + buffer.size_bytes, value.offset + value.size_bytes);
  buffer.values.push(value);
  buffer.first = Math.min(buffer.first, value.first);
  buffer.last = Math.max(buffer.last, value.last);
  buffer.offset = Math.min(buffer.offset, value.offset);
  buffer.size_bytes = end - buffer.offset;
}

/** A plan, with what the page asks of it. */
class Plan {
  constructor(source, number) {
    this.source = source;
    this.number = number;
    this.values = valuesOf(source.values);
    this.stepOf = stepsOf(source.steps);
    this.steps = Math.max(1, source.live_bytes.length, this.stepOf.size);
    this.buffers = this.findBuffers();
    this.remarks = grouped(source.remarks, remark => remark[0], remark => remark[1]);
    this.overlaps = grouped(source.overlaps.flatMap(pair => [[pair.input, pair], [pair.output, pair]]),
      entry => entry[0], entry => entry[1]);
  }

  /** The buffers in the order of steps: a buffer is all values that have a root's bytes. */
  findBuffers() {
    const bufferOfRoot = new Array(this.values.length);
    for (const value of this.values.filter(isPlanned)) {
      const known = bufferOfRoot[value.root];
      if (known) widen(known, value);
      else bufferOfRoot[value.root] = this.newBuffer(value);
      value.buffer = bufferOfRoot[value.root];
    }
    const found = bufferOfRoot.filter(buffer => buffer && buffer.size_bytes > 0);
    return found.sort((a, b) => a.first - b.first || a.offset - b.offset);
  }

  /** A buffer of one value. It is called as its root. */
  newBuffer(value) {
    const { name, step, pool, kind, type } = this.values[value.root];
    const { offset, size_bytes, first, last } = value;
    return { plan: this, name, step, pool, kind, type, offset, size_bytes, first, last, values: [value] };
  }

  valueNamed(name) {
    if (!this.byName) this.byName = new Map(this.values.map(value => [value.name, value]));
    return this.byName.get(name);
  }

  bufferNamed(name) {
    const buffer = (this.valueNamed(name) || {}).buffer;
    return buffer && buffer.size_bytes > 0 ? buffer : null;
  }

  /** The lines of the text; none as long as the page is being read. */
  get lines() {
    if (!this.read && document.readyState !== "loading") this.readText();
    return this.read || [];
  }

  /** Finds out which line of the text makes which value: what stands in an operation belongs to it. */
  readText() {
    this.read = textOf(this.number).split("\n");
    this.nameOfLine = [];
    this.lineOf = new Map();
    const ofOp = grouped(this.values.filter(value => value.type), value => value.name.split("#")[0]);
    let names = [];
    this.read.forEach((line, index) => {
      const made = /^  (%\d+)(?::\d+)? = /.exec(line);
      if (made || /^  ?\S/.test(line)) names = made && ofOp.get(made[1]) || [];
      this.nameOfLine.push(names.length ? names[0].name : null);
      if (made) names.forEach(value => this.lineOf.set(value.name, index));
    });
  }

  /** The line that makes a buffer's root, or whose scratch it is. */
  lineOfBuffer({ name, step }) {
    if (this.lineOf.has(name)) return this.lineOf.get(name);
    const other = this.values.find(value => value.step === step && this.lineOf.has(value.name));
    return other ? this.lineOf.get(other.name) : 0;
  }

  poolNamed(name) {
    return this.source.pools.find(pool => pool.name === name);
  }

  inPool(name) {
    return this.buffers.filter(buffer => buffer.pool === name);
  }

  /** Bytes that are live at each step: of the arena, as the planner counts them. */
  liveBytes(pool) {
    if (pool === this.source.pools[0].name) return this.source.live_bytes;
    const changes = new Array(this.steps + 1).fill(0);
    for (const buffer of this.inPool(pool)) {
      changes[buffer.first] += buffer.size_bytes;
      changes[Math.min(buffer.last, this.steps - 1) + 1] -= buffer.size_bytes;
    }
    let live = 0;
    return changes.slice(0, this.steps).map(change => live += change);
  }

  isLiveAtPeak(value) {
    return value.first <= this.source.peak && this.source.peak <= value.last;
  }

  stepText(index) {
    const step = this.stepOf.get(index);
    if (!step) return String(index);
    return index + ", " + step.op + (step.name ? " (" + step.name + ")" : "");
  }
}

let texts = null;
/** The text of a plan. Texts stand at the end of the page, and are read when one is first asked for. */
function textOf(number) {
  if (!texts) texts = JSON.parse(document.getElementById("texts").textContent);
  return texts[number];
}

const made = new Map();
/** The plan of a number, made when it is first asked for. */
function planAt(index) {
  if (!made.has(index)) made.set(index, new Plan(data.plans[index], index));
  return made.get(index);
}

const isComparison = data.matches !== null;
const changesOf = [new Map(), new Map()];
for (const { before, after, changes } of data.matches || []) {
  changesOf[0].set(before, { other: after, changes });
  changesOf[1].set(after, { other: before, changes });
}

/** What became of a value between two plans: `new`, `gone`, `longer`, `shorter`, `moved` or `same`. */
function changeOf(plan, name) {
  const match = changesOf[plan.number].get(name);
  if (!match) return plan.number === 0 ? "gone" : "new";
  return match.changes[0] || "same";
}

/** The buffer of the other plan that a buffer corresponds to. */
function counterpart(buffer) {
  if (!isComparison || !buffer) return null;
  const { number } = buffer.plan, match = changesOf[number].get(buffer.name);
  return match ? planAt(1 - number).bufferNamed(match.other) : null;
}
