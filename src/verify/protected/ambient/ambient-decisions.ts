// ambient-decisions: finds what code of JavaScript, TypeScript, Python and shells decides by, though
// it was neither given it nor has it of its own: a global, or what the machine, the process and the
// runner look like. Pure.
//
// Invariants:
//   E1. Nothing is ambient because it is on a list: whatever the file does not define, import from
//       the project or a package, or have from the language's own library is.
//   E2. A value that decides nothing is not told, wherever it goes else.
//   E3. Reading a file takes as long as the file is: a name is followed once, however many values it
//       gets, and an agent may have written it to be slow to read. What is too much to be followed is
//       told, so that nothing hides behind it.
import { detectLanguage } from "../kinds.ts";
import { findBinding } from "./js-bindings.ts";
import { findJsReads, isLabelOrType, isTypeof } from "./js-reads.ts";
import { isOwnWorker } from "./own-worker.ts";
import { nodeMembers, pythonMembers, topics } from "./pure-names.ts";
import { findPythonReads } from "./python-reads.ts";
import { type Read, readSource, type Source } from "./read-source.ts";
import { findShellReads } from "./shell-reads.ts";
import { isShellScript } from "./shell-text.ts";
import { findChainEnd, findFate, type Part } from "./value-flow.ts";

export type AmbientDecision = {
  /** As the code has it: `process.listenerCount("SIGTERM")`. */
  readonly shown: string;
  /** What it begins with: `window`, `process.listenerCount`, `typeof window`. */
  readonly root: string;
};

const textCharsMax = 200_000;
const followedMax = 300;
const namesMax = 500;
const foundMax = 200;
const shownCharsMax = 60;

export function findAmbientDecisions(path: string, text: string): readonly AmbientDecision[] {
  if (text.length > textCharsMax) return [];
  if (isShellScript(path, text)) return findShellReads(text);
  const language = detectLanguage(path);
  if (language !== "js" && language !== "py") return [];
  const source = readSource(path, text, language === "py");
  const reads = source.isPython ? findPythonReads(source) : findJsReads(source);

  const found = new Map<string, AmbientDecision>();
  const followed: Followed = { uses: new Map(), idle: new Set() };
  for (const read of reads) {
    const shown = show(text, read);
    if (found.has(shown) || found.size === foundMax) continue;
    if (!decides(source, read, followed) || isOwnWorker(source, read)) continue;
    found.set(shown, { shown, root: read.root });
  }

  return [...found.values()];
}

/**
 * Whether a person asked for what the code looks at: by its name, by the words it is asked with, or
 * by its subject.
 */
export function isNamedIn(goal: string, { shown, root }: AmbientDecision): boolean {
  if (topics.some(([roots, words]) => roots.test(root) && words.test(goal))) return true;
  const name = root.split(/[ .]/).at(-1) ?? "";
  const isObject =
    /^(?:global(?:This)?)$/.test(name) || name in nodeMembers || name in pythonMembers;
  const quoted = [...shown.matchAll(/["'`]([\w./-]{2,})[\w ./-]*["'`]/g)].map(
    ([, word = ""]) => word,
  );
  const words = [...(isObject ? [] : [name]), ...quoted];

  return words.some((word) =>
    new RegExp(`(?<![\\w$])${word.replaceAll(/[$./-]/g, String.raw`\$&`)}s?(?![\\w$])`, "i").test(
      goal,
    ),
  );
}

/** The names of a file that were followed: where each is used, and those that decide nothing (E3). */
type Followed = {
  readonly uses: Map<string, readonly Part[]>;
  readonly idle: Set<string>;
};

/** Whether a read decides something, itself or by a name that it gets. */
function decides(source: Source, read: Read, { uses, idle }: Followed): boolean {
  const queue: Part[] = [read];
  const seen = new Set<string>();
  for (let count = 0; count < followedMax; count += 1) {
    const part = queue[count];
    if (part === undefined) {
      for (const key of seen) idle.add(key);
      return false;
    }

    if (isTypeof(source.code, part.from) && part === read) return true;
    const fate = findFate(source, part);
    if (fate.decides) return true;
    for (const name of fate.names) {
      if (uses.size >= namesMax) return true; // E3
      const scope = findScope(source, name, part.from);
      const key = `${name} ${scope.from}`;
      if (seen.has(key) || idle.has(key)) continue;
      seen.add(key);
      const found = uses.get(key) ?? findUses(source, name, scope);
      uses.set(key, found);
      queue.push(...found.filter(({ from }) => from !== part.from));
    }
  }

  return true; // E3
}

/** The part of the file in which a name means what it was given at a place. */
function findScope({ code, bindings, isPython }: Source, name: string, at: number): Part {
  const whole = { from: 0, to: code.length };
  if (name.includes(".")) return whole;
  if (!isPython) return findBinding(bindings, name, at) ?? whole;
  if (new RegExp(String.raw`^[ \t]*(?:async )?def ${name}\b`, "m").test(code)) return whole;
  const lineStart = code.lastIndexOf("\n", at) + 1;
  const indent = /^[ \t]*/.exec(code.slice(lineStart))?.[0].length ?? 0;
  if (indent === 0) return whole;
  const head = [...code.slice(0, lineStart).matchAll(/^([ \t]*)(?:async )?def \w+/gm)].findLast(
    ({ 1: space = "" }) => space.length < indent,
  );
  if (head === undefined) return whole;
  const rest = code.slice(lineStart);
  const end = new RegExp(`^[ \\t]{0,${(head[1] ?? "").length}}[^\\s)\\]}]`, "m").exec(rest);

  return { from: head.index, to: end === null ? code.length : lineStart + end.index };
}

function findUses(source: Source, name: string, scope: Part): readonly Part[] {
  const { code, brackets } = source;
  const escaped = name.replaceAll(/[$.]/g, String.raw`\$&`);
  const uses = new RegExp(`(?<![\\w$#])(?<!(?<!\\.)\\.(?!\\.))${escaped}(?![\\w$])`, "g");
  const matches = [...code.slice(scope.from, scope.to).matchAll(uses)];
  const parts = matches.flatMap(({ 0: all, index }): readonly Part[] => {
    const from = scope.from + index;
    const end = from + all.length;
    if (isLabelOrType(source, from, end) || /^\s*=(?![=>])/.test(code.slice(end, end + 9)))
      return [];
    return [{ from, to: findChainEnd(code, end, brackets) }];
  });

  return parts.slice(0, followedMax + 1); // one more is too much already
}

function show(text: string, { from, to, root }: Read): string {
  const whole = text.slice(from, to).replaceAll(/\s+/g, " ");
  const shown = root.startsWith("typeof ") ? `typeof ${whole}` : whole;
  return shown.length <= shownCharsMax ? shown : `${shown.slice(0, shownCharsMax)}…`;
}
