// answer-programs: builds programs that evaluate the calls of a document's examples and print where
// the values are others than it says: one in JavaScript, one in Python. Pure.
//
// Invariants:
//   G1. Values are compared, not how they are written. A decimal number may be rounded, a list of
//       Python be a tuple.
//   G2. What is no plain value, a module that can't be loaded, and an error where the document
//       names none, show nothing.

import { createLoaderSource } from "../without-runner/js-loader.ts";
import { quoteForShell } from "../without-runner/plain-program.ts";
import type { Edit } from "../lab.ts";
import type { AnswerBlock, AnswerFamily } from "./answer-examples.ts";

/** `modules`: the names of functions and the paths of their modules. */
export type AnswerInput = {
  readonly blocks: readonly AnswerBlock[];
  readonly modules: Readonly<Record<AnswerFamily, ReadonlyMap<string, string>>>;
  /** A word that is in no file. */
  readonly nonce: string;
};
export type AnswerPrograms = { readonly edits: readonly Edit[]; readonly command: string };
/**
 * `other`: what it is instead, as it is shown to a person; null if it is what the document says.
 */
export type Answer = {
  readonly block: number;
  readonly step: number;
  readonly other: string | null;
};

export function buildAnswerPrograms({ blocks, modules, nonce }: AnswerInput): AnswerPrograms {
  const ofFamily = (family: AnswerFamily): string =>
    JSON.stringify(blocks.map((block) => (block.family === family ? block.steps : [])));
  const used = (family: AnswerFamily): readonly (readonly [string, string])[] => {
    const text = blocks
      .flatMap((block) => (block.family === family ? block.steps.map(({ code }) => code) : []))
      .join("\n");
    const words = new Set(text.match(/[\w$]+/g));
    return [...modules[family]].filter(([name]) => words.has(name));
  };
  const [js, py] = [used("js"), used("py")];
  const [main, loader, python] = [`${nonce}.mjs`, `${nonce}-loader.mjs`, `${nonce}.py`];
  const isTyped = js.some(([, path]) => /\.(?:[cm]?ts|[jt]sx)$/.test(path));

  return {
    edits: [
      ...(js.length > 0
        ? [{ path: main, text: createScript(nonce, ofFamily("js"), js, isTyped ? loader : null) }]
        : []),
      ...(isTyped ? [{ path: loader, text: createLoaderSource(main) }] : []),
      ...(py.length > 0 ? [{ path: python, text: createPython(nonce, ofFamily("py"), py) }] : []),
    ],
    command: [
      ...(js.length > 0 ? [`node ${quoteForShell(main)} 2>&1`] : []),
      ...(py.length > 0 ? [`PYTHONPATH=.:src python3 -B ${quoteForShell(python)} 2>&1`] : []),
    ].join("; "),
  };
}

/** What could be compared; nothing if a program did not come to its end. */
export function readAnswers(
  output: string,
  { edits }: AnswerPrograms,
  nonce: string,
): readonly Answer[] {
  const lines = output.split(/\r?\n/).flatMap((line) => line.split(`${nonce} `)[1] ?? []);
  const programs = edits.filter(({ path }) => !path.includes("-loader")).length;
  if (lines.filter((line) => line === "end").length < programs) return [];

  return lines.filter((line) => line !== "end").map((line) => JSON.parse(line) as Answer);
}

const createScript = (
  nonce: string,
  blocks: string,
  modules: readonly (readonly [name: string, path: string])[],
  loader: string | null,
): string => `import * as nodeModule from "node:module";
import { inspect } from "node:util";
import { writeSync } from "node:fs";
${loader === null ? "" : `nodeModule.register(${JSON.stringify(`./${loader}`)}, import.meta.url);`}
const say = (text) => writeSync(1, "\\n${nonce} " + text + "\\n");
const plain = ["undefined", "boolean", "number", "bigint", "string"];
const isPlain = (value, depth = 0) => value === null || plain.includes(typeof value) || (depth < 20 && typeof value === "object" &&
  (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null) && Object.values(value).every((part) => isPlain(part, depth + 1)));
const isSame = (said, is) => {
  if (typeof said === "number" && typeof is === "number") {
    const digits = (String(said).split(".")[1] ?? "").length;
    return said === is || Object.is(said, is) || (digits > 0 && digits < 16 && Math.abs(said - is) < 10 ** -digits);
  }
  if (said === null || is === null || typeof said !== "object" || typeof is !== "object") return said === is || ([typeof said, typeof is].includes("bigint") && said == is);
  if (Array.isArray(said) !== Array.isArray(is) || (Array.isArray(said) && said.length !== is.length)) return false;
  return [...new Set([...Object.keys(said), ...Object.keys(is)])].every((key) => isSame(said[key], is[key]));
};
const listNames = (error) => {
  const names = [error?.name, error?.code];
  for (let type = error; type !== null && typeof type === "object"; type = Object.getPrototypeOf(type)) names.push(type.constructor?.name);
  return [...names, "", "Error", "Exception"];
};
const show = (value) => (isPlain(value) ? inspect(value, { depth: 5, breakLength: Infinity }) : "something else");
const findOther = (wanted, { value, error }) => {
  if ("error" in wanted) return error === null ? show(value) : listNames(error).includes(wanted.error) ? null : "an error of the type " + (error?.name ?? typeof error);
  if (error !== null || !isPlain(value)) return undefined;
  if ("text" in wanted) return typeof value !== "string" ? undefined : value.trim() === wanted.text ? null : show(value);
  let said;
  try { said = new Function("return (" + wanted.value + ")")(); } catch { return undefined; }
  return isSame(said, value) || value === wanted.value ? null : show(value);
};
const scope = {};
for (const [name, path] of ${JSON.stringify(modules)}) {
  try {
    const module = await import(new URL("./" + path, import.meta.url).href);
    const all = module.default;
    const found = module[name] ?? all?.[name] ?? (all?.name === name ? all : undefined);
    if (typeof found === "function") scope[name] = found;
  } catch {}
}
for (const [block, steps] of ${blocks}.entries()) {
  const known = { ...scope };
  for (const [step, { code, constant, wanted }] of steps.entries()) {
    let ask;
    try { ask = new Function(...Object.keys(known), "return (" + code + ")"); } catch { break; }
    const got = { value: undefined, error: null };
    try { got.value = await ask(...Object.values(known)); } catch (error) { got.error = error ?? new Error(); }
    if (got.error instanceof ReferenceError) break;
    if (constant !== null) known[constant] = got.value;
    if (wanted === null) continue;
    const other = findOther(wanted, got);
    if (other !== undefined) say(JSON.stringify({ block, step, other }));
  }
}
say("end");
process.exit(0);
`;

const createPython = (
  nonce: string,
  blocks: string,
  modules: readonly (readonly [name: string, path: string])[],
): string => `import importlib, json, os, sys

def say(text):
    sys.stdout.write("\\n${nonce} " + text + "\\n")
    sys.stdout.flush()

def is_plain(value):
    if type(value) in (list, tuple, set, frozenset):
        return all(is_plain(part) for part in value)
    if type(value) is dict:
        return all(is_plain(part) for pair in value.items() for part in pair)
    return value is None or type(value) in (bool, int, float, str, bytes, complex)

def is_same(said, now):
    if isinstance(said, bool) or isinstance(now, bool):
        return said is now
    if isinstance(said, (int, float)) and isinstance(now, (int, float)):
        digits = len(repr(said).partition(".")[2]) if isinstance(said, float) and "e" not in repr(said) else 0
        return said == now or (said != said and now != now) or (0 < digits < 16 and abs(said - now) < 10 ** -digits)
    if isinstance(said, (list, tuple)) and isinstance(now, (list, tuple)):
        return len(said) == len(now) and all(is_same(a, b) for a, b in zip(said, now))
    if isinstance(said, dict) and isinstance(now, dict):
        return said.keys() == now.keys() and all(is_same(said[key], now[key]) for key in said)
    return said == now

def read(text):
    return eval(text, {"nan": float("nan"), "NaN": float("nan"), "inf": float("inf"), "Infinity": float("inf"), "__builtins__": {"frozenset": frozenset, "set": set}})

def find_other(wanted, value, error):
    if "error" in wanted:
        if error is None:
            return repr(value) if is_plain(value) else "something else"
        return None if wanted["error"] in ["", "Exception"] + [base.__name__ for base in type(error).__mro__] else "an error of the type " + type(error).__name__
    if error is not None or not is_plain(value):
        return False
    if "text" in wanted:
        if str(value).split() == wanted["text"].split():
            return None
        try:
            return None if is_same(read(wanted["text"]), value) else repr(value)
        except Exception:
            return repr(value)
    try:
        said = read(wanted["value"])
    except Exception:
        return False
    return None if is_same(said, value) or (isinstance(value, str) and value == wanted["value"]) else repr(value)

def load(name, path):
    parts = path[:-3].split("/")
    if parts[-1] == "__init__":
        parts.pop()
    starts = list(range(len(parts)))
    for start in starts:
        folder = os.path.join(os.getcwd(), *parts[:start])
        sys.path.insert(0, folder)
        try:
            found = getattr(importlib.import_module(".".join(parts[start:])), name)
            if callable(found):
                return found
        except BaseException:
            pass
        finally:
            sys.path.remove(folder)
    return None

sys.argv = ["python3"]
scope = {}
for name, path in json.loads(${JSON.stringify(JSON.stringify(modules))}):
    found = load(name, path)
    if found is not None:
        scope[name] = found
for block, steps in enumerate(json.loads(${JSON.stringify(blocks)})):
    known = dict(scope)
    for step, one in enumerate(steps):
        value, error = None, None
        try:
            value = eval(one["code"], known)
        except (NameError, SyntaxError):
            break
        except BaseException as caught:
            error = caught
        if one["constant"] is not None:
            known[one["constant"]] = value
        if one["wanted"] is None:
            continue
        other = find_other(one["wanted"], value, error)
        if other is not False:
            say(json.dumps({"block": block, "step": step, "other": other}))
say("end")
os._exit(0)
`;
