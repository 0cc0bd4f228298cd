// js-recorder: functions of a JavaScript or TypeScript module that write down what they answer to the inputs of tests and to inputs near
// those. Pure.

import type { Recorder } from "./recorder.ts";
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
        text: `${isTyped ? "// @ts-nocheck\n" : ""}${head}\n${lines}\n${wrapped.slice(head.length)}\n${helper(nonce, near)}`,
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

/** A declaration, so that it is there before anything else. */
const helper = (n: string, near: ReadonlyMap<string, readonly string[]>): string => `
function ${n}(name, f) {
  if (!process.env.${n} || typeof f !== "function") return f;
  const fs = typeof require === "function" ? require("fs") : process.getBuiltinModule("node:fs");
  const texts = new Map(${JSON.stringify([...near])});
  const state = (globalThis.${n} ??= { isBusy: false });
  const seen = new Set();
  let calls = 0;
  const isPlain = (v) => v === undefined || v === null || (typeof v === "object" ? (Array.isArray(v) || Object.getPrototypeOf(v) === Object.prototype || Object.getPrototypeOf(v)?.constructor?.name === "Object") && Object.values(v).every(isPlain) : typeof v !== "function" && typeof v !== "symbol");
  const plain = (v) => (typeof v === "string" ? v : typeof v === "bigint" ? String(v) : (JSON.stringify(v) ?? String(v))).replaceAll(/[\\t\\n\\r]/g, " ");
  const copy = (v) => (Array.isArray(v) ? v.map(copy) : v !== null && typeof v === "object" ? Object.fromEntries(Object.entries(v).map(([key, one]) => [key, copy(one)])) : v);
  const near = (v) => {
    if (typeof v === "string") return texts.get(v) ?? [];
    if (typeof v === "number") return [${numberSteps.join(", ")}].filter((step) => step > 0 || v > 1).map((step) => v + step);
    if (Array.isArray(v) && v.length > 0) return [...new Set([0, v.length - 1])].flatMap((at) => near(v[at]).map((one) => v.with ? v.with(at, one) : v.map((own, place) => (place === at ? one : own))));
    return [];
  };
  const answer = (self, args) => {
    try {
      const it = Reflect.apply(f, self, args.map(copy));
      if (typeof it?.then === "function") { it.then(() => {}, () => {}); return ""; }
      return it === undefined || it === null || it !== it || typeof it === "function" || typeof it?.next === "function" ? "" : plain(it) || "''";
    } catch {
      return "";
    }
  };
  const key = (args) => args.map(plain).join("\\x1f");
  const tell = (...words) => fs.appendFileSync(process.env.${n}, words.join("\\t") + "\\n");
  const ask = (self, args) => {
    const tested = key(args);
    if (seen.has(tested) || !args.every(isPlain)) return;
    seen.add(tested);
    const was = answer(self, args);
    tell(name, 0, "is", tested, was, "");
    if (was !== "")
      args.forEach((arg, at) => {
        for (const one of near(arg)) {
          const other = args.map((own, place) => (place === at ? one : own));
          tell(name, at, "near", key(other), answer(self, other), tested);
        }
      });
  };
  return new Proxy(f, {
    apply(target, self, args) {
      if (calls < 200 && !state.isBusy) {
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
