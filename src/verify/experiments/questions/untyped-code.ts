// untyped-code: asks whether a type checker passes only because new code is declared to be anything
// (`any`), says itself what it is (`x as number`, `x!`) or is kept from it (`@ts-ignore`). `any`
// becomes `unknown`, which allows nothing, and the rest is removed: what is typed well still
// passes.

import { listSome } from "../../../kit/list-some.ts";
import type { Edit } from "../lab.ts";
import { maskText } from "../../protected/mask-text.ts";
import { applyChanges, type TextChange } from "../source-text/apply-changes.ts";
import { typeCheckerCommand } from "../broken-expectations/type-checker.ts";
import {
  type ChangedFile,
  type QuestionContext,
  type RaisedQuestion,
  readSources,
} from "./question-context.ts";

const typeScriptFile = /\.[cm]?tsx?$/;
/** As a type (`x: any = 1`), not as a name (`any = 1`, `any(x)`). */
const anyType = /(?<=:\s*)any(?=\s*=)|(?<![\w$.'"-])any(?![\w$'"-]|\s*[(:=.])/g;
/**
 * ` as number` and `qty!`, which tell the type checker what to believe; not `as const`, nor what is
 * renamed in an import (`{ a as b }`). `as any` is left to `anyType`.
 */
const typeAssertion =
  /(?<=[\w$)\]}"'`])\s+as\s+(?!const\b|any\b|unknown\b)[A-Za-z_$][\w$.]*(?:<[^<>()]*>)?(?:\[\])*|(?<=[\w$)\]])!(?=[\s.,;)\]*/+-]|\[|$)(?!\s*=)/g;
const renamingLine = /^\s*(?:import|export)\b|^\s*[\w$]+\s+as\s+[\w$]+,?\s*$/;
const directive = /@ts-(?:ignore|expect-error)\b/g;

export async function askUntypedCode(context: QuestionContext): Promise<RaisedQuestion | null> {
  const { check, lab } = context;
  if (
    !lab.wasRed ||
    ![check.command, ...lab.commands].some((words) => typeCheckerCommand.test(words))
  ) {
    return null;
  }

  const strictFiles = (await readSources(context)).flatMap((file) => typeStrictly(file) ?? []);
  if (strictFiles.length === 0) return null;
  const positions = strictFiles.flatMap(({ path, lines }) =>
    lines.map((line) => `${path}:${line}`),
  );
  const shownPositions = listSome(positions);

  return {
    whether: `it passes with types in ${shownPositions}`,
    change: { edits: strictFiles.map(({ path, text }) => ({ path, text })) },
    gap: `it passes only because new code is declared to be anything, cast or kept from the type checker (${shownPositions}), so a person has to look at that`,
  };
}

/**
 * Whether a type checker passes only because of new declarations (`report.d.ts`) for code that it
 * does not read (`report.js`).
 */
export async function askDeclarations({
  check,
  lab,
  differences,
}: QuestionContext): Promise<RaisedQuestion | null> {
  if (
    !lab.wasRed ||
    ![check.command, ...lab.commands].some((words) => typeCheckerCommand.test(words))
  ) {
    return null;
  }

  const paths = new Set(await lab.pathsAt("work"));
  const hasCode = (path: string): boolean => paths.has(path.replace(/\.d(\.[cm]?)ts$/, "$1js"));
  const added = differences
    .filter(({ path, kind }) => kind === "added" && declarationFile.test(path) && hasCode(path))
    .map(({ path }) => path);
  if (added.length === 0) return null;
  const shown = listSome(added);

  return {
    whether: `it passes without ${shown}`,
    change: { without: added },
    gap: `it passes only because of declarations for code that the type checker does not read (${shown}), so a person has to look at that`,
  };
}
/** `report.d.ts` */
const declarationFile = /\.d\.[cm]?ts$/;

/**
 * The file with its new lines typed strictly, and which lines those are; null if there are none.
 */
export function typeStrictly({
  path,
  was,
  is,
}: ChangedFile): (Edit & { readonly lines: readonly number[] }) | null {
  if (!typeScriptFile.test(path)) return null;
  const earlierLines = new Set((was ?? "").split("\n"));
  const code = maskText(is, "js").split("\n"); // as a whole: a comment or template may go over several lines
  const lines: number[] = [];

  const text = is.split("\n").map((line, index) => {
    const strict = earlierLines.has(line)
      ? line
      : applyChanges(line, tightenLine(line, code[index] ?? ""));
    if (strict !== line) lines.push(index + 1);
    return strict;
  });

  return lines.length === 0 ? null : { path, text: text.join("\n"), lines };
}

/**
 * Changes to a line, whose code is given without comments and strings: the type checker judges for
 * itself afterwards.
 */
function tightenLine(line: string, code: string): readonly TextChange[] {
  const assertions = renamingLine.test(code) ? [] : replaceMatches(code, typeAssertion, "");
  const isAsserted = ({ from, to }: TextChange): boolean =>
    assertions.some((assertion) => assertion.from <= from && to <= assertion.to);
  const untyped = replaceMatches(code, anyType, "unknown").filter((change) => !isAsserted(change));

  return [...assertions, ...untyped, ...replaceMatches(line, directive, "")];
}

const replaceMatches = (
  text: string,
  pattern: RegExp,
  replacement: string,
): readonly TextChange[] =>
  [...text.matchAll(pattern)].map(({ 0: match, index }) => ({
    from: index,
    to: index + match.length,
    text: replacement,
  }));
