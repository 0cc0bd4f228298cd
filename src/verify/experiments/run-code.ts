// run-code: finds out whether a check runs tests, and whether it runs some files, by giving them a
// first line that ends whatever runs it.

import type { Check } from "../../contracts/evidence.ts";
import type { Difference } from "../../ports/workspace.ts";
import { findProtectionRow } from "../protected/kinds.ts";
import { filterPrograms } from "../protected/program-and-test-paths.ts";
import { isReadOnly } from "../protected/programs.ts";
import { filesReadMax, type Lab } from "./lab.ts";

/**
 * Whether a command runs a program that the work changed and judges by itself. It doesn't if it
 * still passes when those programs begin with a syntax error, or when each of them ends as soon as
 * it is run. At the end of a pipe `grep` judges, and runs nothing.
 */
export async function runsChangedCode({ command }: Check, lab: Lab): Promise<boolean> {
  const lastOfPipe = /^[^;&|]+(?:\|[^;&|]+)*\|([^;&|]+)$/.exec(command)?.[1] ?? command;
  const isTest = (path: string): boolean => findProtectionRow(path)?.kind === "test";
  const programs = filterPrograms(lab.changedPaths).filter((path) => !isTest(path));
  if (isReadOnly(lastOfPipe) || programs.length === 0) return false;
  if (await passesWithFirstLine(lab, programs, () => syntaxError)) return false;

  const canEnd = (path: string): boolean =>
    createEndingLine(path) !== null || neverRunFile.test(path);
  const canAllEnd = lab.changedPaths.length <= filesReadMax && lab.changedPaths.every(canEnd);

  return !canAllEnd || !(await passesWithFirstLine(lab, lab.changedPaths, createEndingLine));
}

/**
 * Whether a check runs tests, as far as its output and its words tell: `go test` counts its tests
 * only if one fails, and `| grep` hides what is counted.
 */
export const mayRunTests = ({ now, commands }: Pick<Lab, "now" | "commands">): boolean =>
  (now.tests?.ran ?? 0) > 0 || commands.some((text) => /\bgo test\b|\|\s*[ef]?grep\b/.test(text));

/**
 * Whether the check runs tests that the work wrote: with an error in their first lines it fails.
 */
export async function runsNewTests(lab: Lab, differences: readonly Difference[]): Promise<boolean> {
  const isOfTests = ({ path, kind }: Difference): boolean =>
    kind !== "deleted" && findProtectionRow(path)?.kind === "test";
  const tests = filterPrograms(differences.filter(isOfTests).map(({ path }) => path));
  if (tests.length === 0) return true;

  const createError = (path: string): string => createEndingLine(path) ?? syntaxError;
  return !(await passesWithFirstLine(lab, tests, createError));
}

/**
 * Whether the check passes if these files get a first line, behind `#!`; a file for which there is
 * none stays as it is.
 */
async function passesWithFirstLine(
  lab: Lab,
  paths: readonly string[],
  createLine: (path: string) => string | null,
): Promise<boolean> {
  const edits = await Promise.all(
    paths.slice(0, filesReadMax).map(async (path) => {
      const line = createLine(path);
      const text = await lab.textAt("work", path);
      if (text === null || line === null) return [];
      return [{ path, text: text.replace(/^(#!.*\n)?/, (head) => `${head}${line}\n`) }];
    }),
  );

  const observed = await lab.run("work", edits.flat());
  return observed?.passed === true;
}

/** A file that ends whatever runs it: its first line is an error. */
export function breakFirstLine(path: string, text: string): string {
  const line = createEndingLine(path) ?? syntaxError;
  return text.replace(/^(#!.*\n)?/, (head) => `${head}${line}\n`);
}

/** No language runs a file that begins so. */
const syntaxError = ")]} >>> ({[";

/**
 * A first line with which a program can be read, and ends as soon as it is run; null if its
 * language has none that fits anywhere.
 */
function createEndingLine(path: string): string | null {
  if (neverRunFile.test(path)) return null;
  if (/\.[cm]?[jt]sx?$/.test(path)) return 'if (Date.now() > 0) throw new Error("it is run");';
  return path.endsWith(".py") ? 'raise RuntimeError("it is run")' : null;
}
const neverRunFile = /\.d\.[cm]?ts$|\.(?:pyi|md|rst|txt)$/;
