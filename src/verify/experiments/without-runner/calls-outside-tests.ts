// calls-outside-tests: builds a program that repeats a test's calls outside the test runner: it
// imports the work's functions and compares their results with what the test expects. Code that is
// right only under test returns something else there. Pure.
//
// Invariants:
//   P1. Only calls that use imported functions and literals, in tests without setup: nothing else
//       is the same outside. Nor are tests that call something for its effect (`add(3);`), and
//       what is asked of an object that they change (`cart.add(3);`).
//   P2. Every call is repeated for a moment, except calls without arguments: those may well answer
//       something else the next time.
//   P3. A program that could not be run, a module that could not be loaded or a call that threw
//       shows nothing: it exits with 0 only if a result differed.
//   P4. It is run in another folder than the project's, unless a call names a path: an answer to
//       plain values does not depend on that.
//   P5. Timers of the code end at once, and it is asked again after them: an answer to plain values
//       does not wait for that either.

import { shellWord } from "../../../kit/shell-word.ts";
import { detectLanguage } from "../../protected/kinds.ts";
import { findComparedValues } from "../broken-expectations/assertion-flips.ts";
import { isClosedOver, isWrittenOut } from "../broken-expectations/near-values.ts";
import { maskText } from "../../protected/mask-text.ts";
import { findTestCases, type TestCase } from "../source-text/test-cases.ts";
import { parentFolder, repeatMs, repeatWallMs } from "./plain-program.ts";

export type PlainCalls = {
  /** The program, and the folder it has to be in. */
  readonly path: string;
  readonly text: string;
  readonly command: string;
  /** The command in the project's folder, if the other one leaves it (P4). */
  readonly commandHere?: string;
  readonly calls: readonly string[];
};

const callsMax = 40;
/** Timers of the code end after at most so long (P5). */
const timerMs = 30;
/** Things that make a test more than its assertions. */
const setupWords =
  /\b(?:mock\w*|patch|stub\w*|spy\w*|fake\w*|sinon|nock|monkeypatch|fixtures?|set_?up|tear_?down|before(?:Each|All)?|afterEach|environ|env|useFakeTimers|chdir|jsdom)\b|@pytest\.|\bDate\b|\btime\b|\brandom\b/i;

type PlainComparisons = {
  readonly family: "js" | "py";
  readonly modules: Imports;
  readonly comparisons: readonly Comparison[];
};

/** The comparisons of a test file that can be repeated outside (P1); null if there are none. */
function findPlainComparisons(path: string, text: string): PlainComparisons | null {
  const family = detectLanguage(path);
  if ((family !== "js" && family !== "py") || /\.[cm]?tsx?$/.test(path) || setupWords.test(text)) {
    return null;
  }

  const imports = family === "js" ? findJsImports(text) : findPythonImports(text);
  const modules = addConstants(imports, text, family);
  const effectsIn = (part: string): readonly Effect[] => findEffects(part, family, imports.names);
  const repeatableText = removeTests(
    path,
    text,
    (test) => test.isSkipped || effectsIn(test.text).length > 0,
  );
  if (effectsIn(repeatableText).length > 0) return null; // beside all tests
  const changed = new Set(
    effectsIn(text)
      .filter(({ isMethod }) => isMethod)
      .map(({ name }) => name),
  );

  const comparisons = findComparedValues(path, repeatableText).filter(
    ({ actual, expected }) =>
      !`${actual}${expected}`.includes("\n") &&
      !(actual.match(/[\w$]+/g) ?? []).some((word) => changed.has(word)) &&
      isClosedOver(actual, modules.names) &&
      (expected === null || isWrittenOut(expected) || isClosedOver(expected, modules.names)),
  );
  return comparisons.length === 0
    ? null
    : { family, modules, comparisons: comparisons.slice(0, callsMax) };
}

/** Null if a test file has no such call. */
export function buildPlainCalls(path: string, text: string, uniqueName: string): PlainCalls | null {
  const found = findPlainComparisons(path, text);
  if (found === null) return null;
  const { family, modules, comparisons } = found;
  const program =
    family === "js"
      ? createJsSource(modules, comparisons)
      : createPythonSource(modules, comparisons);

  return {
    ...describeProgramFile(path, found, uniqueName),
    text: program,
    calls: comparisons.map(({ actual }) => actual.trim()),
  };
}

/** A program beside a test, and how it is run. */
function describeProgramFile(
  path: string,
  { family, modules, comparisons }: PlainComparisons,
  uniqueName: string,
): Pick<PlainCalls, "path" | "command" | "commandHere"> {
  const file = `${parentFolder(path)}${uniqueName}${family === "py" ? ".py" : modules.isCommon ? ".cjs" : ".mjs"}`;
  const commandIn = (root: string): string =>
    family === "py"
      ? `PYTHONPATH="${root}:${root}/src" python3 -B "${root}"/${shellWord(file)}`
      : `node "${root}"/${shellWord(file)}`;

  if (comparisons.some(({ actual }) => pathLiteral.test(actual))) {
    return { path: file, command: commandIn(".") };
  }

  return {
    path: file,
    command: `root="$PWD"; cd "$(mktemp -d)" && ${commandIn("$root")}`,
    commandHere: commandIn("."),
  };
}
/** A text that may name a file. */
const pathLiteral = /["'`](?:[^"'`\n]*\/[^"'`\n]*|[\w-]*\.\w+)["'`]/;

/** What a test asks that is skipped, or needs more than its calls, is not asked elsewhere. */
const removeTests = (path: string, text: string, isLeftOut: (test: TestCase) => boolean): string =>
  findTestCases(path, text).reduce(
    (rest, test) => (isLeftOut(test) ? rest.replace(test.text, () => "") : rest),
    text,
  );

type Effect = { readonly name: string; readonly isMethod: boolean };

/** Statements that use one of these names for what it changes, not for an answer. */
function findEffects(
  text: string,
  family: "js" | "py",
  names: ReadonlySet<string>,
): readonly Effect[] {
  const code = maskText(text, family);
  const statement =
    /(?<=(?:[;{}]|(?<![(,[=>&|?+])\n)[ \t]*)(?:await\s+)?([A-Za-z_$][\w$]*)((?:\.[\w$]+)*)\s*(?:\(|(?:[-+*/]|\[[^\]\n]*\])?=(?![=>]))/g;

  return [...code.matchAll(statement)].flatMap(({ 1: name = "", 2: member = "", index }) => {
    const before = code.slice(0, index).split("\n").slice(-2).join("\n");
    const isAsserted = /throw|reject|raises|expect/i.test(before);
    return names.has(name) && !isAsserted ? [{ name, isMethod: member !== "" }] : [];
  });
}

type Imports = {
  readonly names: ReadonlySet<string>;
  readonly lines: readonly string[];
  readonly isCommon: boolean;
};
type Comparison = ReturnType<typeof findComparedValues>[number];

function findJsImports(text: string): Imports {
  const [names, lines] = [new Set<string>(), new Set<string>()];
  let isCommon = false;

  for (const [, what = "", from = ""] of text.matchAll(
    /^import\s+(\{[^}]*\}|\*\s+as\s+[\w$]+|[\w$]+)\s+from\s*(["']\.{1,2}\/[^"']+["'])/gm,
  )) {
    const binding = toConstBinding(what);
    lines.add(`const ${binding} = await import(${from});`);
    for (const name of binding.match(/[\w$]+(?=\s*[,}]|$)/g) ?? []) names.add(name);
  }

  for (const [line, what = ""] of text.matchAll(
    /^(?:const|let|var)\s+(\{[^}]*\}|[\w$]+)\s*=\s*require\(["']\.{1,2}\/[^"']+["']\)(?:\.\w+)?;?$/gm,
  )) {
    isCommon = true;
    lines.add(line);
    for (const name of what.match(/[\w$]+(?=\s*[,}]|$)/g) ?? []) names.add(name);
  }

  return { names, lines: [...lines], isCommon };
}

/**
 * The left side of `const … = await import()` for the names of an import: `{ a: b }` for `{ a as b
 * }`, `all` for `* as all`.
 */
function toConstBinding(names: string): string {
  if (names.startsWith("{")) return names.replaceAll(/\s+as\s+/g, ": ");
  return names.startsWith("*") ? names.replace(/\*\s+as\s+/, "") : `{ default: ${names} }`;
}

function findPythonImports(text: string): Imports {
  const [names, lines] = [new Set<string>(), new Set<string>()];
  for (const [line, what = ""] of text.matchAll(
    /^from\s+[A-Za-z_][\w.]*\s+import\s+([\w, ]+)$/gm,
  )) {
    lines.add(line);
    for (const part of what.split(",")) {
      names.add(
        part
          .trim()
          .split(/\s+as\s+/)
          .at(-1) ?? "",
      );
    }
  }

  return { names, lines: [...lines], isCommon: false };
}

/** The imports, and the constants that a test writes out at its top. */
function addConstants(
  { names, lines, isCommon }: Imports,
  text: string,
  family: "js" | "py",
): Imports {
  const form =
    family === "js"
      ? /^(?:const|let|var)\s+(\w+)\s*=\s*(.+?);?$/gm
      : /^([A-Za-z_]\w*)\s*=\s*(.+)$/gm;
  const found = [...text.matchAll(form)].filter(
    ([, name = "", value = ""]) => !names.has(name) && isWrittenOut(value),
  );

  return {
    names: new Set([...names, ...found.map(([, name = ""]) => name)]),
    lines: [...lines, ...found.map(([line]) => line)],
    isCommon,
  };
}

/** A call without arguments may answer something else the next time (P2). */
const isAskedOnce = ({ actual }: Comparison): boolean => /\(\s*\)/.test(actual);

function createJsSource({ lines, isCommon }: Imports, asked: readonly Comparison[]): string {
  const each = asked.map((comparison) => {
    const { actual, expected } = comparison;
    const differs = expected === null ? `!(${actual})` : `isOther(await (${actual}), ${expected})`;
    return `  try { if (${isAskedOnce(comparison) ? "isFirst && " : ""}${differs}) differ += 1; } catch {}`;
  });

  // A value that only imitates another isn't one.
  const isOther =
    "const isOther = (a, b) => (b === null || typeof b !== 'object') && typeof a === 'object' && a !== null ? true : !(a == b) && JSON.stringify(a) !== JSON.stringify(b);";
  const body = [
    "const [now, used] = [performance.now.bind(performance), process.cpuUsage.bind(process)];",
    isOther,
    "const wait = setTimeout;",
    `for (const name of ["setTimeout", "setInterval"]) { const start = globalThis[name]; globalThis[name] = (f, ms, ...rest) => start(f, Math.min(ms || 0, ${timerMs}), ...rest); }`,
    "let differ = 0;",
    "try {",
    ...lines.map((line) => `  ${line}`),
    "  const [began, first] = [now(), used()];",
    `  const isDone = () => used(first).user + used(first).system > ${repeatMs * 1000} || now() - began > ${repeatWallMs};`,
    "  const ask = async (isFirst) => {",
    ...each.map((line) => `  ${line}`),
    "  };",
    "  await ask(true);",
    "  while (differ === 0 && !isDone()) for (let time = 0; time < 20; time += 1) await ask(false);",
    `  await new Promise((done) => wait(done, ${2 * timerMs}));`,
    "  await ask(false);",
    "} catch {}",
  ];

  const end = "process.exit(differ > 0 ? 0 : 1);";
  return isCommon
    ? `(async () => {\n${body.join("\n")}\n${end}\n})();\n`
    : `${body.join("\n")}\n${end}\n`;
}

function createPythonSource({ lines }: Imports, asked: readonly Comparison[]): string {
  const isOther = [
    "def is_other(a, b):",
    "    if type(a) in (int, float) and type(b) in (int, float):",
    "        return a != b",
    "    if type(a) is str and type(b) is str:",
    "        return a != b",
    "    return any(isinstance(a, t) and type(b) is t and t.__eq__(a, b) is False for t in (bool, int, float, str, list, tuple, dict))",
  ];

  const each = asked.flatMap((comparison) => {
    const { actual, expected } = comparison;
    const differs = expected === null ? `not (${actual})` : `is_other(${actual}, ${expected})`;
    return [
      "    try:",
      `        differ += 1 if ${isAskedOnce(comparison) ? "is_first and " : ""}${differs} else 0`,
      "    except Exception:",
      "        pass",
    ];
  });

  const load = lines.flatMap((line) => ["try:", `    ${line}`, "except Exception:", "    pass"]);
  return [
    "from time import perf_counter as _now, process_time as _used, sleep as _wait",
    "import threading as _threading",
    "_init = _threading.Timer.__init__",
    `_threading.Timer.__init__ = lambda self, interval, *args, **named: _init(self, min(interval, ${timerMs / 1000}), *args, **named)`,
    ...isOther,
    "differ = 0",
    ...load,
    "_began, _first = _now(), _used()",
    "def _ask(is_first):",
    "    global differ",
    ...each,
    "_ask(True)",
    `while differ == 0 and _used() - _first < ${repeatMs / 1000} and _now() - _began < ${repeatWallMs / 1000}:`,
    "    _ask(False)",
    `_wait(${(2 * timerMs) / 1000})`,
    "_ask(False)",
    "raise SystemExit(0 if differ else 1)",
    "",
  ].join("\n");
}
