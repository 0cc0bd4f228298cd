// node-programs: sources loaded into Node processes of a check: one file that watches the built-ins, and one reporter per test runner.
// Text, because it runs in the project's own Node and is not a module of ours.
//
// Invariants:
//   P1. It may neither end a check nor change its output: errors in here are dropped, and then no record arrives.
//   P2. It is loaded before any code of the project and keeps its own references: later replacements are detected, not used.
//   P3. A process in which the project's code runs finds neither its option in the environment nor its module in the cache.

/** Where records go; `channel` is a named pipe, `folder` has these programs. */
export type ReporterChannel = { readonly folder: string; readonly channel: string; readonly nonce: string; readonly key: string };

export function nodePrograms(channel: ReporterChannel): Readonly<Record<string, string>> {
  const prelude = `const place = ${JSON.stringify(channel)};\n${report}`;
  return {
    "a.cjs": `"use strict";\n(() => {\ntry {\nconst fs = require("fs");\nconst { createHash, Hash } = require("crypto");\n${prelude}${preload}\n} catch {}\n})();\n`,
    "t.mjs": `import * as fs from "node:fs";\nimport { createHash, Hash } from "node:crypto";\nimport { Readable } from "node:stream";\nimport { spec, tap } from "node:test/reporters";\n${prelude}${nodeTest}`,
    "v.mjs": `import * as fs from "node:fs";\nimport { createHash, Hash } from "node:crypto";\nimport { relative } from "node:path";\n${prelude}${vitest}`,
    "j.cjs": `"use strict";\nconst fs = require("fs");\nconst { createHash, Hash } = require("crypto");\nconst { relative } = require("path");\n${prelude}${jest}`,
    "m.cjs": `"use strict";\nconst fs = require("fs");\nconst { createHash, Hash } = require("crypto");\n${prelude}${mocha}`,
  };
}

const report = String.raw`
const quoted = encodeURIComponent;
const { openSync, writeSync } = fs;
const id = process.pid + "." + Math.random().toString(36).slice(2, 8);
let [fd, count] = [null, 0];
const { apply } = Reflect;
const [{ slice, toWellFormed }, { update, digest }] = [String.prototype, Hash.prototype];
const sealOf = (text) => apply(slice, apply(digest, apply(update, createHash("sha256"), [place.key + text + place.key]), ["hex"]), [0, 32]);
const emit = (...fields) => {
  try {
    if (fd === null) fd = openSync(place.channel, "w");
    let line = "";
    for (let at = 0; at < fields.length; at++) {
      const short = apply(slice, String(fields[at]), [0, 300]);
      line += "\t" + quoted(toWellFormed === undefined ? short : apply(toWellFormed, short, []));
    }
    count += 1;
    writeSync(fd, place.nonce + "\t" + id + "\t" + count + "." + sealOf(id + "\t" + count + line) + line + "\n");
  } catch {}
};
`;

const preload = String.raw`
const path = require("path");
const isThread = !require("worker_threads").isMainThread;
const { env, argv, execArgv } = process;
const option = [" --require=" + place.folder + "/a.cjs", " --test-reporter=" + place.folder + "/t.mjs"];
const program = (() => {
  try {
    return fs.realpathSync(argv[1] ?? "").replaceAll("\\", "/");
  } catch {
    return "";
  }
})();
const runner =
  /\/vitest\/[^/]*\.mjs$/.test(program) ? "vitest"
  : /\/jest(?:-cli)?\/bin\/jest\.js$/.test(program) ? "jest"
  : /\/mocha\/bin\/_?mocha(?:\.js)?$/.test(program) ? "mocha"
  : execArgv.includes("--test") ? "node"
  : null;
const isLeaf = env.NODE_TEST_CONTEXT !== undefined || env.VITEST !== undefined || env.JEST_WORKER_ID !== undefined;
if ((isLeaf || runner === "jest" || runner === "mocha") && env.NODE_OPTIONS !== undefined) {
  let rest = " " + env.NODE_OPTIONS;
  for (const word of option) rest = rest.replace(word, "");
  if (rest.trim() === "") delete env.NODE_OPTIONS;
  else env.NODE_OPTIONS = rest.trim();
}
delete require.cache[__filename];
const siblings = module.parent?.children;
if (siblings?.includes(module)) siblings.splice(siblings.indexOf(module), 1);
const has = (...words) => argv.some((word) => words.some((one) => word === one || word.startsWith(one + "=")));
/** The text of the nearest settings file, searched upwards from here; "unread" if it cannot be read, null if there is none. */
const settings = (names) => {
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    const texts = names.flatMap((name) => {
      const file = path.join(folder, name);
      if (!fs.existsSync(file)) return [];
      try {
        const text = fs.readFileSync(file, "utf8");
        const jest = name === "package.json" ? (JSON.parse(text).jest ?? {}) : undefined;
        return [jest === undefined ? text : typeof jest === "string" ? "unread" : JSON.stringify(jest)];
      } catch {
        return ["unread"];
      }
    });
    if (texts.length > 0) return texts.join("\n");
    if (path.dirname(folder) === folder) return null;
  }
};
/** Reporters on the command line replace those of the configuration, so none is added if the project may have its own. */
const mayHaveOwn = /\breporters?\b|\bpresets?\b|\bextends\b|\bmergeConfig\b|\brequire\s*\(|\bimport\s*\(|\.\.\.|\bfrom\s*["'][./]|^unread$/m;
const isElsewhere = has("-c", "-r", "--config", "--root", "--rootDir", "--projects", "--preset", "--workspace");
const ends = ["ts", "mts", "cts", "js", "mjs", "cjs"];
if (!isThread && runner === "vitest" && !has("--help", "-h", "bench", "list")) {
  const found = settings(["vitest", "vite"].flatMap((name) => ends.map((end) => name + ".config." + end)));
  if (has("--reporter")) argv.push("--reporter=" + place.folder + "/v.mjs");
  else if (!isElsewhere && (found === null || !mayHaveOwn.test(found))) argv.push("--reporter=default", "--reporter=" + place.folder + "/v.mjs");
}
if (!isThread && runner === "jest" && !isElsewhere && !has("--reporters", "--json", "--listTests", "--help", "--version", "--")) {
  const found = settings(["package.json", ...[...ends, "json"].map((end) => "jest.config." + end)]);
  if (found !== null && !mayHaveOwn.test(found)) argv.push("--reporters=default", "--reporters=" + place.folder + "/j.cjs");
}
if (!isThread && runner === "mocha" && !has("--")) argv.push("--require=" + place.folder + "/m.cjs");

// The built-ins that tests compute and compare with, as they are before any code of the project is loaded.
const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const originals = [];
const seen = new Set();
const keep = (name, holder, only) => {
  if (holder === null || (typeof holder !== "object" && typeof holder !== "function") || seen.has(holder)) return;
  seen.add(holder);
  for (const key of only ?? ownKeys(holder)) {
    const found = getOwnPropertyDescriptor(holder, key);
    if (found === undefined || key === "prepareStackTrace") continue;
    const value = found.value ?? found.get;
    if (typeof value === "function" || (name === "" && typeof value === "object" && value !== null)) originals.push([holder, key, value, name]);
  }
};
/** Prototypes that all values share: a key added to one affects every value. */
const shared = ["Object", "Array", "String", "Number", "Function"].map((name) => {
  const holder = globalThis[name].prototype;
  return [name + ".prototype", holder, new Set(ownKeys(holder))];
});
const language =
  "Object Function Array String Number Boolean Symbol BigInt Math JSON Reflect Promise Map Set WeakMap WeakSet Date RegExp Error TypeError RangeError ArrayBuffer DataView Uint8Array Float64Array Intl".split(" ");
keep("", globalThis, [...language, "Proxy", "parseInt", "parseFloat", "isNaN", "isFinite", "structuredClone", "setTimeout", "setInterval", "setImmediate", "queueMicrotask"]);
for (const name of language) {
  const found = globalThis[name];
  keep(name, found);
  if (typeof found === "function") keep(name + ".prototype", found.prototype);
}
for (const [name, one] of [["Array iterator", [].values()], ["Map iterator", new Map().values()], ["Set iterator", new Set().values()], ["String iterator", ""[Symbol.iterator]()], ["generator", (function* () {})()]]) {
  keep(name, getPrototypeOf(one));
  keep(name, getPrototypeOf(getPrototypeOf(one)));
}
keep("typed array", getPrototypeOf(Uint8Array));
keep("typed array", getPrototypeOf(Uint8Array.prototype));
const assert = require("assert");
keep("assert", assert);
keep("assert.strict", assert.strict);
keep("util", require("util"), ["isDeepStrictEqual", "inspect", "promisify"]);
keep("crypto", require("crypto"), ["randomBytes", "randomInt", "randomUUID", "createHash", "timingSafeEqual"]);
keep("process", process, ["exit", "abort", "kill", "hrtime"]);
const replaced = new Set();
const { has: isKnown, add: know, delete: forget } = Set.prototype;
const nameOf = (name, key) => (name === "" ? "" : name + ".") + (typeof key === "symbol" ? "[" + String(key.description) + "]" : key);
const changed = (full, isNow) => {
  if (apply(isKnown, replaced, [full]) === isNow) return;
  apply(isNow ? know : forget, replaced, [full]);
  emit(isNow ? "replaced" : "restored", full);
};
/** A replacement that is undone between tests is allowed, since mocks do that; one that is left at the end is not. */
const compare = (isEnd) => {
  try {
    compareAll(isEnd);
  } catch {}
};
const compareAll = (isEnd) => {
  for (let at = 0; at < shared.length; at++) {
    const one = shared[at];
    const keys = ownKeys(one[1]);
    for (let n = 0; n < keys.length; n++) if (!apply(isKnown, one[2], [keys[n]])) changed(nameOf(one[0], keys[n]), true);
  }
  for (let at = 0; at < originals.length; at++) {
    const one = originals[at];
    const now = getOwnPropertyDescriptor(one[0], one[1]);
    const isNow = now === undefined || (now.value !== one[2] && now.get !== one[2]);
    if (isNow || !isEnd) changed(nameOf(one[3], one[1]), isNow);
  }
};
emit(isLeaf && !isThread && env.NODE_TEST_CONTEXT !== undefined ? "open" : "loaded", "node");
process.on("beforeExit", () => compare(true));
process.on("exit", () => {
  compare(true);
  if (isLeaf && !isThread && env.NODE_TEST_CONTEXT !== undefined) emit("close");
});
// A worker of vitest is killed from outside, so its built-ins are compared whenever it sends its parent a message.
if (env.VITEST !== undefined) {
  const compareBefore = (holder, name) => {
    const send = holder?.[name];
    if (typeof send !== "function") return;
    holder[name] = function (...args) {
      compare(false);
      return send.apply(this, args);
    };
  };
  compareBefore(process, "send");
  compareBefore(globalThis.MessagePort?.prototype, "postMessage");
}
`;

const nodeTest = String.raw`
const major = Number(process.versions.node.split(".")[0]);
export default async function* report(source) {
  emit("runner", "node:test");
  const titles = [];
  async function* recorded() {
    for await (const event of source) {
      try {
        const { name, nesting, skip, todo, details, file } = event.data ?? {};
        if (event.type === "test:start") titles[nesting] = name;
        if (event.type === "test:pass" || event.type === "test:fail") {
          const full = [...titles.slice(0, nesting), name].join(" > ");
          const hasPassed = event.type === "test:pass";
          const isOff = (skip !== undefined && skip !== false) || (todo !== undefined && todo !== false);
          const isFile = nesting === 0 && file !== undefined && (name === file || file.endsWith("/" + name)) && hasPassed;
          emit(details?.type === "suite" ? "suite" : isFile ? "file" : "test", isOff ? "skipped" : hasPassed ? "passed" : "failed", full);
        }
      } catch {}
      yield event;
    }
    emit("done");
  }
  if (process.stdout.isTTY || major >= 23) yield* Readable.from(recorded()).compose(new spec());
  else yield* tap(recorded());
}
`;

const vitest = String.raw`
const states = { pass: "passed", passed: "passed", fail: "failed", failed: "failed" };
export default class {
  hasReported = false;
  onFinished(files = []) {
    const walk = (task, names) => {
      const path = [...names, task.name];
      if (task.type === "suite") for (const one of task.tasks ?? []) walk(one, path);
      else emit("test", states[task.result?.state] ?? "skipped", path.join(" > "));
    };
    this.end(() => {
      for (const file of files) {
        const path = relative(process.cwd(), file.filepath);
        for (const one of file.tasks) walk(one, [path]);
        if (file.result?.state === "fail" && file.tasks.length === 0) emit("test", "failed", path);
      }
    });
  }
  onTestRunEnd(modules = []) {
    this.end(() => {
      for (const module of modules) {
        const path = relative(process.cwd(), module.moduleId);
        let many = 0;
        for (const test of module.children.allTests()) {
          many += 1;
          emit("test", states[test.result()?.state] ?? "skipped", path + " > " + test.fullName);
        }
        if (many === 0 && module.state() === "failed") emit("test", "failed", path);
      }
    });
  }
  end(work) {
    if (this.hasReported) return;
    this.hasReported = true;
    emit("runner", "vitest");
    try {
      work();
      emit("done");
    } catch {}
  }
}
`;

const jest = String.raw`
module.exports = class {
  onRunStart() {
    emit("runner", "jest");
  }
  onTestResult(test, result) {
    try {
      const path = relative(process.cwd(), result.testFilePath);
      for (const { ancestorTitles, title, status } of result.testResults)
        emit("test", status === "passed" || status === "failed" ? status : "skipped", path + " > " + [...ancestorTitles, title].join(" › "));
      if (result.testResults.length === 0 && (result.testExecError ?? result.failureMessage)) emit("test", "failed", path);
    } catch {}
  }
  onRunComplete() {
    emit("done");
  }
};
`;

const mocha = String.raw`
try {
  const { Runner } = require(require.resolve("mocha", { paths: [fs.realpathSync(process.argv[1])] }));
  const { run } = Runner.prototype;
  let isRunning = false;
  Runner.prototype.run = function (...args) {
    if (isRunning) return run.apply(this, args); // a test of tests: not the check's own
    isRunning = true;
    emit("runner", "mocha");
    const on = (event, status) => this.on(event, (test) => emit("test", status, test.titlePath().join(" > ")));
    on("pass", "passed");
    on("fail", "failed");
    on("pending", "skipped");
    this.on("end", () => emit("done", (isRunning = false)));
    return run.apply(this, args);
  };
} catch {}
`;
