// python-reads: finds every read of something ambient in Python. Pure.

import { isGivenSomething } from "./given-arguments.ts";
import { absolutePath, pythonAmbient, pythonMembers } from "./pure-names.ts";
import type { Read, Source } from "./read-source.ts";
import { findChainEnd } from "./value-flow.ts";

/** The module of the program that runs, asked for by its name. */
const mainModule = /["']__main__["']/;

/** How far before a name its `def` or `class` is looked for. */
const near = 80;

/** Every read of something ambient in Python. */
export function findPythonReads(source: Source): readonly Read[] {
  const { code, text, brackets } = source;
  const names = readPythonImports(code);
  const line = { from: 0, to: 0 }; // looked for once: a line may hold thousands of names
  return [...code.matchAll(/(?<![\w.])[A-Za-z_]\w*/g)].flatMap(
    ({ 0: name, index: from }): readonly Read[] => {
      const end = from + name.length;
      const to = findChainEnd(code, end, brackets);
      if (from >= line.to) {
        const newline = code.indexOf("\n", from);
        line.from = code.lastIndexOf("\n", from) + 1;
        line.to = newline === -1 ? code.length : newline + 1;
      }

      const before = code.slice(line.from, from);
      if (/^\s*(?:import|from)\b/.test(before) || /\b(?:def|class)\s+$/.test(before.slice(-near)))
        return [];
      if (/^\s*=(?!=)/.test(code.slice(end, end + 9)) && (brackets.around[from] ?? -1) !== -1)
        return []; // an argument's name

      if (pythonAmbient.test(name)) {
        const isOwn = /^__(?!import)/.test(name)
          ? /^\s*[=!]=\s*["']__main__["']/.test(text.slice(end, end + 30))
          : !/^\s*\(\s*["'\s]*\)|^\s*\(\s*["']/.test(code.slice(end, end + 80));
        return isOwn ? [] : [{ from, to, root: name }];
      }

      if (/^(?:open|Path)$/.test(name) && absolutePath.test(text.slice(end, end + 40))) {
        return [{ from, to, root: name }];
      }

      const imported = names.get(name);
      if (imported === undefined) return [];
      const path = [
        imported.member,
        ...(/^(?:\s*\.\s*\w+)+/
          .exec(code.slice(end, to))?.[0]
          .replaceAll(/\s/g, "")
          .split(".")
          .slice(1) ?? []),
      ].filter((part) => part !== "");
      if (path.length === 0) {
        const asked = /^\s*,\s*["'](\w+)["']/.exec(text.slice(end, end + 60))?.[1]; // getattr(sys, "ps1")
        if (asked !== undefined) path.push(asked);
      }

      const [first = ""] = path;
      const isAbsolute =
        imported.module === "os" && absolutePath.test(text.slice(code.indexOf("(", end), to));
      const isNamedLogger =
        imported.module === "logging" &&
        !/^[\s.\w]*\(\s*\)/.test(code.slice(end, to)) &&
        path[0] === "getLogger";
      if (isNamedLogger) return [];
      const isMain = imported.module === "__main__" || mainModule.test(text.slice(end, to));
      const isPure =
        isAbsolute || isMain
          ? false
          : pythonMembers[imported.module]?.test(path.join(".")) === true ||
            (path.length > 0 && /^(?:_*[A-Z]|__\w+__$)/.test(first)) ||
            isGivenSomething(source, end, to);
      return isPure ? [] : [{ from, to, root: [imported.module, ...path.slice(0, 1)].join(".") }];
    },
  );
}

type Imported = { readonly module: string; readonly member: string };

/** The names that ambient modules of Python and their members have in a file. */
function readPythonImports(code: string): ReadonlyMap<string, Imported> {
  const names = new Map<string, Imported>();
  for (const { 1: list = "" } of code.matchAll(/^[ \t]*import[ \t]+([^\n;#]+)/gm)) {
    for (const item of list.split(",")) {
      const [, module = "", alias] = /^\s*([\w.]+)(?:\s+as\s+(\w+))?/.exec(item) ?? [];
      const [head = "", ...rest] = module.split(".");
      if (head in pythonMembers)
        names.set(alias ?? head, {
          module: head,
          member: alias === undefined ? "" : rest.join("."),
        });
    }
  }

  for (const { 1: module = "", 2: list = "" } of code.matchAll(
    /^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n;#]+)/gm,
  )) {
    const [head = "", ...rest] = module.split(".");
    if (!(head in pythonMembers)) continue;
    for (const item of list.replaceAll(/[()]/g, "").split(",")) {
      const [, member = "", alias] = /^\s*(\w+)(?:\s+as\s+(\w+))?/.exec(item) ?? [];
      if (member !== "")
        names.set(alias ?? member, { module: head, member: [...rest, member].join(".") });
    }
  }

  return names;
}
