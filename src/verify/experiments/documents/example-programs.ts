// example-programs: builds programs that evaluate the calls of a document's examples and print where
// the values are others than it says: one in JavaScript, one in Python. Pure.
//
// Invariants:
//   G1. Values are compared, not how they are written. A decimal number may be rounded, a list of
//       Python be a tuple.
//   G2. What is no plain value, a module that can't be loaded, and an error where the document
//       names none, show nothing.

import { createLoaderSource } from "../without-runner/js-loader.ts";
import { shellWord } from "../../../kit/shell-word.ts";
import type { Edit } from "../lab.ts";
import type { ExampleBlock, ExampleLanguage } from "./example-block.ts";

/** For each language: the paths of modules by the functions that they export. */
export type ExampleModules = Readonly<Record<ExampleLanguage, ReadonlyMap<string, string>>>;
export type ExampleProgramInput = {
  readonly blocks: readonly ExampleBlock[];
  readonly modules: ExampleModules;
  /** A word that is in no file. */
  readonly nonce: string;
};
export type ExamplePrograms = { readonly edits: readonly Edit[]; readonly command: string };
/** How a step of a block compares with what the document says of it. */
export type Comparison = {
  readonly block: number;
  readonly step: number;
  /** What it gives instead, as it is shown to a person; null if it gives what is expected. */
  readonly other: string | null;
};

type NamedModules = readonly (readonly [name: string, path: string])[];

export function buildExamplePrograms(input: ExampleProgramInput): ExamplePrograms {
  const scripts = buildScript(input);
  const python = buildPython(input);
  const programs = [scripts, python].filter((program) => program !== null);

  return {
    edits: programs.flatMap(({ edits }) => edits),
    command: programs.map(({ command }) => command).join("; "),
  };
}

/** Null if no example calls a function of a JavaScript module. */
function buildScript({ blocks, modules, nonce }: ExampleProgramInput): ExamplePrograms | null {
  const usedModules = findUsedModules(blocks, modules, "js");
  if (usedModules.length === 0) return null;
  const main = `${nonce}.mjs`;
  const loader = `${nonce}-loader.mjs`;
  const needsLoader = usedModules.some(([, path]) => /\.(?:[cm]?ts|[jt]sx)$/.test(path));

  const steps = serializeSteps(blocks, "js");
  const text = createScript(nonce, steps, usedModules, needsLoader ? loader : null);
  const loaderEdits = needsLoader ? [{ path: loader, text: createLoaderSource(main) }] : [];
  return {
    edits: [{ path: main, text }, ...loaderEdits],
    command: `node ${shellWord(main)} 2>&1`,
  };
}

/** Null if no example calls a function of a Python module. */
function buildPython({ blocks, modules, nonce }: ExampleProgramInput): ExamplePrograms | null {
  const usedModules = findUsedModules(blocks, modules, "py");
  if (usedModules.length === 0) return null;
  const path = `${nonce}.py`;

  return {
    edits: [{ path, text: createPython(nonce, serializeSteps(blocks, "py"), usedModules) }],
    command: `PYTHONPATH=.:src python3 -B ${shellWord(path)} 2>&1`,
  };
}

/** The modules with functions whose names occur in the examples of a language. */
function findUsedModules(
  blocks: readonly ExampleBlock[],
  modules: ExampleModules,
  language: ExampleLanguage,
): NamedModules {
  const steps = blocks.flatMap((block) => (block.language === language ? block.steps : []));
  const words = new Set(steps.flatMap(({ code }) => code.match(/[\w$]+/g) ?? []));
  return [...modules[language]].filter(([name]) => words.has(name));
}

/** Blocks of other languages stay as empty ones, so that each keeps its number. */
const serializeSteps = (blocks: readonly ExampleBlock[], language: ExampleLanguage): string =>
  JSON.stringify(blocks.map((block) => (block.language === language ? block.steps : [])));

/** What could be compared; nothing if a program did not come to its end. */
export function readComparisons(
  output: string,
  { edits }: ExamplePrograms,
  nonce: string,
): readonly Comparison[] {
  const lines = output.split(/\r?\n/).flatMap((line) => line.split(`${nonce} `)[1] ?? []);
  const programCount = edits.filter(({ path }) => !path.includes("-loader")).length;
  const endCount = lines.filter((line) => line === "end").length;
  if (endCount < programCount) return [];

  const results = lines.filter((line) => line !== "end");
  return results.map((line) => JSON.parse(line) as Comparison);
}

const createScript = (
  nonce: string,
  blocks: string,
  modules: NamedModules,
  loader: string | null,
): string => `import * as nodeModule from "node:module";
import { inspect } from "node:util";
import { writeSync } from "node:fs";
${loader === null ? "" : `nodeModule.register(${JSON.stringify(`./${loader}`)}, import.meta.url);`}
const say = (text) => writeSync(1, "\\n${nonce} " + text + "\\n");
const plain = ["undefined", "boolean", "number", "bigint", "string"];
const isPlain = (value, depth = 0) => value === null || plain.includes(typeof value) || (depth < 20 && typeof value === "object" &&
  (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null) && Object.values(value).every((part) => isPlain(part, depth + 1)));
const isSame = (documented, actual) => {
  if (typeof documented === "number" && typeof actual === "number") {
    const digits = (String(documented).split(".")[1] ?? "").length;
    return documented === actual || Object.is(documented, actual) || (digits > 0 && digits < 16 && Math.abs(documented - actual) < 10 ** -digits);
  }
  if (documented === null || actual === null || typeof documented !== "object" || typeof actual !== "object") return documented === actual || ([typeof documented, typeof actual].includes("bigint") && documented == actual);
  if (Array.isArray(documented) !== Array.isArray(actual) || (Array.isArray(documented) && documented.length !== actual.length)) return false;
  return [...new Set([...Object.keys(documented), ...Object.keys(actual)])].every((key) => isSame(documented[key], actual[key]));
};
const listNames = (error) => {
  const names = [error?.name, error?.code];
  for (let type = error; type !== null && typeof type === "object"; type = Object.getPrototypeOf(type)) names.push(type.constructor?.name);
  return [...names, "", "Error", "Exception"];
};
const show = (value) => (isPlain(value) ? inspect(value, { depth: 5, breakLength: Infinity }) : "something else");
const findOther = (expected, { value, error }) => {
  if ("error" in expected) return error === null ? show(value) : listNames(error).includes(expected.error) ? null : "an error of the type " + (error?.name ?? typeof error);
  if (error !== null || !isPlain(value)) return undefined;
  if ("text" in expected) return typeof value !== "string" ? undefined : value.trim() === expected.text ? null : show(value);
  let documented;
  try { documented = new Function("return (" + expected.value + ")")(); } catch { return undefined; }
  return isSame(documented, value) || value === expected.value ? null : show(value);
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
  for (const [step, { code, constant, expected }] of steps.entries()) {
    let ask;
    try { ask = new Function(...Object.keys(known), "return (" + code + ")"); } catch { break; }
    const got = { value: undefined, error: null };
    try { got.value = await ask(...Object.values(known)); } catch (error) { got.error = error ?? new Error(); }
    if (got.error instanceof ReferenceError) break;
    if (constant !== null) known[constant] = got.value;
    if (expected === null) continue;
    const other = findOther(expected, got);
    if (other !== undefined) say(JSON.stringify({ block, step, other }));
  }
}
say("end");
process.exit(0);
`;

const createPython = (
  nonce: string,
  blocks: string,
  modules: NamedModules,
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

def is_same(documented, actual):
    if isinstance(documented, bool) or isinstance(actual, bool):
        return documented is actual
    if isinstance(documented, (int, float)) and isinstance(actual, (int, float)):
        digits = len(repr(documented).partition(".")[2]) if isinstance(documented, float) and "e" not in repr(documented) else 0
        return documented == actual or (documented != documented and actual != actual) or (0 < digits < 16 and abs(documented - actual) < 10 ** -digits)
    if isinstance(documented, (list, tuple)) and isinstance(actual, (list, tuple)):
        return len(documented) == len(actual) and all(is_same(a, b) for a, b in zip(documented, actual))
    if isinstance(documented, dict) and isinstance(actual, dict):
        return documented.keys() == actual.keys() and all(is_same(documented[key], actual[key]) for key in documented)
    return documented == actual

def read(text):
    return eval(text, {"nan": float("nan"), "NaN": float("nan"), "inf": float("inf"), "Infinity": float("inf"), "__builtins__": {"frozenset": frozenset, "set": set}})

def find_other(expected, value, error):
    if "error" in expected:
        if error is None:
            return repr(value) if is_plain(value) else "something else"
        return None if expected["error"] in ["", "Exception"] + [base.__name__ for base in type(error).__mro__] else "an error of the type " + type(error).__name__
    if error is not None or not is_plain(value):
        return False
    if "text" in expected:
        if str(value).split() == expected["text"].split():
            return None
        try:
            return None if is_same(read(expected["text"]), value) else repr(value)
        except Exception:
            return repr(value)
    try:
        documented = read(expected["value"])
    except Exception:
        return False
    return None if is_same(documented, value) or (isinstance(value, str) and value == expected["value"]) else repr(value)

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
        if one["expected"] is None:
            continue
        other = find_other(one["expected"], value, error)
        if other is not False:
            say(json.dumps({"block": block, "step": step, "other": other}))
say("end")
os._exit(0)
`;
