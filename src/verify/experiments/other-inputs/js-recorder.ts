// js-recorder: adds to a JavaScript or TypeScript module's source a wrapper around each wanted
// function, which records its answers to the tests' inputs and to inputs near them (format:
// near-records.ts). Generates text only.

import { callsMax, type Recorder } from "./recorder.ts";
import { findDefinitions } from "../source-text/definitions.ts";
import { numberSteps } from "./near-inputs.ts";

export const recordJs: Recorder = ({ files, isWanted, near, uniqueName }) => {
  const recorded = files.flatMap(({ path, text }) => {
    const declared = [
      ...text.matchAll(/^(?:export\s+(?:default\s+)?)?function ([\w$]+)\s*[(<]/gm),
    ].map(([, name = ""]) => name);
    const declaredNames = declared.filter(isWanted);
    const assigned = findDefinitions(path, text).filter(
      (definition) => isWanted(definition.name) && assignedFunction.test(definition.text),
    );
    if (declaredNames.length + assigned.length === 0) return [];

    // From the last to the first, so that positions stay right.
    const wrapped = assigned
      .toSorted((left, right) => right.from - left.from)
      .reduce(
        (source, { name, from, to, text: own }) =>
          source.slice(0, from) + wrapValue(own, uniqueName, name) + source.slice(to),
        text,
      );
    const [head = ""] =
      /^(?:#![^\n]*\n)?(?:\s*(?:\/\/[^\n]*\n|\/\*[^]*?\*\/))*\s*(?:["']use strict["'];?)?/.exec(
        wrapped,
      ) ?? [];

    // Function declarations are hoisted, so that they can be replaced first thing.
    const replacements = declaredNames
      .map((name) => `${name} = ${uniqueName}("${name}", ${name});`)
      .join("\n");

    const directive = /\.[cm]?tsx?$/.test(path) ? "// @ts-nocheck\n" : "";
    const source = `${directive}${head}\n${replacements}\n${wrapped.slice(head.length)}\n${createRecorder(uniqueName, near)}`;
    return [
      {
        edit: { path, text: source },
        names: [...new Set([...declaredNames, ...assigned.map(({ name }) => name)])],
      },
    ];
  });

  return {
    edits: recorded.map(({ edit }) => edit),
    functions: recorded.flatMap(({ names }) => names),
  };
};

/** `const add = (a, b) =>`, `const add = function`. */
const assignedFunction = /^[^=]*=\s*(?:function\b|\([^()]*\)\s*(?::[^=]*)?=>|[\w$]+\s*=>)/;

/**
 * `const add = (a, b) => a + b;` becomes `const add = NONCE("add", (a, b) => a + b);`. A type
 * before the `=` may contain `=>` itself.
 */
function wrapValue(definition: string, uniqueName: string, name: string): string {
  const typeEnd = /^[^=]*?:[^=]*=>[^=]*=/.test(definition) ? definition.indexOf("=>") + 2 : 0;
  const start = definition.indexOf("=", typeEnd) + 1;
  const [, value = "", end = ""] = /^([^]*?)(;?\s*)$/.exec(definition.slice(start)) ?? [];

  return `${definition.slice(0, start)} ${uniqueName}("${name}", ${value.trim()})${end}`;
}

/**
 * The source of the recorder: a function declaration, which is hoisted, so that it can be called
 * before anything else. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - a number is made smaller only if it is more than 1: zero and negative numbers are often not
 *   allowed;
 * - of a list only the first and the last element are varied: that shows whether elements matter,
 *   at few calls; and if it has numbers alone, all of them are made smaller, in case only their
 *   size matters;
 * - calls made by the recorder itself are not recorded (`isBusy`).
 */
const createRecorder = (variable: string, near: ReadonlyMap<string, readonly string[]>): string => `
function ${variable}(name, f) {
  if (!process.env.${variable} || typeof f !== "function") return f;
  const fs = typeof require === "function" ? require("fs") : process.getBuiltinModule("node:fs");
  const texts = new Map(${JSON.stringify([...near])});
  const state = (globalThis.${variable} ??= { isBusy: false });
  const seen = new Set();
  let calls = 0;
  const isPlain = (v) => {
    if (v === undefined || v === null) return true;
    if (typeof v !== "object") return typeof v !== "function" && typeof v !== "symbol";
    const prototype = Object.getPrototypeOf(v);
    const isPlainObject = Array.isArray(v) || prototype === Object.prototype || prototype?.constructor?.name === "Object";
    return isPlainObject && Object.values(v).every(isPlain);
  };
  const toText = (v) => (typeof v === "bigint" ? String(v) : (JSON.stringify(v) ?? String(v)));
  const oneLine = (v) => (typeof v === "string" ? v : toText(v)).replaceAll(/[\\t\\n\\r]/g, " ");
  const copy = (v) => {
    if (Array.isArray(v)) return v.map(copy);
    if (v === null || typeof v !== "object") return v;
    return Object.fromEntries(Object.entries(v).map(([key, member]) => [key, copy(member)]));
  };
  const replaceAt = (list, index, element) => list.map((own, position) => (position === index ? element : own));
  const nearValues = (v) => {
    if (typeof v === "string") return texts.get(v) ?? [];
    if (typeof v === "number") return [${numberSteps.join(", ")}].filter((step) => step > 0 || v > 1).map((step) => v + step);
    if (!Array.isArray(v) || v.length === 0) return [];
    const ends = [...new Set([0, v.length - 1])];
    const smaller = v.every((member) => typeof member === "number")
      ? [10, 100].map((by) => v.map((member) => (Number.isInteger(member) ? Math.trunc(member / by) : member / by)))
      : [];
    return [...smaller, ...ends.flatMap((index) => nearValues(v[index]).map((element) => replaceAt(v, index, element)))];
  };
  const answer = (self, args) => {
    try {
      const result = Reflect.apply(f, self, args.map(copy));
      if (typeof result?.then === "function") { result.then(() => {}, () => {}); return ""; }
      const isNoAnswer = result === undefined || result === null || result !== result;
      return isNoAnswer || typeof result === "function" || typeof result?.next === "function" ? "" : oneLine(result) || "''";
    } catch {
      return "";
    }
  };
  const key = (args) => args.map(oneLine).join("\\x1f");
  const writeRecord = (...words) => fs.appendFileSync(process.env.${variable}, words.join("\\t") + "\\n");
  const ask = (self, args) => {
    const tested = key(args);
    if (seen.has(tested) || !args.every(isPlain)) return;
    seen.add(tested);
    const testedAnswer = answer(self, args);
    writeRecord(name, 0, "is", tested, testedAnswer, "");
    if (testedAnswer !== "")
      args.forEach((arg, index) => {
        for (const nearValue of nearValues(arg)) {
          const nearArgs = replaceAt(args, index, nearValue);
          writeRecord(name, index, "near", key(nearArgs), answer(self, nearArgs), tested);
        }
      });
  };
  return new Proxy(f, {
    apply(target, self, args) {
      if (calls < ${callsMax} && !state.isBusy) {
        calls += 1;
        state.isBusy = true;
        try {
          ask(self, args);
        } catch {
        } finally {
          state.isBusy = false;
        }
      }
      return Reflect.apply(target, self, args);
    },
  });
}
`;
