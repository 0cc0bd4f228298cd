// type-checker: tries out a type checker by assigning values of a wrong type to what tests declare
// with the work's types. A type that accepts anything (`any`) accepts that too, and proves nothing.

import type { Check, Experiment } from "../../../contracts/evidence.ts";
import { filterTests } from "../../protected/program-and-test-paths.ts";
import { listBreakages } from "./breakages.ts";
import { createNonce, shuffle } from "./choose-flips.ts";
import { applyFlips, type Flip } from "./flip.ts";
import { filesReadMax, type Lab, lateResult, reportNoticed } from "../lab.ts";

export const typeCheckerCommand = /\b(?:tsc|vue-tsc|tsgo|type-?check)\b/;
const typeScriptFile = /\.[cm]?tsx?$/;
const flipsMax = 2;

/**
 * Null if no test declares anything with the work's types, or the check does not read those tests.
 */
export async function breakTypes({ command }: Check, lab: Lab): Promise<Experiment | null> {
  if (![command, ...lab.commands].some((words) => typeCheckerCommand.test(words))) return null;
  const flips = await chooseTypeFlips(lab);
  if (flips.length === 0) return null;

  for (const flip of flips) {
    const outcome = await runChanged(lab, flip.path, (text) => applyFlips(text, [flip]));
    if (outcome === "late") return lateResult;
    if (outcome === "failed") continue;

    // What is in a file that the checker does not read shows nothing.
    const control = listBreakages(flip.path)[0];
    if (control === undefined) return null;
    const controlOutcome = await runChanged(lab, flip.path, control.apply);
    if (controlOutcome === "late") return lateResult;
    if (controlOutcome === "passed") return null;

    return {
      outcome: "partly",
      detail: `it passes as well with a value of no such type in ${flip.path}:${flip.line}`,
    };
  }

  return reportNoticed(flips.map(({ path, line }) => `${path}:${line}`).join(", "));
}

/** A few of the declarations in tests that use types which the work exports. */
async function chooseTypeFlips(lab: Lab): Promise<readonly Flip[]> {
  const tests = filterTests(await lab.pathsAt("work"));
  const ownPaths = lab.changedPaths.filter((path) => !tests.has(path));
  const names = new Set<string>();

  for (const path of takeTypeScript(ownPaths)) {
    const text = (await lab.textAt("work", path)) ?? "";
    for (const name of findExportedNames(text)) names.add(name);
  }

  const flips: Flip[] = [];
  for (const path of takeTypeScript([...tests])) {
    const text = (await lab.textAt("work", path)) ?? "";
    flips.push(...createTypeFlips(path, text, names, createNonce(lab.seed)));
  }

  return shuffle(flips, lab.seed, ({ path, line }) => `${path}:${line}`).slice(0, flipsMax);
}

const takeTypeScript = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => typeScriptFile.test(path)).slice(0, filesReadMax);

/** How the check ends with a file changed; one that could not be changed counts as passed. */
async function runChanged(
  lab: Lab,
  path: string,
  apply: (text: string) => string | null,
): Promise<"passed" | "failed" | "late"> {
  const text = apply((await lab.textAt("work", path)) ?? "");
  if (text === null) return "passed";
  const observed = await lab.run("work", [{ path, text }]);
  if (observed === null) return "late";

  return observed.passed ? "passed" : "failed";
}

const findExportedNames = (text: string): readonly string[] =>
  [
    ...text.matchAll(
      /\bexport\s+(?:declare\s+|abstract\s+|async\s+)*(?:type|interface|class|enum|const|function)\s+([A-Za-z_$][\w$]*)/g,
    ),
  ].map(([, name = ""]) => name);

const literal =
  /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\b(?:true|false)\b|(?<![\w.$])-?\d[\d_]*(?:\.\d+)?\b/g;
/** `const price: Money = { amount: 5 };` */
const declared =
  /^(\s*(?:export\s+)?(?:const|let|var)\s+[\w$]+\s*:\s*)([^=]+?)(\s*=\s*)(?![>=])([^;]+)(;?.*)$/;
/** `const price = { amount: 5 } satisfies Money;` */
const satisfied = /^(.*?=\s*)(.+?)(\s+satisfies\s+)([^;]+)(;?.*)$/;
/** A comparison of types: `Equals<A, B>`, `expectType<A>`. */
const compared = /\b(?:\w*Equals?|Exact|toEqualTypeOf|toExtend|expectType|assertType|Expect)\s*</;
const wordOfType =
  /"[^"\n]*"|'[^'\n]*'|\b\d+\b|\b(?:string|number|boolean|never|unknown|null|undefined|true|false)\b/g;

/**
 * Declarations that use these names, each with values of another type, and type comparisons with
 * another type.
 */
export function createTypeFlips(
  path: string,
  text: string,
  names: ReadonlySet<string>,
  nonce: string,
): readonly Flip[] {
  const mentionsName = (type: string): boolean =>
    (type.match(/[A-Za-z_$][\w$]*/g) ?? []).some((word) => names.has(word));

  return text.split("\n").flatMap((was, index): readonly Flip[] => {
    const broken = breakLine(was, mentionsName, nonce);
    return broken === null ? [] : [{ path, line: index + 1, was, broken, score: typeScore }];
  });
}

/** As much as an assertion with another expectation has (flip.ts). */
const typeScore = 4;

/** The line with a value or a compared type that is wrong; null if it has none. */
function breakLine(
  line: string,
  mentionsName: (type: string) => boolean,
  nonce: string,
): string | null {
  const [, head = "", type = "", sign = "", assigned = "", end = ""] = declared.exec(line) ?? [];
  if (type !== "" && mentionsName(type)) {
    return joinParts(head + type + sign, replaceLiterals(assigned, nonce), end);
  }

  const [, before = "", value = "", keyword = "", satisfiedType = "", after = ""] =
    satisfied.exec(line) ?? [];
  if (satisfiedType !== "" && mentionsName(satisfiedType)) {
    return joinParts(before, replaceLiterals(value, nonce), keyword + satisfiedType + after);
  }

  if (!compared.test(line) || !mentionsName(line)) return null;
  const lastType = [...line.matchAll(wordOfType)].at(-1);
  if (lastType === undefined) return null;
  const { 0: was, index } = lastType;
  return `${line.slice(0, index)}{ ${nonce}: 1 }${line.slice(index + was.length)}`;
}

/**
 * The expression with every literal replaced by a value of another type, except keys and indexes;
 * null if it has none, or contains code.
 */
function replaceLiterals(expression: string, nonce: string): string | null {
  if (/=>|\bfunction\b|`/.test(expression)) return null;
  const isKeyOrIndex = (text: string, position: number): boolean =>
    /^\s*:/.test(expression.slice(position + text.length)) ||
    /\w\s*\[\s*$/.test(expression.slice(0, position));

  const wrongValue = `(0 as unknown as { ${nonce}: 1 })`;
  const changed = expression.replaceAll(literal, (text, index: number) =>
    isKeyOrIndex(text, index) ? text : wrongValue,
  );
  return changed === expression ? null : changed;
}

const joinParts = (before: string, inner: string | null, after: string): string | null =>
  inner === null ? null : before + inner + after;
