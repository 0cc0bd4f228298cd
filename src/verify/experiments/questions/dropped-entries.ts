// dropped-entries: finds entries of a table of expected values that tests used before the work, and
// use no more: what they are about is not asked any longer. That happens where tests go through a
// list of the code's own (`for _, s := range All`) and look up what they expect.
//
// Invariants:
//   D1. Only tables with keys that are texts, in tests from before the work, that are looked up by
//       something computed (`want[s.Name]`) and not gone through themselves.
//   D2. An entry is not used if the check passes with another key in its place.
//   D3. It was used if the check says something else before the work with that key; and nothing but
//       times differs between two runs without it.

import { listSome } from "../../../kit/list-some.ts";
import { detectLanguage } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import type { Edit } from "../lab.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import { type QuestionContext, readTests, type TextFile } from "./question-context.ts";

const entriesMax = 8;
/** Goals by which tests may well ask for less. A list, by words. */
const leavesOut =
  /\b(?:remov\w*|delet\w*|drop\w*|retir\w*|deprecat\w*|exclud\w*|filter\w*|hid(?:e|es|den|ing)|skip\w*|no longer|only)\b/i;

/** A key of a table: where the text ends by which it is looked up. */
export type Entry = { readonly path: string; readonly key: string; readonly end: number };

export async function findDroppedEntries(context: QuestionContext): Promise<string | null> {
  const { lab, runWith, goal = "" } = context;
  if (!lab.wasRed || leavesOut.test(goal)) return null;
  const texts = await readTests(context);
  const entries = texts.flatMap(findLookedUpEntries).slice(0, entriesMax);
  const dropped: Entry[] = [];

  for (const entry of entries) {
    const edits = renameKey(entry, texts);
    const observed = await runWith(`its tests still ask for ${entry.key}`, { edits });
    const isUnused =
      observed?.passed === true && (observed.tests?.ran ?? 0) >= (lab.now.tests?.ran ?? 0); // D2
    if (isUnused && (await wasUsed(context, edits))) dropped.push(entry);
  }

  if (dropped.length === 0) return null;
  const keys = listSome(dropped.map(({ key }) => key));
  const paths = listSome([...new Set(dropped.map(({ path }) => path))]);
  return `${paths} asked for ${keys} before the work, and does not now: what it expects of that is never used`;
}

/** D3 */
async function wasUsed({ lab }: QuestionContext, edits: readonly Edit[]): Promise<boolean> {
  const print = async (changes: readonly Edit[]): Promise<string | null> => {
    const observed = await lab.run("base", changes, []);
    return observed === null ? null : withoutTimes(observed.readOutput?.() ?? "");
  };

  const [first, changed, second] = [await print([]), await print(edits), await print([])];
  return first !== null && first === second && changed !== null && changed !== first;
}

const withoutTimes = (output: string): string =>
  output
    .split("\n")
    .filter((line) => !/duration|\d\s*(?:m|µ|n)?s\b|\d{2}:\d{2}|\bseconds?\b/.test(line))
    .join("\n");

function renameKey({ path, end }: Entry, texts: readonly TextFile[]): readonly Edit[] {
  const text = texts.find((file) => file.path === path)?.text ?? "";
  return [{ path, text: `${text.slice(0, end)}_${text.slice(end)}` }];
}

const tableHeads = {
  js: /\b(?:const|let|var)\s+([\w$]+)(?:\s*:[^=\n]+)?\s*=\s*(?:Object\.freeze\()?\{/g,
  py: /^[ \t]*(\w+)(?:\s*:[^=\n]+)?\s*=\s*\{/gm,
  go: /\b(\w+)\s*(?::=|=)\s*map\[string\][\w.[\]*]+\{/g,
};

/** D1 */
export function findLookedUpEntries({ path, text }: TextFile): readonly Entry[] {
  const language = detectLanguage(path);
  if (language !== "js" && language !== "py" && language !== "go") return [];
  const code = maskText(text, language);

  return [...code.matchAll(tableHeads[language])].flatMap(({ 0: head, 1: name = "", index }) => {
    const open = index + head.length - 1;
    const end = findClosingBracket(code, open);
    if (end === null || !isLookedUpOnly(code.slice(0, index) + code.slice(end), name)) return [];
    const entries = listKeys(text, code, open, end).map((entry) => ({ path, ...entry }));
    return entries.length < 2 ? [] : entries;
  });
}

function isLookedUpOnly(code: string, name: string): boolean {
  const escaped = name.replaceAll("$", String.raw`\$`);
  const uses = [...code.matchAll(new RegExp(`(?<![\\w$.])${escaped}(?![\\w$])`, "g"))];
  return (
    uses.length > 0 &&
    uses.every(({ index }) =>
      /^(?:\[\s*[A-Za-z_$]|\.get\(\s*[A-Za-z_])/.test(code.slice(index + name.length)),
    )
  );
}

type Key = Omit<Entry, "path">;

function listKeys(text: string, code: string, open: number, end: number): readonly Key[] {
  const keys: Key[] = [];
  let depth = 0;
  for (let at = open; at < end; at += 1) {
    const sign = code[at] ?? "";
    if (/[([{]/.test(sign)) depth += 1;
    if (/[)\]}]/.test(sign)) depth -= 1;
    if (depth !== 1 || !(at === open || sign === ",")) continue;
    const rest = text.slice(at + 1, end);
    const [all = "", , quoted, plain] =
      /^\s*(?:(["'])([^"'\\\n]+)\1|([A-Za-z_$][\w$]*))\s*:/.exec(rest) ?? [];
    const key = quoted ?? plain;
    if (key === undefined) continue;
    keys.push({ key, end: at + 1 + all.lastIndexOf(key) + key.length });
  }

  return keys;
}
