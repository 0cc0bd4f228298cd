// checks: resolves the words of a check step (`criteria`, `project`, `npm test`) to the checks and
// named proofs they stand for.

import type { Check } from "../contracts/evidence.ts";
import type { RunView, CursorView } from "../core/state.ts";

/**
 * The words of a `check` step that stand for recorded commands. Every other word is a named proof
 * of the registry, or a command.
 */
const groups: Readonly<Record<string, (run: RunView, cursor: CursorView) => readonly Check[]>> = {
  criteria: (run, cursor) => [
    ...run.drafted.checks.filter(({ kind }) => kind === "criterion"),
    ...lockedChecks(cursor),
  ],
  criterion: (run, cursor) => {
    const criterionId = Object.values(cursor.seen).find(
      ({ facts }) => facts["criterion"] !== undefined,
    )?.facts["criterion"];

    return run.drafted.checks.filter(
      ({ kind, id }) => kind === "criterion" && id === `criterion:${String(criterionId)}`,
    );
  },
  project: (run) => run.drafted.checks.filter(({ kind }) => kind === "project"),
  red_green: (run) => run.drafted.checks.filter(({ kind }) => kind === "red_green"),
  holdout: (run) => run.drafted.checks.filter(({ kind }) => kind === "holdout"),
};

const lockedChecks = (cursor: CursorView): readonly Check[] => cursor.checks ?? [];

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
  const checks = words.flatMap(
    (word) =>
      groups[word]?.(run, cursor) ?? [
        {
          id: `command:${word}`,
          kind: "criterion" as const,
          title: word,
          command: word,
          source: "flow",
        },
      ],
  );
  return [...new Map(checks.map((check) => [check.id, check])).values()];
}
