// node-programs: the source texts that are loaded into the Node processes of a check: one watches
// the built-ins, and each test runner gets a reporter. They are text, because they run in the
// project's own Node and are no modules of ours.
//
// Invariants:
//   P1. They may neither end a check nor change its output: errors in here are dropped, and then no
//       record arrives.
//   P2. They are loaded before any code of the project and keep their own references: later
//       replacements are detected, not used. So lists are walked by index in what runs later: an
//       iterator could have been replaced.
//   P3. A process in which the project's code runs finds neither their option in the environment
//       nor their module in the cache.

import { jestReporter, mochaReporter, nodeTestReporter, vitestReporter } from "./node-reporters.ts";

/** Where records go. `pipe`: the path of a named pipe. `folder`: where these programs are. */
export type ReporterChannel = {
  readonly folder: string;
  readonly pipe: string;
  readonly nonce: string;
  readonly key: string;
};

/**
 * The programs by file name: `a.cjs` is loaded into every process, the others are reporters of
 * node:test, vitest, jest and mocha.
 */
export function buildNodePrograms(channel: ReporterChannel): Readonly<Record<string, string>> {
  const prelude = `const channel = ${JSON.stringify(channel)};\n${emitSource}`;
  return {
    "a.cjs": `"use strict";\n(() => {\ntry {\nconst fs = require("fs");\nconst { createHash, Hash } = require("crypto");\n${prelude}${preloadSource}\n} catch {}\n})();\n`,
    "t.mjs": `import * as fs from "node:fs";\nimport { createHash, Hash } from "node:crypto";\nimport { Readable } from "node:stream";\nimport { spec, tap } from "node:test/reporters";\n${prelude}${nodeTestReporter}`,
    "v.mjs": `import * as fs from "node:fs";\nimport { createHash, Hash } from "node:crypto";\nimport { relative } from "node:path";\n${prelude}${vitestReporter}`,
    "j.cjs": `"use strict";\nconst fs = require("fs");\nconst { createHash, Hash } = require("crypto");\nconst { relative } = require("path");\n${prelude}${jestReporter}`,
    "m.cjs": `"use strict";\nconst fs = require("fs");\nconst { createHash, Hash } = require("crypto");\n${prelude}${mochaReporter}`,
  };
}

/**
 * `emit` writes one line: nonce, process, number with seal, then the encoded fields
 * (sealed-lines.ts).
 */
const emitSource = String.raw`
const encode = encodeURIComponent;
const { openSync, writeSync } = fs;
const id = process.pid + "." + Math.random().toString(36).slice(2, 8);
let pipe = null;
let count = 0;
const { apply } = Reflect;
const [{ slice, toWellFormed }, { update, digest }] = [String.prototype, Hash.prototype];
const sealOf = (text) => apply(slice, apply(digest, apply(update, createHash("sha256"), [channel.key + text + channel.key]), ["hex"]), [0, 32]);
const emit = (...fields) => {
  try {
    if (pipe === null) pipe = openSync(channel.pipe, "w");
    let line = "";
    for (let index = 0; index < fields.length; index++) {
      const short = apply(slice, String(fields[index]), [0, 300]);
      line += "\t" + encode(toWellFormed === undefined ? short : apply(toWellFormed, short, []));
    }
    count += 1;
    writeSync(pipe, channel.nonce + "\t" + id + "\t" + count + "." + sealOf(id + "\t" + count + line) + line + "\n");
  } catch {}
};
`;

const preloadSource = String.raw`
const path = require("path");
const isThread = !require("worker_threads").isMainThread;
const { env, argv, execArgv } = process;
const ownOptions = [" --require=" + channel.folder + "/a.cjs", " --test-reporter=" + channel.folder + "/t.mjs"];
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
/** Whether tests run in this process itself: a worker of a test runner. */
const isLeaf = env.NODE_TEST_CONTEXT !== undefined || env.VITEST !== undefined || env.JEST_WORKER_ID !== undefined;
if ((isLeaf || runner === "jest" || runner === "mocha") && env.NODE_OPTIONS !== undefined) {
  let options = " " + env.NODE_OPTIONS;
  for (const own of ownOptions) options = options.replace(own, "");
  if (options.trim() === "") delete env.NODE_OPTIONS;
  else env.NODE_OPTIONS = options.trim();
}
delete require.cache[__filename];
const siblings = module.parent?.children;
if (siblings?.includes(module)) siblings.splice(siblings.indexOf(module), 1);
const hasOption = (...options) => argv.some((word) => options.some((option) => word === option || word.startsWith(option + "=")));
/** The text of the nearest settings file, searched upwards from here; "unread" if it cannot be read, null if there is none. */
const readSettings = (names) => {
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
const mayHaveReporters = /\breporters?\b|\bpresets?\b|\bextends\b|\bmergeConfig\b|\brequire\s*\(|\bimport\s*\(|\.\.\.|\bfrom\s*["'][./]|^unread$/m;
const isConfigElsewhere = hasOption("-c", "-r", "--config", "--root", "--rootDir", "--projects", "--preset", "--workspace");
const extensions = ["ts", "mts", "cts", "js", "mjs", "cjs"];
if (!isThread && runner === "vitest" && !hasOption("--help", "-h", "bench", "list")) {
  const config = readSettings(["vitest", "vite"].flatMap((name) => extensions.map((extension) => name + ".config." + extension)));
  if (hasOption("--reporter")) argv.push("--reporter=" + channel.folder + "/v.mjs");
  else if (!isConfigElsewhere && (config === null || !mayHaveReporters.test(config))) argv.push("--reporter=default", "--reporter=" + channel.folder + "/v.mjs");
}
if (!isThread && runner === "jest" && !isConfigElsewhere && !hasOption("--reporters", "--json", "--listTests", "--help", "--version", "--")) {
  const config = readSettings(["package.json", ...[...extensions, "json"].map((extension) => "jest.config." + extension)]);
  if (config !== null && !mayHaveReporters.test(config)) argv.push("--reporters=default", "--reporters=" + channel.folder + "/j.cjs");
}
if (!isThread && runner === "mocha" && !hasOption("--")) argv.push("--require=" + channel.folder + "/m.cjs");

// The built-ins that tests compute and compare with, as they are before any code of the project is loaded.
const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const originals = [];
const seen = new Set();
const keepOriginals = (name, holder, onlyKeys) => {
  if (holder === null || (typeof holder !== "object" && typeof holder !== "function") || seen.has(holder)) return;
  seen.add(holder);
  for (const key of onlyKeys ?? ownKeys(holder)) {
    const descriptor = getOwnPropertyDescriptor(holder, key);
    if (descriptor === undefined || key === "prepareStackTrace") continue;
    const value = descriptor.value ?? descriptor.get;
    if (typeof value === "function" || (name === "" && typeof value === "object" && value !== null)) originals.push({ holder, key, value, name });
  }
};
/** Prototypes that all values share: a key added to one affects every value. */
const sharedPrototypes = ["Object", "Array", "String", "Number", "Function"].map((name) => {
  const holder = globalThis[name].prototype;
  return { name: name + ".prototype", holder, knownKeys: new Set(ownKeys(holder)) };
});
const builtIns =
  "Object Function Array String Number Boolean Symbol BigInt Math JSON Reflect Promise Map Set WeakMap WeakSet Date RegExp Error TypeError RangeError ArrayBuffer DataView Uint8Array Float64Array Intl".split(" ");
keepOriginals("", globalThis, [...builtIns, "Proxy", "parseInt", "parseFloat", "isNaN", "isFinite", "structuredClone", "setTimeout", "setInterval", "setImmediate", "queueMicrotask"]);
for (const name of builtIns) {
  const builtIn = globalThis[name];
  keepOriginals(name, builtIn);
  if (typeof builtIn === "function") keepOriginals(name + ".prototype", builtIn.prototype);
}
for (const [name, instance] of [["Array iterator", [].values()], ["Map iterator", new Map().values()], ["Set iterator", new Set().values()], ["String iterator", ""[Symbol.iterator]()], ["generator", (function* () {})()]]) {
  keepOriginals(name, getPrototypeOf(instance));
  keepOriginals(name, getPrototypeOf(getPrototypeOf(instance)));
}
keepOriginals("typed array", getPrototypeOf(Uint8Array));
keepOriginals("typed array", getPrototypeOf(Uint8Array.prototype));
const assert = require("assert");
keepOriginals("assert", assert);
keepOriginals("assert.strict", assert.strict);
keepOriginals("util", require("util"), ["isDeepStrictEqual", "inspect", "promisify"]);
keepOriginals("crypto", require("crypto"), ["randomBytes", "randomInt", "randomUUID", "createHash", "timingSafeEqual"]);
keepOriginals("process", process, ["exit", "abort", "kill", "hrtime"]);
const replaced = new Set();
const { has: hasMember, add: addMember, delete: deleteMember } = Set.prototype;
const nameOf = (name, key) => (name === "" ? "" : name + ".") + (typeof key === "symbol" ? "[" + String(key.description) + "]" : key);
const reportChange = (fullName, isReplaced) => {
  if (apply(hasMember, replaced, [fullName]) === isReplaced) return;
  apply(isReplaced ? addMember : deleteMember, replaced, [fullName]);
  emit(isReplaced ? "replaced" : "restored", fullName);
};
/** A replacement that is undone between tests is allowed, since mocks do that; one that is left at the end is not. */
const compare = (isEnd) => {
  try {
    compareAll(isEnd);
  } catch {}
};
const compareAll = (isEnd) => {
  for (let index = 0; index < sharedPrototypes.length; index++) {
    const { name, holder, knownKeys } = sharedPrototypes[index];
    const keys = ownKeys(holder);
    for (let at = 0; at < keys.length; at++) if (!apply(hasMember, knownKeys, [keys[at]])) reportChange(nameOf(name, keys[at]), true);
  }
  for (let index = 0; index < originals.length; index++) {
    const { holder, key, value, name } = originals[index];
    const current = getOwnPropertyDescriptor(holder, key);
    const isReplaced = current === undefined || (current.value !== value && current.get !== value);
    if (isReplaced || !isEnd) reportChange(nameOf(name, key), isReplaced);
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
