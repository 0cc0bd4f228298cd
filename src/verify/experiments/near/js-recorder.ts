// js-recorder: adds to a JavaScript or TypeScript module's source a wrapper around each wanted function, which records its answers to the
// tests' inputs and to inputs near them (format: near-records.ts). Generates text only.

import { callsMax, type Recorder } from "./recorder.ts";
import { findDefinitions } from "../source/definitions.ts";
import { numberSteps } from "./near-inputs.ts";

export const recordJs: Recorder = ({ files, isWanted, near, nonce }) => {
  const found = files.flatMap(({ path, text }) => {
    const declared = [...text.matchAll(/^(?:export\s+(?:default\s+)?)?function ([\w$]+)\s*[(<]/gm)].map(([, name = ""]) => name);
    const names = declared.filter(isWanted);
    const assigned = findDefinitions(path, text).filter(({ name, text: own }) => isWanted(name) && assignedFunction.test(own));
    if (names.length + assigned.length === 0) return [];
    const wrapped = assigned
      .toSorted((one, other) => other.from - one.from)
      .reduce((done, { name, from, to, text: own }) => done.slice(0, from) + wrapValue(own, nonce, name) + done.slice(to), text);
    const [head = ""] = /^(?:#!.*\n)?(?:\s*(?:\/\/.*\n|\/\*[^]*?\*\/))*\s*(?:["']use strict["'];?)?/.exec(wrapped) ?? [];
    const lines = names.map((name) => `${name} = ${nonce}("${name}", ${name});`).join("\n");
    const isTyped = /\.[cm]?tsx?$/.test(path);
    return [
      {
        path,
        text: `${isTyped ? "// @ts-nocheck\n" : ""}${head}\n${lines}\n${wrapped.slice(head.length)}\n${recorderSource(nonce, near)}`,
        names: [...new Set([...names, ...assigned.map(({ name }) => name)])],
      },
    ];
  });
  return { edits: found.map(({ path, text }) => ({ path, text })), functions: found.flatMap(({ names }) => names) };
};

const assignedFunction = /^[^=]*=\s*(?:function\b|\([^()]*\)\s*(?::[^=]*)?=>|[\w$]+\s*=>)/;

function wrapValue(own: string, nonce: string, name: string): string {
  const start = own.indexOf("=", /^[^=]*?:[^=]*=>[^=]*=/.test(own) ? own.indexOf("=>") + 2 : 0) + 1;
  const [, value = "", end = ""] = /^([^]*?)(;?\s*)$/.exec(own.slice(start)) ?? [];
  return `${own.slice(0, start)} ${nonce}("${name}", ${value.trim()})${end}`;
}

/**
 * The source of the recorder, a declaration, so that it is there before anything else. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - a number is made smaller only if it is more than 1: zero and negative numbers are often not allowed;
 * - of a list only the first and the last element are varied: that shows whether elements matter, at few calls;
 * - calls made by the recorder itself are not recorded (`isBusy`).
 */
const recorderSource = (variable: string, near: ReadonlyMap<string, readonly string[]>): string => `
function ${variable}(name, f) {
  if (!process.env.${variable} || typeof f !== "function") return f;
  const fs = typeof require === "function" ? require("fs") : process.getBuiltinModule("node:fs");
  const texts = new Map(${JSON.stringify([...near])});
  const state = (globalThis.${variable} ??= { isBusy: false });
  const seen = new Set();
  let calls = 0;
  const isPlain = (v) => v === undefined || v === null || (typeof v === "object" ? (Array.isArray(v) || Object.getPrototypeOf(v) === Object.prototype || Object.getPrototypeOf(v)?.constructor?.name === "Object") && Object.values(v).every(isPlain) : typeof v !== "function" && typeof v !== "symbol");
  const oneLine = (v) => (typeof v === "string" ? v : typeof v === "bigint" ? String(v) : (JSON.stringify(v) ?? String(v))).replaceAll(/[\\t\\n\\r]/g, " ");
  const copy = (v) => (Array.isArray(v) ? v.map(copy) : v !== null && typeof v === "object" ? Object.fromEntries(Object.entries(v).map(([key, one]) => [key, copy(one)])) : v);
  const nearValues = (v) => {
    if (typeof v === "string") return texts.get(v) ?? [];
    if (typeof v === "number") return [${numberSteps.join(", ")}].filter((step) => step > 0 || v > 1).map((step) => v + step);
    if (Array.isArray(v) && v.length > 0) return [...new Set([0, v.length - 1])].flatMap((at) => nearValues(v[at]).map((one) => v.with ? v.with(at, one) : v.map((own, place) => (place === at ? one : own))));
    return [];
  };
  const answer = (self, args) => {
    try {
      const result = Reflect.apply(f, self, args.map(copy));
      if (typeof result?.then === "function") { result.then(() => {}, () => {}); return ""; }
      return result === undefined || result === null || result !== result || typeof result === "function" || typeof result?.next === "function" ? "" : oneLine(result) || "''";
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
      args.forEach((arg, at) => {
        for (const one of nearValues(arg)) {
          const other = args.map((own, place) => (place === at ? one : own));
          writeRecord(name, at, "near", key(other), answer(self, other), tested);
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
