// question-context: what a question about a pass can use: the change, the texts of tests and code,
// and runs of the check. A question is asked by running the check once more with something changed
// (table.ts).

import type { Check } from "../../../contracts/evidence.ts";
import type { GitSha } from "../../../contracts/ids.ts";
import type { Difference } from "../../../ports/workspace.ts";
import type { TreeReader } from "../../protected/read-change.ts";
import type { ProtectionRules } from "../../protected/judge.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { judgingPathPattern } from "../../protected/programs.ts";
import { type Edit, filesReadMax, type Lab, type Side } from "../lab.ts";
import type { WorldFact } from "../other-world/wrap-in-other-world.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import type { MarkedBranches } from "../branches/branch.ts";
import type { MutatedFunctions } from "./mutations.ts";
import { listSome } from "../../../kit/list-some.ts";

/**
 * What is different in the checkout of a run: files with another text, as before the work, or
 * missing.
 */
export type CheckoutChange = {
  readonly edits?: readonly Edit[];
  readonly paths?: readonly string[];
  readonly without?: readonly string[];
  readonly command?: string;
  /** How long the run may take, if less than others. */
  readonly atMostMs?: number;
};

/**
 * Runs the check where facts of the machine that must not matter are different
 * (other-world/wrap-in-other-world.ts).
 */
export type Elsewhere = {
  readonly run: (side: Side, different: readonly WorldFact[]) => Promise<Observed | null>;
  /** Whether a repetition of the check has passed there, or nothing may be repeated. */
  readonly isAnswered: () => boolean;
};

export type QuestionContext = {
  readonly check: Check;
  /** How long it took when it passed. */
  readonly checkMs: number;
  /** The commands of all checks of this proof. */
  readonly checkCommands: readonly string[];
  /** Those of checks that pass: one that was broken before the work may still be. */
  readonly passingCommands: readonly string[];
  /** Those of the other checks that the user gave. */
  readonly userCommands: readonly string[];
  /**
   * Whether it is the first criterion, or the first check if there is none: what is not about one
   * check alone is asked of that.
   */
  readonly isFirst: boolean;
  readonly lab: Lab;
  readonly workspace: Pick<TreeReader, "textAt">;
  /** Whether the repository has a commit of this name; null if its history is cut off. */
  readonly hasCommit: (name: string) => Promise<boolean | null>;
  readonly commit: GitSha;
  readonly rules: ProtectionRules;
  readonly differences: readonly Difference[];
  /** The names of the tests that passed, or null if the check named none. */
  readonly passed: readonly string[] | null;
  /** What the run is for, in its user's words. */
  readonly goal?: string | undefined;
  /** Says what the next runs are for. */
  readonly announce: (name: string) => void;
  /**
   * Runs the check with this change; null if it took too long. Then a gap says that it could not be
   * found out `whether`, unless that is null.
   */
  readonly runWith: (whether: string | null, change: CheckoutChange) => Promise<Observed | null>;
  readonly elsewhere: Elsewhere;
  /** The branches of the work; null if it has none, or they are asked of another check. */
  readonly branches: MarkedBranches | null;
  /** Whether it runs the tests that the work wrote; true if nothing speaks against it. */
  readonly areNewTestsRun: boolean;
  /** The work's functions changed to return something else, and the result. */
  readonly mutant: { readonly change: MutatedFunctions; readonly observed: Observed } | null;
};

/**
 * A question that is asked by one run with a change: the check should pass, and if it fails that is
 * a gap.
 */
export type RaisedQuestion = {
  readonly whether: string;
  readonly change: CheckoutChange;
  readonly gap: string;
  /** What else has to be true for a gap. */
  readonly confirmed?: () => Promise<boolean>;
};

export type ChangeFiles = Pick<QuestionContext, "rules" | "differences"> & {
  readonly lab: Pick<Lab, "textAt">;
};

export type TextFile = { readonly path: string; readonly text: string };

export type ChangedFile = {
  readonly path: string;
  readonly was: string | null;
  readonly is: string;
};

export const isTest = ({ rules }: Pick<ChangeFiles, "rules">, path: string): boolean =>
  rules.rowOf(path)?.kind === "test";

/** Tests, and scripts that judge. */
export const isJudging = (files: Pick<ChangeFiles, "rules">, path: string): boolean =>
  isTest(files, path) || judgingPathPattern.test(path);

/**
 * The test files of the base, or those of its programs that are wanted, with the text by which they
 * judge now.
 */
export async function readTests(
  { rules, lab }: ChangeFiles,
  isWanted?: (path: string) => boolean,
): Promise<readonly TextFile[]> {
  const paths =
    isWanted === undefined
      ? findTestPaths(rules)
      : takeFirst(rules, (path) => isProgramText(path) && isWanted(path));
  const texts = await Promise.all(
    paths.map(async (path) => ({ path, text: await lab.textAt("work", path) })),
  );
  return texts.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
}

/** Several questions ask for them, and a tree may have a hundred thousand paths to look through. */
const cachedTestPaths = new WeakMap<ProtectionRules, readonly string[]>();

function findTestPaths(setting: ProtectionRules): readonly string[] {
  const { mayBeTest = () => true } = setting;
  const known = cachedTestPaths.get(setting);

  const paths =
    known ??
    takeFirst(
      setting,
      (path) => mayBeTest(path) && isProgramText(path) && isTest({ rules: setting }, path),
    );
  cachedTestPaths.set(setting, paths);
  return paths;
}

function takeFirst(
  { base }: ProtectionRules,
  isWanted: (path: string) => boolean,
): readonly string[] {
  const paths: string[] = [];
  for (const path of base) {
    if (isWanted(path)) paths.push(path);
    if (paths.length === filesReadMax) break;
  }

  return paths;
}

/** The tests as they are judged: those that were there, and the work's own. */
export async function readAllTests(files: ChangeFiles): Promise<readonly TextFile[]> {
  const added = files.differences
    .filter(({ path, kind }) => kind === "added" && isTest(files, path))
    .slice(0, filesReadMax);
  const own = await Promise.all(
    added.map(async ({ path }) => ({ path, text: (await files.lab.textAt("work", path)) ?? "" })),
  );
  return [...(await readTests(files)), ...own];
}

/** The files that the work wrote and that are wanted, before and after it. */
export async function readChanged(
  { differences, lab: { textAt } }: Pick<ChangeFiles, "differences" | "lab">,
  isWanted: (path: string) => boolean,
): Promise<readonly ChangedFile[]> {
  const paths = differences
    .filter(({ path, kind }) => kind !== "deleted" && isWanted(path))
    .slice(0, filesReadMax);
  return Promise.all(
    paths.map(async ({ path }) => ({
      path,
      was: await textAt("base", path),
      is: (await textAt("work", path)) ?? "",
    })),
  );
}

/** The work's own code, not what judges it. */
export const readSources = (files: ChangeFiles): Promise<readonly ChangedFile[]> =>
  readChanged(files, (path) => {
    const row = files.rules.rowOf(path);
    return (
      isProgramText(path) && (row === null || row.part === "rust_source" || row.kind === "scripts")
    );
  });

export const passesAsBefore = (paths: readonly string[]): string =>
  `it passes with ${listSome(paths)} as before the work`;

/** The base's files that judge, as they are judged. */
export const readJudgingFiles = (
  context: QuestionContext,
  ending: RegExp,
): Promise<readonly TextFile[]> =>
  readTests(context, (path) => ending.test(path) && isJudging(context, path));

export const editTexts = (
  texts: readonly TextFile[],
  change: (path: string, text: string) => string | null,
): readonly Edit[] =>
  texts.flatMap(({ path, text }) => {
    const changedText = change(path, text);
    return changedText === null ? [] : [{ path, text: changedText }];
  });
