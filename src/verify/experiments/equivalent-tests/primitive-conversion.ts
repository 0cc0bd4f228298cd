// primitive-conversion: wraps the actual value of an assertion in a call that converts it to a
// primitive where one is expected, part by part in lists and objects. The call is an expression of
// one line, so the programs below are written over several and joined. Pure.
// Invariants W1 and on: verify/experiments/equivalent-tests/rewrite-tests.ts.

import type { Dialect } from "./respell-literal.ts";

/**
 * `known`: those that existed before the work. `added`: those that the work adds and tests don't
 * name.
 */
export type ClassNames = { readonly known: readonly string[]; readonly added: readonly string[] };

/** Null for languages in which no object can claim to be equal to a primitive. */
export function convertToPrimitive(
  actual: string,
  expected: string,
  dialect: Dialect,
  { known, added }: ClassNames,
): string | null {
  if (dialect === "py") return `${createPythonConverter(known)}((${actual}), ${expected})`;
  if (dialect === "js" || dialect === "ts") {
    return `${createJsConverter(dialect === "ts", added)}(${actual}, ${expected})`;
  }

  return null;
}

const joinLines = (program: string): string => program.trim().replaceAll(/\n\s*/g, " ");

/**
 * A function of a value `v` and the expected `e`. An object without a class, or of one that the
 * work adds, becomes `[object Object]`, which equals nothing expected: its conversion is the work's
 * own. Promises stay.
 */
function createJsConverter(isTyped: boolean, added: readonly string[]): string {
  const any = isTyped ? ": any" : "";
  const worksOwn = JSON.stringify(["", "Object", ...added]);
  return joinLines(`
    (function convert(v${any}, e${any})${any} {
      if (v === null || typeof v !== "object" || typeof v.then === "function") return v;
      if (typeof e === "number" || typeof e === "string") {
        if (${worksOwn}.includes((v.constructor || {}).name || "")) return Object.prototype.toString.call(v);
        return typeof e === "number" ? Number(v) : String(v);
      }
      if (e === null || typeof e !== "object" || Object.getPrototypeOf(v) !== Object.getPrototypeOf(e)) return v;
      const parts${any} = Object.entries(v).map(([key, part]) => [key, convert(part, e[key])]);
      if (parts.every(([key, part]${any}) => part === v[key])) return v;
      return Array.isArray(v) ? parts.map(([, part]${any}) => part) : Object.fromEntries(parts);
    })`);
}

/** The same in Python. Values of known classes, and of classes of installed packages, stay (W2). */
function createPythonConverter(known: readonly string[]): string {
  const moduleOf = `__import__("sys").modules.get(type(v).__module__)`;
  const file = `str(getattr(${moduleOf}, "__file__", None) or "")`;
  const library = `__import__("os").path.dirname(__import__("os").__file__)`;
  const isKnown = `type(v).__name__ in globals() or type(v).__name__ in (${known.map((name) => `"${name}", `).join("")})`;
  const isInstalled = `getattr(${moduleOf}, type(v).__name__, None) is type(v) and (${file} == "" or "-packages" in ${file} or ${file}.startswith(${library}))`;

  return joinLines(`
    (lambda v, e: (lambda convert: convert(convert, v, e))(lambda convert, v, e:
      [convert(convert, x, y) for x, y in zip(v, e)] if type(v) is list and type(e) is list and len(v) == len(e)
      else tuple(convert(convert, x, y) for x, y in zip(v, e)) if type(v) is tuple and type(e) is tuple and len(v) == len(e)
      else {k: convert(convert, x, e[k]) if k in e else x for k, x in v.items()} if type(v) is dict and type(e) is dict
      else v if v is None or type(v) is type(e) or type(e) not in (int, float, str, bool, bytes)
      else v if ${isKnown} or (${isInstalled})
      else int.__add__(v, 0) if isinstance(v, int)
      else float.__add__(v, 0.0) if isinstance(v, float)
      else str.__str__(v) if isinstance(v, str)
      else type(e)(v)))`);
}
