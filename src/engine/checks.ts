// checks: resolves the words of a check step (`criteria`, `project`, `npm test`) to the checks and
// named proofs they stand for.

import type { Check } from "../contracts/evidence.ts";
import type { RunView, CursorView } from "../core/state.ts";

/**
 * The words of a `check` step that stand for recorded commands. Every other word is a named proof
 * of the registry, or a command.
 */
const groups: Readonly<Record<string, (run: RunView, cursor: CursorView) => readonly Check[]>> = {
  criteria: (run, cursor) => [...checksOfKind(run, "criterion"), ...(cursor.checks ?? [])],
  criterion: (run, cursor) => findCriterionOfTurn(run, cursor),
  project: (run) => checksOfKind(run, "project"),
  red_green: (run) => checksOfKind(run, "red_green"),
  holdout: (run) => checksOfKind(run, "holdout"),
};

const checksOfKind = (run: RunView, wanted: Check["kind"]): readonly Check[] =>
  run.drafted.checks.filter(({ kind }) => kind === wanted);

/** The check of the criterion that an earlier step chose as its fact `criterion`. */
function findCriterionOfTurn(run: RunView, cursor: CursorView): readonly Check[] {
  const results = Object.values(cursor.seen);
  const choice = results.find(({ facts }) => facts["criterion"] !== undefined);
  const wantedId = `criterion:${String(choice?.facts["criterion"])}`;
  return checksOfKind(run, "criterion").filter(({ id }) => id === wantedId);
}

export const checkGroups: readonly string[] = Object.keys(groups);

/** The words of a check step that name proofs. A word that names a group is not one. */
export const filterNamedProofs = (
  words: readonly string[],
  registry: Readonly<Record<string, unknown>>,
): readonly string[] =>
  words.filter(
    (word) =>
      groupOrProofName.test(word) && !Object.hasOwn(groups, word) && registry[word] !== undefined,
  );

const groupOrProofName = /^[a-z][a-z0-9_-]*$/;

/** The commands that a check step's words stand for, each once. */
export function resolveChecks(
  run: RunView,
  cursor: CursorView,
  words: readonly string[],
): readonly Check[] {
  const checks = words.flatMap((word) => groups[word]?.(run, cursor) ?? [toCommandCheck(word)]);
  const checksById = new Map(checks.map((check) => [check.id, check]));
  return [...checksById.values()];
}

const toCommandCheck = (command: string): Check => ({
  id: `command:${command}`,
  kind: "criterion",
  title: command,
  command,
  source: "flow",
});
