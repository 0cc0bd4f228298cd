// type-checker: tries out a type checker by assigning values of the wrong type to what tests declare with the work's types. A type that
// accepts anything (`any`) accepts that too, and proves nothing.
// Invariants K1 and on: verify/experiments/canary.ts.

import type { Check, Experiment } from "../../../contracts/evidence.ts";
import { testsAmong } from "../../protected/listed-kinds.ts";
import { breakagesFor } from "./breakages.ts";
import { createNonce, shuffled } from "./choose-flips.ts";
import { withFlips, type Flip } from "./literal-flips.ts";
import { filesReadMax, type ExperimentTools, timedOut, noticed } from "../experiment-tools.ts";

export const checksTypes = /\b(?:tsc|vue-tsc|tsgo|type-?check)\b/;
const isTyped = /\.[cm]?tsx?$/;
const flipsMax = 2;

/** Null if no test declares anything with the work's types, or the check does not read those tests. */
export async function breakTypes({ command }: Check, lab: ExperimentTools): Promise<Experiment | null> {
  if (![command, ...lab.commands].some((words) => checksTypes.test(words))) return null;
  const paths = await lab.pathsAt("work");
  const tests = testsAmong(paths);
  const names = new Set<string>();
  for (const path of lab.changedPaths.filter((one) => isTyped.test(one) && !tests.has(one)).slice(0, filesReadMax))
    for (const name of exportedNames((await lab.textAt("work", path)) ?? "")) names.add(name);
  const flips: Flip[] = [];
  for (const path of [...tests].filter((one) => isTyped.test(one)).slice(0, filesReadMax))
    flips.push(...typeFlips(path, (await lab.textAt("work", path)) ?? "", names, createNonce(lab.seed)));
  const chosen = shuffled(flips, lab.seed, ({ path, line }) => `${path}:${line}`).slice(0, flipsMax);
  const isRed = async (path: string, apply: (text: string) => string | null): Promise<boolean | "late"> => {
    const text = apply((await lab.textAt("work", path)) ?? "");
    const observed = text === null ? undefined : await lab.run("work", [{ path, text }]);
    return observed === null ? "late" : observed?.passed === false;
  };
  for (const flip of chosen) {
    const red = await isRed(flip.path, (text) => withFlips(text, [flip]));
    if (red === "late") return timedOut;
    if (red) continue;
    const control = breakagesFor(flip.path)[0];
    const isRead = control === undefined ? false : await isRed(flip.path, control.apply); // a file that is not read shows nothing
    if (isRead === "late") return timedOut;
    if (!isRead) return null;
    return { outcome: "partly", detail: `it passes as well with a value of no such type in ${flip.path}:${flip.line}` };
  }
  return chosen.length === 0 ? null : noticed(chosen.map(({ path, line }) => `${path}:${line}`).join(", "));
}

const exportedNames = (text: string): readonly string[] =>
  [
    ...text.matchAll(/\bexport\s+(?:declare\s+|abstract\s+|async\s+)*(?:type|interface|class|enum|const|function)\s+([A-Za-z_$][\w$]*)/g),
  ].map(([, name = ""]) => name);

const literal = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\b(?:true|false)\b|(?<![\w.$])-?\d[\d_]*(?:\.\d+)?\b/g;
const declared = /^(\s*(?:export\s+)?(?:const|let|var)\s+[\w$]+\s*:\s*)([^=]+?)(\s*=\s*)(?![>=])([^;]+)(;?.*)$/;
const satisfied = /^(.*?=\s*)(.+?)(\s+satisfies\s+)([^;]+)(;?.*)$/;
const compared = /\b(?:\w*Equals?|Exact|toEqualTypeOf|toExtend|expectType|assertType|Expect)\s*</;
const wordOfType = /"[^"\n]*"|'[^'\n]*'|\b\d+\b|\b(?:string|number|boolean|never|unknown|null|undefined|true|false)\b/g;

/** Declarations that use these names, each with values of another type, and type comparisons with another type. */
export function typeFlips(path: string, text: string, names: ReadonlySet<string>, nonce: string): readonly Flip[] {
  const value = `(0 as unknown as { ${nonce}: 1 })`;
  const mentionsName = (type: string): boolean => (type.match(/[A-Za-z_$][\w$]*/g) ?? []).some((word) => names.has(word));
  const otherValue = (given: string): string | null => {
    if (/=>|\bfunction\b|`/.test(given)) return null;
    const isKey = (was: string, position: number): boolean =>
      /^\s*:/.test(given.slice(position + was.length)) || /\w\s*\[\s*$/.test(given.slice(0, position));
    const put = given.replaceAll(literal, (was, index: number) => (isKey(was, index) ? was : value));
    return put === given ? null : put;
  };
  return text.split("\n").flatMap((was, index): readonly Flip[] => {
    const [, head = "", type = "", sign = "", given = "", end = ""] = declared.exec(was) ?? [];
    const [, before = "", held = "", word = "", kind = "", rest = ""] = satisfied.exec(was) ?? [];
    const last = compared.test(was) && mentionsName(was) ? [...was.matchAll(wordOfType)].at(-1) : undefined;
    const put =
      type !== "" && mentionsName(type)
        ? joinParts(head + type + sign, otherValue(given), end)
        : kind !== "" && mentionsName(kind)
          ? joinParts(before, otherValue(held), word + kind + rest)
          : last !== undefined
            ? `${was.slice(0, last.index)}{ ${nonce}: 1 }${was.slice(last.index + last[0].length)}`
            : null;
    return put === null ? [] : [{ path, line: index + 1, was, broken: put, score: 4 }];
  });
}

const joinParts = (before: string, inner: string | null, behind: string): string | null =>
  inner === null ? null : before + inner + behind;
