"use strict";
// A worker of the page: one Go program (web/wasm), and the chosen files, which it reads as from a disk.

const files = new Map(); // path → File; a folder is a prefix of paths
const opened = new Map(); // descriptor → { path, file, at }
const reader = new FileReaderSync();
const blockSize = 4 << 20; // short reads are of blocks; the last one is kept
let block = { file: null, from: 0, bytes: null };
let descriptors = 100;

const isFolder = path => path === "." || [...files.keys()].some(name => name.startsWith(path + "/"));
const clean = path => path.replace(/^(\.?\/)+/, "").replace(/\/+$/, "") || ".";
const failure = code => Object.assign(new Error(code), { code });

function status(path) {
  const file = files.get(path);
  if (!file && !isFolder(path)) throw failure("ENOENT");
  const time = file ? file.lastModified : 0;
  return {
    dev: 1, ino: file ? [...files.keys()].indexOf(path) + 1 : 0, mode: file ? 0o100444 : 0o40555,
    nlink: 1, uid: 0, gid: 0, rdev: 0,
    size: file ? file.size : 0, blksize: 4096, blocks: file ? Math.ceil(file.size / 512) : 0,
    atimeMs: time, mtimeMs: time, ctimeMs: time, isDirectory: () => !file,
  };
}

function bytesOf(file, from, to) {
  try {
    return new Uint8Array(reader.readAsArrayBuffer(file.slice(from, to)));
  } catch {
    throw failure("EIO");
  }
}

function read(file, into, at) {
  const end = Math.min(file.size, at + into.length);
  if (end - at >= blockSize) {
    into.set(bytesOf(file, at, end));
    return end - at;
  }
  for (let from = at; from < end;) {
    const start = from - from % blockSize;
    if (block.file !== file || block.from !== start) {
      block = { file, from: start, bytes: bytesOf(file, start, Math.min(file.size, start + blockSize)) };
    }
    const some = block.bytes.subarray(from - start, end - start);
    into.set(some, from - at);
    from += some.length;
  }
  return Math.max(0, end - at);
}

// calling makes a function of Node's file system of one that returns or throws.
const calling = f => (...args) => {
  const done = args.pop();
  let result;
  try {
    result = f(...args);
  } catch (err) {
    done(err.code ? err : failure("EIO"));
    return;
  }
  done(null, result);
};

let said = ""; // by the program before it ended
globalThis.fs = {
  constants: { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_TRUNC: 512, O_APPEND: 1024, O_EXCL: 128, O_DIRECTORY: 65536 },
  writeSync(_, bytes) {
    said = (said + new TextDecoder().decode(bytes)).slice(0, 1000);
    return bytes.length;
  },
  write(fd, bytes, offset, length, _, done) {
    done(null, this.writeSync(fd, bytes.subarray(offset, offset + length)));
  },
  open: calling((name, flags) => {
    const path = clean(name);
    if (flags & 3) throw failure("EROFS");
    status(path);
    opened.set(++descriptors, { path, file: files.get(path), at: 0 });
    return descriptors;
  }),
  close: calling(fd => { opened.delete(fd); }),
  fstat: calling(fd => {
    if (!opened.has(fd)) throw failure("EBADF");
    return status(opened.get(fd).path);
  }),
  stat: calling(name => status(clean(name))),
  lstat: calling(name => status(clean(name))),
  readdir: calling(name => {
    const path = clean(name), below = path === "." ? "" : path + "/";
    const paths = [...files.keys()].filter(f => f.startsWith(below));
    return [...new Set(paths.map(f => f.slice(below.length).split("/")[0]))];
  }),
  read: calling((fd, into, offset, length, position) => {
    const f = opened.get(fd);
    if (!f || !f.file) throw failure("EBADF");
    const n = read(f.file, into.subarray(offset, offset + length), position ?? f.at);
    if (position === null || position === undefined) f.at += n;
    return n;
  }),
  fsync: calling(() => undefined),
};
globalThis.process = {
  getuid: () => -1, getgid: () => -1, geteuid: () => -1, getegid: () => -1, pid: -1, ppid: -1, cwd: () => "/",
};

importScripts("wasm_exec.js");

const numbers = []; // of the questions that wait
globalThis.progress = (what, done) => postMessage({ progress: what, done });
globalThis.reply = (text, bytes) =>
  postMessage({ number: numbers.shift(), reply: JSON.parse(text), bytes }, [bytes.buffer]);
const program = new Promise(resolve => { globalThis.ready = resolve; });

onmessage = async ({ data }) => {
  if (data.module) {
    for (const [path, file] of data.files) files.set(path, file);
    const go = new Go();
    go.exit = () => postMessage({ ended: said });
    const instance = await WebAssembly.instantiate(data.module, go.importObject);
    go.run(instance).catch(err => postMessage({ ended: said || String(err) }));
    return;
  }
  const ask = await program;
  numbers.push(data.number);
  try {
    ask(data.question);
  } catch (err) {
    postMessage({ ended: said || String(err) });
  }
};
