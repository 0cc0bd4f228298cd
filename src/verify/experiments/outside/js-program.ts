// js-program: tests of node:test and mocha called by a plain Node program. Pure.

import { folderOf, type Given, type PlainProgram, quoted } from "./plain-program.ts";

/** What only a runner or a compiler can give. */
const needsRunner =
  /\b(?:mock|mocks|sinon|nock|vi|jest|fakeTimers|useFakeTimers|snapshot|done|plan|signal)\b|\bt\.(?!test\b|end\b)\w+|\.only\b/;

export function jsWithoutRunner({ path, text, nonce, known }: Given): PlainProgram | null {
  if (/\.[cm]?tsx?$|\.jsx$|\.vue$|\.svelte$/.test(path) || needsRunner.test(text)) return null;
  const named = /(["'])node:test\1/.test(text);
  const isMocha =
    !named && /^\s*(?:describe|it|test)\(/m.test(text) && !/from\s+["'](?:vitest|@jest\/globals|bun:test|ava|tape)["']/.test(text);
  if (!named && !isMocha) return null;
  const isCommon = path.endsWith(".cjs") || (!path.endsWith(".mjs") && /\brequire\(/.test(text) && !/^import\s/m.test(text));
  const ending = /\.[cm]?js$/.exec(path)?.[0] ?? ".js";
  const [folder, shim, copy] = [folderOf(path), `${nonce}-calls.cjs`, `${nonce}-tests${ending}`];
  const exported = `${nonce}-calls.mjs`;
  const replaced = text.replaceAll(/(["'])node:test\1/g, `"./${isCommon ? shim : exported}"`);
  const start = `${folder}${nonce}.cjs`;
  return {
    edits: [
      { path: `${folder}${shim}`, text: shimText(known) },
      { path: `${folder}${exported}`, text: exportedText(shim) },
      { path: `${folder}${copy}`, text: replaced },
      { path: start, text: startText(shim, copy, isCommon) },
    ],
    command: `node ${quoted(start)}`,
  };
}

const names = "test, it, describe, suite, before, after, beforeEach, afterEach";
const exportedText = (shim: string): string =>
  `import calls from "./${shim}";\nexport default calls;\nexport const { ${names} } = calls;\n`;

const startText = (shim: string, copy: string, isCommon: boolean): string => `const calls = require("./${shim}");
Object.assign(globalThis, calls.globals);
(async () => {
  ${isCommon ? `require("./${copy}")` : `await import("./${copy}")`};
  process.exit((await calls.callAll()) > 0 ? 0 : 1);
})().catch(() => process.exit(1));
setTimeout(() => process.exit(1), 60_000).unref();
`;

const shimText = (known: readonly string[]): string => `const known = new Set(${JSON.stringify(known)});
const top = { before: [], after: [], each: [], ends: [], tests: [], inner: [] };
let current = top;
const of = (given) => ({ name: given.find((one) => typeof one === "string") ?? "", run: given.find((one) => typeof one === "function"), options: given.find((one) => one !== null && typeof one === "object") ?? {} });
const isOff = ({ options, run }) => run === undefined || options.skip || options.todo;
const test = (...given) => { const one = of(given); if (!isOff(one)) current.tests.push(one); return Promise.resolve(); };
const describe = (...given) => {
  const one = of(given);
  if (isOff(one)) return;
  const group = { before: [], after: [], each: [], ends: [], tests: [], inner: [] };
  current.inner.push(group);
  const outer = current;
  current = group;
  try { one.run({}); } finally { current = outer; }
};
for (const made of [test, describe]) { made.skip = () => {}; made.todo = () => {}; }
const hook = (list) => (run) => { if (typeof run === "function") current[list].push(run); };
const isFailure = (error) => error?.code === "ERR_ASSERTION" || error?.name === "AssertionError" || error?.constructor?.name === "AssertionError";
let failed = 0;
const context = (run) => ({ test: async (...given) => { const one = of(given); if (!isOff(one)) await one.run(context(one.run)); }, end() {} });
const calls = async (group, each, ends) => {
  const [all, off] = [[...each, ...group.each], [...group.ends, ...ends]];
  for (const run of group.before) await run({});
  for (const { name, run } of group.tests) {
    if (known.has(name) || run.length > 1) continue;
    try {
      for (const one of all) await one({});
      await run.call({ timeout() {}, slow() {}, retries() {} }, run.length === 0 ? undefined : context(run));
      for (const one of off) await one({});
    } catch (error) { if (isFailure(error)) failed += 1; }
  }
  for (const one of group.inner) await calls(one, all, off);
  for (const run of group.after) await run({});
};
const hooks = { before: hook("before"), after: hook("after"), beforeEach: hook("each"), afterEach: hook("ends") };
module.exports = Object.assign(test, { test, it: test, describe, suite: describe, ...hooks });
module.exports.default = test;
module.exports.globals = { describe, context: describe, it: test, test, specify: test, ...hooks };
module.exports.callAll = async () => { await calls(top, [], []); return failed; };
`;
