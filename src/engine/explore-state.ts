// explore-state: copies, normalises and keys run states while a flow is explored, so that equal
// paths merge.

import type { Flow, Step } from "../contracts/flow.ts";
import { optionValue, phaseRule, stepRetriesMax, cursorSteps } from "../core/selectors.ts";
import type { Run, StepCursor } from "../core/state.ts";

/** Values that grow along a path and change no decision are dropped, so that paths merge again. */
export function normalizeState(run: Run): void {
  run.turns.length = 0;
  run.requests = {};
  run.retries = 0;
  run.trees = {};
  run.ledger.largest = {};
  run.judged = null;
  Object.assign(run.breaker, { no_progress: 0, same: 0, last_error: null });

  for (const cursor of Object.values(run.cursors)) {
    cursor.tries = {};
    cursor.seen = {};

    if (cursor.result === "completed" && !isReadLater(run.drafted.flow, cursor)) {
      Object.assign(cursor, { last: {}, ended: {}, streak: {}, taken: {} });
    }
  }
}

const isReadCache = new WeakMap<object, Map<string, boolean>>();

/**
 * Whether any condition reads this cursor's outcome after it has ended: that is possible only for
 * those before the phases.
 */
function isReadLater(flow: object, { phase }: Pick<StepCursor, "phase">): boolean {
  if (!phase.startsWith("before.")) return false;
  const phases = isReadCache.get(flow) ?? new Map<string, boolean>();
  isReadCache.set(flow, phases);
  const isRead = phases.get(phase) ?? JSON.stringify(flow).includes(`"${phase}.`);
  phases.set(phase, isRead);

  return isRead;
}

/** The parts of a run that no event of a path changes. */
const sharedKeys: ReadonlySet<string> = new Set([
  "drafted",
  "limits",
  "isolation",
  "overrides",
  "tip",
]);

/**
 * A copy that may take another path. The flow and recorded outcomes never change, so they are
 * shared.
 */
export function copyRun(run: Run): Run {
  const copy: Record<string, unknown> = { ...run };
  for (const key of Object.keys(copy)) if (!sharedKeys.has(key)) copy[key] = copyDeep(copy[key]);
  return copy as unknown as Run;
}

function copyDeep(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.length === 0 ? [] : value.map(copyDeep);
  // Spread copies by the object's shape, several times faster than key by key.
  const copy = { ...value } as Record<string, unknown>;
  for (const key in copy) {
    const part = copy[key];
    if (typeof part === "object" && part !== null) {
      copy[key] = key === "last" ? { ...part } : copyDeep(part);
    }
  }

  return copy;
}

/**
 * A key of the run: two runs with the same one always decide alike. Ordinals and visits beyond what
 * is read are left out.
 */
export function buildStateKey(run: Run, unproved: ReadonlySet<string>): string {
  const phases = run.phases.map(({ status, visit, because, paused }) => [
    status,
    Math.min(1, visit),
    status === "skipped" ? because : null,
    paused,
  ]);

  const cursorKeys = sortedEntries(run.cursors).map(([, cursor]) => cursorKey(run, cursor));
  const open = Object.values(run.open).map(({ attempt, stage, left }) => [attempt, stage, left]);

  const runFields = [
    run.status,
    run.reason,
    run.hold,
    run.resting,
    run.surveyed === run.opening,
    run.isRead,
    Math.min(2, run.finished),
    run.taken,
    run.invocation,
  ];
  return JSON.stringify([
    relevantOptions(run),
    runFields,
    phases,
    cursorKeys,
    open,
    Object.keys(run.blocks),
    [...unproved].filter((path) => run.cursors[path]?.result === null).toSorted(),
  ]).replaceAll(/#\d+|@\d+|!\d+/g, "");
}

const isOver = ({ status }: { readonly status: string }): boolean =>
  status === "completed" || status === "skipped";

/**
 * The options that something still to be run reads: runs that differ only in others take the same
 * paths from here on.
 */
function relevantOptions(run: Run): readonly unknown[] {
  const { flow } = run.drafted;
  const isPhaseAhead =
    !run.isRead || run.phases.some((phase) => phase.group === "phases" && !isOver(phase));

  const remainingParts = [
    ...run.phases
      .filter((phase) => phase.group !== "phases" && !isOver(phase))
      .map(({ id }) => phaseRule(flow, id)),
    ...(isPhaseAhead ? [flow.phases, flow.steps ?? [], flow.closing ?? []] : []),
  ];
  const names = new Set([
    ...remainingParts.flatMap((list) => optionNamesIn(list)),
    ...optionNamesIn(flow, "counts", "when_step_fails", "when_phase_fails", "defaults"),
  ]);
  return [...names].toSorted().map((name) => [name, optionValue(run, name)]);
}

const optionNamesCache = new WeakMap<object, readonly string[]>();

/** The options that a part of a flow names; of a whole flow only these of its rows. */
function optionNamesIn(part: object, ...rows: readonly (keyof Flow)[]): readonly string[] {
  const cached = optionNamesCache.get(part);
  if (cached !== undefined) return cached;
  const text = JSON.stringify(
    rows.length === 0 ? part : rows.map((row) => (part as Flow)[row] ?? null),
  );
  const names = [...new Set([...text.matchAll(/"option\.([^"]+)"/g)].map(([, name = ""]) => name))];
  optionNamesCache.set(part, names);

  return names;
}

function cursorKey(run: Run, cursor: StepCursor): unknown {
  const hasEnded = cursor.result !== null;
  const isBefore = cursor.phase.startsWith("before.");
  if (hasEnded && !isBefore) return [cursor.path, cursor.result];
  const steps = hasEnded ? [] : cursorSteps(run, cursor);
  const step = steps[cursor.at];
  const readNames = findReadNames(run.drafted.flow, steps);

  // What only its own rows read of an outcome is irrelevant once the cursor has moved on, except a
  // failure: no phase may end past a failed proof.
  const outcomes = sortedEntries(cursor.last).flatMap(
    ([id, { kind, facts, says }]): readonly (readonly unknown[])[] => {
      if (isBefore || id === step?.id) return [[id, kind, facts, says]];
      const names = readNames.get(id);
      if (names === undefined) return kind === "failed" ? [[id]] : [];

      return [
        [
          id,
          kind,
          ...[...names].map((name) =>
            name.startsWith("says.") ? says[name.slice("says.".length)] : facts[name],
          ),
        ],
      ];
    },
  );

  const streak =
    step === undefined
      ? 0
      : Math.min(cursor.streak[step.id] ?? 0, stepRetriesMax(run.drafted.flow, step) + 1);
  return [
    cursor.path,
    cursor.result,
    cursor.at,
    cursor.open,
    cursor.block,
    outcomes,
    sortedEntries(cursor.taken),
    streak,
    cursor.reply,
  ];
}

/** The order in which they arose decides nothing. */
const sortedEntries = <Value>(
  record: Readonly<Record<string, Value>>,
): readonly [string, Value][] => Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));

/**
 * By step, the names that others read of its outcome: of facts, and `says.` before those of agent
 * returns.
 */
type ReadNames = ReadonlyMap<string, ReadonlySet<string>>;
const readNamesCache = new WeakMap<readonly Step[], ReadNames>();

/** What steps of a list, and the flow's rows, read of other steps' outcomes. */
function findReadNames(flow: Flow, steps: readonly Step[]): ReadNames {
  const cached = readNamesCache.get(steps);
  if (cached !== undefined) return cached;

  const flowNames = [
    ...(flow.when_step_fails ?? []),
    ...(flow.when_phase_fails ?? []),
    ...Object.values(flow.counts ?? {}).map(({ spent }) => spent),
  ].flatMap(({ when }) => Object.keys(when ?? {}));

  const stepNames = steps.flatMap((step) => {
    const whens = [
      step.only_if,
      ...(step.unless ?? []),
      ...[...(step.then ?? []), ...(step.otherwise ?? []), ...(step.human?.preset ?? [])].map(
        ({ when }) => when,
      ),
    ];
    return whens
      .flatMap((when) => Object.keys(when ?? {}))
      .filter((name) => name.split(".")[0] !== step.id);
  });

  const readNames = new Map<string, Set<string>>();
  for (const name of [...flowNames, ...stepNames]) {
    const [head = "", first, second] = name.split(".");
    const names = readNames.get(head) ?? new Set<string>();
    readNames.set(
      head,
      first === undefined ? names : names.add(first === "says" ? `says.${second ?? ""}` : first),
    );
  }

  readNamesCache.set(steps, readNames);
  return readNames;
}
