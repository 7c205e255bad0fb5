"use strict";
// The page: it chooses an image, asks its two workers, and shows what they answer. One worker holds the image, for
// slices and Betti numbers, the other finds the curve, so that two cores share the work.

const $ = id => document.getElementById(id);
const tint = [0, 114, 178];
const minus = n => String(n).replace("-", "−");
const grouped = n => minus(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
const plural = (n, noun) => `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;

// compiled is the program, which each worker starts.
const compiled = (async () => {
  const answer = await fetch("eccbench.wasm.gz");
  if (!answer.ok) {
    throw new Error(`the program did not load (${answer.status} ${answer.statusText}); load the page again`);
  }
  const bytes = await answer.arrayBuffer();
  const [a, b] = new Uint8Array(bytes, 0, 2);
  if (a !== 0x1f || b !== 0x8b) return WebAssembly.compile(bytes); // the server's headers had it unpacked
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(plain).arrayBuffer());
})();
compiled.catch(() => undefined); // each question reports it

// Stopped ends the questions of a worker that was stopped.
class Stopped extends Error {}

// A Helper is a worker with the files of an image. It answers one question after the other.
class Helper {
  constructor(files, progress) {
    this.waiting = new Map();
    this.asked = 0;
    this.worker = new Worker("worker.js");
    this.worker.onmessage = ({ data }) => {
      if (data.progress) return progress(data.progress, data.done);
      if (data.ended !== undefined) return this.stop(new Error(ended(data.ended)));
      const { resolve, reject } = this.waiting.get(data.number);
      this.waiting.delete(data.number);
      if (data.reply && data.reply.error) reject(Object.assign(new Error(data.reply.error), { fault: data.reply }));
      else resolve(data);
    };
    this.worker.onerror = event => this.stop(new Error(ended(event.message)));
    this.started = compiled.then(module => this.worker.postMessage({ module, files }));
    this.started.catch(err => this.stop(err));
  }
  get busy() { return this.waiting.size > 0; }
  // ask puts a question; at is the text of a number, which JSON need not round.
  async ask(question, at) {
    const number = ++this.asked;
    const answer = new Promise((resolve, reject) => this.waiting.set(number, { resolve, reject }));
    const text = JSON.stringify(question).slice(0, -1) + (at === undefined ? "}" : `,"at":${at}}`);
    this.started.then(() => this.worker.postMessage({ number, question: text }));
    return answer;
  }
  stop(err = new Stopped()) {
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(err);
    this.waiting.clear();
  }
}

function ended(said) {
  if (/memory/.test(said)) {
    return "The image needs more memory than a page may have. The command has no such limit: eccbench curve FILE.";
  }
  return `The program stopped: ${said.split("\n")[0]}. Please report this as a bug.`;
}

// latest runs f for one value at a time, and of the values that come meanwhile for the last alone.
function latest(f) {
  let next = null, running = false;
  return async value => {
    next = [value];
    if (running) return;
    running = true;
    while (next) {
      const [one] = next;
      next = null;
      await f(one).catch(fail);
    }
    running = false;
  };
}

const now = {
  plot: null, input: "", label: "", files: [], stack: false, example: false, volume: "", about: null, curve: null,
  plane: null, level: "0", image: null, counter: null,
};

const options = () => ({
  input: now.input, stack: now.stack, volume: now.volume,
  construction: document.querySelector("[name=construction]:checked").value,
  superlevel: document.querySelector("[name=set]:checked").value === "super",
  nan: $("nan").checked ? "mask" : "refuse",
});

// asked names a question about a set, so that a late answer is known for what it is of.
const asked = level => JSON.stringify([options(), level]);

function fail(err) {
  if (err instanceof Stopped) return;
  $("status").textContent = "";
  $("progress").hidden = true;
  document.body.classList.remove("busy");
  const fault = $("fault"), nan = err.fault && err.fault.nan && !$("nan").checked;
  fault.replaceChildren(Object.assign(document.createElement("p"), { textContent: plain(err.message) }));
  if (nan) {
    const button = Object.assign(document.createElement("button"),
      { type: "button", className: "button", textContent: "Leave NaN out of the image" });
    button.onclick = () => { $("nan").checked = true; open(); };
    fault.append(button);
  }
  fault.hidden = false;
}

// plain is an error as a sentence, which begins with a capital letter unless it begins with a name. Options that an
// error names are those of the command.
const plain = text => (text.startsWith(now.input) ? text : text.charAt(0).toUpperCase() + text.slice(1)) +
  (/ --[a-z]|give both/.test(text) ? ". The page has no such option: use the command, eccbench curve." : "");

function say(text, done) {
  $("status").textContent = text;
  $("progress").hidden = done === undefined;
  if (done > 0) $("progress").value = done;
  else $("progress").removeAttribute("value");
}

const progress = (what, done) => {
  if (!document.body.classList.contains("busy")) return;
  if ($("status").dataset.what !== what) {
    $("status").dataset.what = what;
    say(what.charAt(0).toUpperCase() + what.slice(1) + " …", done);
  }
  if (done > 0) $("progress").value = done;
};

function helpers(image = true) {
  if (image && now.image) now.image.stop();
  if (now.counter) now.counter.stop();
  const files = now.files.map(f => [f.path, f.file]);
  if (image) now.image = new Helper(files, () => undefined);
  now.counter = new Helper(files, progress);
}

// begin clears the answer and the fault of the last question.
function begin() {
  $("fault").hidden = true;
  $("fault").replaceChildren();
  document.body.classList.add("busy");
  delete $("status").dataset.what;
  clearAnswer();
}

// open reads the chosen image, and asks for its slice, its curve and its Betti numbers.
async function open() {
  begin();
  $("name").textContent = now.label;
  $("about").textContent = "";
  now.about = now.plane = null;
  helpers();
  say("Reading the image …", 0);
  const curve = findCurve();
  curve.catch(() => undefined); // reported below
  try {
    now.about = (await now.image.ask({ what: "open", ...options() })).reply;
  } catch (err) {
    $("answer").hidden = true;
    return fail(err);
  }
  $("answer").hidden = false;
  describe();
  await curve.catch(fail);
}

function describe() {
  const a = now.about, [z, y, x] = a.shape, name = now.example ? `${a.name}: ` : "";
  if (a.volumes > 1 && now.volume === "") now.volume = "0";
  showCommand();
  const extent = a.axes === 3 ? `${x} × ${y} × ${z}` : `${x} × ${y}`;
  $("about").textContent = `${name}${extent} ${a.type}, values ${a.range.map(minus).join(" to ")}` +
    (a.missing ? `; ${a.missing}` : "");
  $("volumes").hidden = a.volumes < 2;
  $("volume").max = a.volumes - 1;
  $("volumeCount").textContent = `of ${a.volumes}`;
  $("slices").hidden = a.axes < 3;
  $("cavities").hidden = a.axes < 3;
  $("b1name").textContent = a.axes < 3 ? "holes" : "tunnels";
  $("nanLabel").hidden = a.type.slice(0, 5) !== "float";
  const level = $("level");
  level.min = a.least;
  level.max = a.most;
  level.step = a.whole ? 1 : (a.most - a.least) / 1000 || 1;
  chooseAxis();
  drawPlot().catch(fail);
  setLevel(a.whole ? String(Math.floor((a.least + a.most) / 2)) : String(+((a.least + a.most) / 2).toPrecision(6)));
}

function clearAnswer() {
  now.curve = now.set = now.plot = now.chi = now.chiOf = null;
  $("csv").disabled = $("svg").disabled = true;
  $("marker").hidden = $("dot").hidden = true;
  $("drawing").replaceChildren();
  $("drawing").hidden = true;
  $("details").open = false;
  $("comment").textContent = "";
  $("rows").replaceChildren();
  for (const id of ["chi", "b0", "b1", "b2"]) $(id).textContent = "–";
  showCommand();
}

function showCommand() {
  const o = options();
  const volume = now.volume === "" ? "" : ` --volume ${now.volume}`;
  const quoted = /[^\w./=-]/.test(now.label) ? `'${now.label.replaceAll("'", `'\\''`)}'` : now.label;
  const image = now.example ? now.input : quoted;
  $("command").textContent = `eccbench curve ${now.stack ? "--stack " : ""}${image}${volume}` +
    (o.superlevel ? " --superlevel" : "") + (o.construction === "V" ? " --construction V" : "") +
    (o.nan === "mask" ? " --nan mask" : "");
}

// findCurve asks for the curve and draws it.
async function findCurve() {
  const from = performance.now();
  const counter = now.counter;
  const { reply } = await counter.ask({ what: "curve", ...options() });
  now.curve = reply;
  const seconds = (performance.now() - from) / 1000;
  $("csv").disabled = $("svg").disabled = false;
  $("comment").textContent = reply.comment;
  document.body.classList.remove("busy");
  const duration = seconds.toFixed(seconds < 1 ? 2 : 1);
  say(`VERIFIED: ${plural(reply.rows, "level")} at which χ changes, in ${duration}\u00a0s`);
  $("status").title = `by ${reply.witness}`;
  await drawPlot();
  await askChi(now.level);
}

const drawPlot = async () => {
  if (!now.curve || !now.about) return;
  const width = Math.max(320, Math.min(760, $("plot").clientWidth));
  const { least, most, range } = now.about;
  const { reply } = await now.counter.ask({ what: "plot", ...options(), width, least, most });
  const svg = new DOMParser().parseFromString(reply.svg, "image/svg+xml").documentElement;
  const box = svg.getAttribute("viewBox").split(" ").map(Number);
  now.plot = { ...reply, least, most, wide: box[2], high: box[3] };
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  svg.removeAttribute("role");
  svg.querySelector("title").remove();
  $("drawing").replaceChildren(svg);
  $("drawing").hidden = false;
  $("drawing").setAttribute("aria-label", `χ by level, from ${range.map(minus).join(" to ")}`);
  const place = v => 100 * across(v) / now.plot.wide;
  $("level").style.marginLeft = `calc(${place(least)}% - 8px)`;
  $("level").style.width = `calc(${Math.max(1, place(most) - place(least))}% + 16px)`;
  mark();
};

// across is the pixel of a level in the drawing.
function across(level) {
  const { least, most, left, right } = now.plot;
  return most > least ? left + (level - least) * (right - left) / (most - least) : left;
}

function mark() {
  if (!now.plot || !now.curve || now.chi === null) return;
  const { wide, high, zero, one } = now.plot, x = Math.min(Math.max(across(Number(now.level)), 0), wide);
  $("marker").hidden = $("dot").hidden = false;
  $("marker").style.left = $("dot").style.left = `${100 * x / wide}%`;
  $("dot").style.top = `${100 * (zero + now.chi * (one - zero)) / high}%`;
}

// setLevel shows the set at a level, and asks for its numbers.
function setLevel(text) {
  now.level = text;
  if ($("levelText") !== document.activeElement) $("levelText").value = text;
  $("level").value = text;
  paint();
  $("betti").classList.add("stale");
  askSet(text);
  if (now.curve) askChi(text);
}

const askChi = latest(async text => {
  if (!now.curve) return;
  const of = asked(text), { reply } = await now.counter.ask({ what: "chi", ...options() }, text);
  if (of !== asked(now.level)) return;
  now.chi = reply;
  now.chiOf = of;
  $("chi").textContent = grouped(now.chi);
  $("level").setAttribute("aria-valuetext", `${minus(text)}, χ ${minus(now.chi)}`);
  mark();
  compare();
});

const askSet = latest(async text => {
  now.set = null;
  const of = asked(text), { reply } = await now.image.ask({ what: "set", ...options() }, text);
  if (of !== asked(now.level)) return;
  now.set = { ...reply, of };
  $("b0").textContent = grouped(reply.b0);
  $("b1").textContent = grouped(reply.b1);
  $("b2").textContent = grouped(reply.b2);
  $("betti").title = `VERIFIED by ${reply.witness}`;
  $("betti").classList.remove("stale");
  compare();
});

// compare holds χ of the curve to that of the Betti numbers, which another method counts.
function compare() {
  if (now.set && now.set.of === now.chiOf && now.set.chi !== now.chi) {
    $("answer").hidden = true;
    fail(new Error(`the curve has χ ${now.chi} at ${now.level}, and the Betti numbers ${now.set.chi}: ` +
      "one of them is wrong. Please report this as a bug."));
  }
}

const chosenAxis = () => Number(document.querySelector("[name=axis]:checked").value);

function chooseAxis() {
  if (!now.about) return;
  const n = now.about.shape[chosenAxis()];
  $("slice").max = n - 1;
  $("slice").value = n >> 1;
  showSlice();
}

function showSlice() {
  if (!now.about) return;
  const axis = chosenAxis();
  $("sliceOf").textContent = `${Number($("slice").value) + 1} of ${now.about.shape[axis]}`;
  askSlice({ axis, index: now.about.axes === 3 ? Number($("slice").value) : 0 });
}

const askSlice = latest(async ({ axis, index }) => {
  const { reply, bytes } = await now.image.ask({ what: "slice", ...options(), axis, index });
  now.plane = { ...reply, axis, values: new (now.about.wide ? Float64Array : Float32Array)(bytes.buffer) };
  paint();
});

// paint draws the slice, and the set over it.
function paint() {
  if (!now.plane || !now.about) return;
  const { width, height, values } = now.plane, { least, most } = now.about;
  const canvas = $("picture"), above = options().superlevel;
  // A level is rounded to the type of the image, as the counts do.
  const level = now.about.type === "float32" ? Math.fround(now.level) : Number(now.level);
  canvas.width = width;
  canvas.height = height;
  const image = new ImageData(width, height), scale = 255 / (most - least || 1);
  let set = 0, all = 0;
  for (let i = 0; i < values.length; i++) {
    const v = values[i], at = 4 * i;
    if (!Number.isFinite(v)) continue; // no part of the image
    all++;
    const grey = (v - least) * scale, within = above ? v >= level : v <= level;
    if (within) set++;
    for (let c = 0; c < 3; c++) image.data[at + c] = within ? 0.42 * grey + 0.58 * tint[c] + 20 : grey;
    image.data[at + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.classList.toggle("upward", now.plane.axis > 0); // z points up
  canvas.classList.toggle("small", Math.max(width, height) < 420);
  const share = all ? 100 * set / all : 0;
  const text = `${share.toFixed(share < 1 && share > 0 ? 2 : 0)} % of the ${now.about.axes === 3 ? "slice" : "image"}`;
  $("share").textContent = text;
  $("keyIn").textContent = above ? `≥ ${minus(now.level)}` : `≤ ${minus(now.level)}`;
  $("keyOut").textContent = above ? `< ${minus(now.level)}` : `> ${minus(now.level)}`;
  canvas.setAttribute("aria-label", `The image, with the set at level ${minus(now.level)} drawn over it: ${text}`);
}

// changeConvention asks again about the same image.
async function changeConvention() {
  if (!now.about) return open();
  begin();
  helpers(false);
  setLevel(now.level);
  await findCurve().catch(fail);
}

// choose takes files: one image, a header and its voxels, or the slices of a stack.
function choose(list) {
  const usable = list.filter(f => !/^(\.DS_Store|\._.*|Thumbs\.db)$/.test(f.file.name)); // which systems add
  if (usable.length === 0) return fail(new Error("there is no file in what was dropped."));
  const paths = usable.map(f => f.path);
  const arrays = paths.map(p => p.match(/^(.+)\/(zarr\.json|\.zarray|\.zgroup)$/)).filter(Boolean).map(m => m[1]);
  const zarrs = arrays.filter(p => !arrays.some(q => p.startsWith(`${q}/`))); // the folders of whole hierarchies
  const outside = paths.filter(p => !zarrs.some(z => p.startsWith(`${z}/`)));
  const headed = [...zarrs, ...outside.filter(p => /\.(mhd|nhdr|hdr|hdr\.gz)$/i.test(p))];
  const ofOne = /\.(png|bmp|tiff?|np[yz]|nii|nrrd|mha|mrcs?|isq|fits?|fts|dcm|ima)(\.(gz|bz2))?$/i;
  const stack = usable.length > 1 && headed.length === 0;
  const folders = paths.map(p => p.slice(0, Math.max(0, p.lastIndexOf("/"))));
  const named = headed.length > 0 ? [...headed, ...outside.filter(p => ofOne.test(p))] : stack ? folders : paths;
  const images = [...new Set(named)].sort();
  if (images.length > 1) {
    const some = images.slice(0, 4).map(i => i || "files without a folder");
    if (images.length > 4) some.push("…");
    return fail(new Error(`these are ${images.length} images: ${some.join(", ")}. Choose one of them.`));
  }
  const folder = images[0] || "slices";
  now.example = false;
  now.volume = "";
  now.stack = stack;
  now.files = stack ? usable.map(f => ({ file: f.file, path: `${folder}/${f.file.name}` })) : usable;
  now.input = now.label = folder;
  open();
}

// dropped lists the files of a drop, with those of its folders.
async function dropped(items) {
  const files = [];
  const walk = async (entry, path) => {
    if (entry.isFile) {
      files.push({ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), path });
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0) return;
      for (const e of some) await walk(e, `${path}/${e.name}`);
    }
  };
  for (const entry of items.map(i => i.webkitGetAsEntry()).filter(Boolean)) await walk(entry, entry.name);
  return files;
}

function save(bytes, name, type) {
  const href = URL.createObjectURL(new Blob([bytes], { type }));
  const link = Object.assign(document.createElement("a"), { href, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

const base = () => now.example ? now.input.split("/")[0] : now.label.split("/").pop();
const take = (what, type) => async () => {
  try {
    const { bytes } = await now.counter.ask({ what, ...options() });
    save(bytes, `${base()}.${what}`, type);
  } catch (err) {
    fail(err);
  }
};

async function fillTable() {
  if (!$("details").open || !now.curve || $("rows").childElementCount > 0) return;
  const most = 500;
  const { reply } = await now.counter.ask({ what: "rows", ...options(), rows: most });
  $("rows").replaceChildren(...reply.map(row => {
    const tr = document.createElement("tr");
    const cell = v => Object.assign(document.createElement("td"), { textContent: minus(v) });
    tr.append(...[row.level, row.change, row.chi].map(cell));
    return tr;
  }));
  $("caption").textContent = now.curve.rows > most
    ? `The first ${most} of ${grouped(now.curve.rows)} levels; the CSV has all.`
    : `${plural(now.curve.rows, "level")} at which χ changes.`;
}

$("files").onchange = event => {
  const files = [...event.target.files].map(file => ({ file, path: file.name }));
  event.target.value = ""; // so that the same file can be chosen again
  if (files.length > 0) choose(files);
};
for (const button of document.querySelectorAll("[data-input]")) {
  button.onclick = () => {
    const { input, label } = button.dataset;
    Object.assign(now, { files: [], stack: false, example: true, volume: "", input, label });
    $("nan").checked = false;
    open();
  };
}
$("level").oninput = event => {
  if (!now.about) return;
  const { least, most, range, whole } = now.about, v = Number(event.target.value);
  const between = whole ? Math.round(v) : +v.toPrecision(6);
  setLevel(v >= most ? range[1] : v <= least ? range[0] : String(between));
};
$("levelText").oninput = event => {
  const text = event.target.value.trim().replace("−", "-");
  const valid = /^-?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?$/i.test(text);
  event.target.setAttribute("aria-invalid", String(!valid));
  if (valid && now.about) setLevel(text);
};
$("levelText").onblur = event => {
  event.target.value = now.level;
  event.target.removeAttribute("aria-invalid");
};
$("slice").oninput = showSlice;
$("axis").onchange = chooseAxis;
$("volume").onchange = event => {
  now.volume = event.target.value;
  open();
};
for (const input of document.querySelectorAll("[name=set], [name=construction]")) input.onchange = changeConvention;
$("nan").onchange = open;
$("csv").onclick = take("csv", "text/csv");
$("svg").onclick = take("svg", "image/svg+xml");
$("details").ontoggle = () => fillTable().catch(fail);

const pointLevel = event => {
  if (!now.plot || !now.about || event.buttons !== 1) return;
  const box = $("plot").getBoundingClientRect(), x = (event.clientX - box.left) / box.width * now.plot.wide;
  const { least, most, left, right } = now.plot;
  if (right <= left) return;
  $("level").value = least + (x - left) * (most - least) / (right - left);
  $("level").oninput({ target: $("level") });
};
$("plot").onpointerdown = event => {
  $("plot").setPointerCapture(event.pointerId);
  pointLevel(event);
};
$("plot").onpointermove = pointLevel;
let width = 0;
new ResizeObserver(() => {
  if (Math.abs($("plot").clientWidth - width) < 8 || !now.curve) return;
  width = $("plot").clientWidth;
  drawPlot().catch(fail);
}).observe($("plot"));

addEventListener("dragover", event => {
  event.preventDefault();
  $("veil").hidden = false;
});
addEventListener("dragleave", event => { if (!event.relatedTarget) $("veil").hidden = true; });
addEventListener("drop", event => {
  event.preventDefault();
  $("veil").hidden = true;
  dropped([...event.dataTransfer.items].filter(i => i.kind === "file")).then(choose, fail);
});

if ("serviceWorker" in navigator) navigator.serviceWorker.register("sw.js").catch(() => undefined);
if ("DecompressionStream" in window) document.querySelector("[data-input]").click();
else fail(new Error("this browser is too old for the page: it needs one of 2023 or later."));
