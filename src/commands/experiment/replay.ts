// replay: runs one step of a run again from its recorded input, in a temporary folder, and compares
// the two.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { Entry } from "../../contracts/event.ts";
import { foldUntil } from "../../core/fork.ts";
import type { RunView } from "../../core/state.ts";
import { buildAttemptFacts } from "../../insight/attempt-facts.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond, screenRows } from "../../project/respond.ts";
import { readEntries } from "../../project/runs/read-entries.ts";
import { loadRun, type LoadedRun } from "../../project/runs/loaded-run.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { runFolder } from "../../project/runs/project-paths.ts";
import { refuseForeign, requireOwnRun } from "../../project/runs/require-own-run.ts";
import { whyForeign } from "../../project/runs/run-binding.ts";
import {
  formatChangeFlags,
  type ChangeFlags,
  buildChanges,
} from "../../runner/fork/build-changes.ts";
import { replayStep } from "../../runner/fork/replay-step.ts";
import { requireOutsideRun } from "../../runner/require-may-grant.ts";
import { listForkChanges } from "../../views/facts/fork-origin.ts";
import { replayPage } from "../../views/experiment/replay-page.ts";
import { formatAmount, describeAttempt, formatMoney } from "../../views/wording.ts";
import { readTreeId } from "../../workspace/git/tree.ts";

export type ReplayInput = Omit<ChangeFlags, "limits"> & {
  readonly run?: string | undefined;
  readonly step?: string | undefined;
  readonly yes: boolean;
};

const attemptsShownMax = 8;

/** Shows what would run again, asks, and runs it. Nothing of the run itself changes. */
export function replay(context: CommandContext, input: ReplayInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await loadRun(context, input.run);
    await requireBoundOwnRun(context, loaded);
    requireOutsideRun(context);

    const prepared = await prepareReplay(context, loaded, input);
    const { attempt, recorded } = prepared;
    const { commit } = prepared.state.tip;
    const { run } = loaded;
    const preview = renderPreview(run, prepared);
    const runFields = {
      run_id: run,
      state: loaded.view.status,
      warnings: prepared.movedWarnings,
    };

    const consent = await readConsent(context, input, preview);
    if (consent === "n") {
      return respond("ok", { ...runFields, message: "Not replayed; nothing has changed." });
    }

    if (consent !== "y") {
      return respond("dry_run_required_before_execute", {
        ...runFields,
        page: preview,
        message: "Not replayed: it isn't confirmed.",
        remediation: [`autopilot replay ${run} --step ${attempt}${formatChangeFlags(input)} --yes`],
        data: { attempt, commit, recorded },
      });
    }

    const replayedEntries = await runAgain(context, loaded, prepared);
    if (replayedEntries.length === 0) {
      return refuse("replay_refused", {
        ...runFields,
        message: "Called off: nothing was compared, and nothing changed.",
      });
    }

    const { changed } = prepared;
    const replayed = buildAttemptFacts(replayedEntries, attempt);
    return respond("step_replayed", {
      ...runFields,
      message: `Replayed ${describeAttempt(attempt)}: ${recorded.outcome} as recorded, ${replayed.outcome} now.`,
      page: replayPage({ attempt, run, commit, recorded, replayed, changed }),
      rowsMax: screenRows,
      remediation: [`autopilot fork ${run} --at ${prepared.seq - 1} goes on from there`],
      data: { attempt, commit, changed, recorded, replayed },
    });
  });
}

type PreparedReplay = {
  readonly attempt: string;
  readonly seq: number;
  /** The run as it was when the step began. */
  readonly state: RunView;
  readonly changes: Awaited<ReturnType<typeof buildChanges>>;
  /** The changes in words. */
  readonly changed: ReturnType<typeof listForkChanges>;
  readonly recorded: ReturnType<typeof buildAttemptFacts>;
  readonly movedWarnings: readonly string[];
  /** The hash of the line that the step began with. */
  readonly line: string;
};

async function prepareReplay(
  context: CommandContext,
  loaded: LoadedRun,
  input: ReplayInput,
): Promise<PreparedReplay> {
  const { paths, run } = loaded;
  const { entries, head } = await readEntries(paths, run);
  const { attempt, seq, step } = findAttempt(run, entries, input.step);
  const state = foldUntil(entries, seq);
  if (state === null) return refuse("journal_damaged", { run_id: run });

  const movedWarnings = await findMovedWarnings(loaded, state);
  const code = "replay_refused";
  const changes = await buildChanges({ context, paths, run: state, step, flags: input, code });
  const entriesAfter = entries.filter((entry) => entry.seq > seq);
  const nextEntry = entries.find((entry) => entry.seq === seq + 1); // each line carries the hash of the one before

  return {
    attempt,
    seq,
    state,
    changes,
    changed: listForkChanges(changes),
    recorded: buildAttemptFacts(entriesAfter, attempt),
    movedWarnings,
    line: nextEntry?.prev ?? head,
  };
}

function renderPreview(
  run: string,
  { attempt, state, changed, recorded }: PreparedReplay,
): readonly string[] {
  const withChanges = changed.length === 0 ? "" : ` with ${changed.join(", ")}`;

  return [
    `${describeAttempt(attempt)} of ${run} would run again from ${state.tip.commit.slice(0, 10)}${withChanges}.`,
    `  Recorded   ${recorded.outcome}, ${formatAmount("tokens", recorded.tokens)}, ${formatMoney(recorded.usd)}`,
    "  Nothing of the run, its branch or your checkout changes. The turn is paid like any other.",
  ];
}

/** `y`, `n`, or null if nobody could be asked. */
async function readConsent(
  context: CommandContext,
  { yes }: ReplayInput,
  preview: readonly string[],
): Promise<string | null> {
  if (yes) return "y";
  if (!context.isTerminal) return null;

  for (const line of preview) context.show(line);
  return context.ask("Replay this step?", ["y", "n"]);
}

function runAgain(
  context: CommandContext,
  { paths, run, view }: LoadedRun,
  { attempt, seq, line, changes }: PreparedReplay,
) {
  const origins = (view.origins ?? []).map((origin) => origin.run);
  return replayStep(context, paths, { run, seq, line, attempt, changes, origins });
}

/**
 * Refuses a run that isn't this user's, since running its steps could execute anything under their
 * name. Returns how it is bound.
 */
export async function requireBoundOwnRun(
  context: CommandContext,
  { paths, run }: LoadedRun,
): ReturnType<typeof requireOwnRun> {
  const binding = await requireOwnRun(context, paths, runFolder(paths, run), run);
  const foreignReason = whyForeign(context, paths, run);
  return foreignReason === null ? binding : refuseForeign(run, foreignReason);
}

type StartedStep = Extract<Entry, { event: "step_started" }>;

/**
 * The last attempt of a step, or the attempt itself if that was named. Steps with effects outside
 * their folder are not run again.
 */
function findAttempt(
  run: string,
  entries: readonly Entry[],
  step: string | undefined,
): Pick<StartedStep, "attempt" | "seq" | "step"> {
  const started = entries.filter((entry) => entry.event === "step_started");
  const agentAttempts = started.filter(({ kind }) => kind === "agent");
  const shownAttempts = listNewestAttempts(agentAttempts);
  const remediation = shownAttempts.map((attempt) => `autopilot replay ${run} --step ${attempt}`);

  const refuseStep = (message: string, hints: readonly string[] = remediation): never =>
    refuse("replay_refused", { run_id: run, message, remediation: hints });

  if (step === undefined) return refuseStep("Say which step: --step STEP.");

  const matching = started.filter((entry) => entry.attempt === step || entry.step === step);
  const last = matching.at(-1);
  if (last === undefined) {
    const stepNames = [...new Set(started.map((entry) => entry.step))];
    return refuseStep(`${run} never began a step ${step}.${didYouMean(step, stepNames)}`);
  }

  if (last.kind !== "agent" && last.kind !== "check") {
    return refuseStep(
      `${step} is a step of kind ${last.kind}: it changes more than a folder, so it isn't run again.`,
    );
  }

  const cursors = new Set(matching.map(({ walk }) => walk)); // one for each phase or task with a step of this name
  if (cursors.size > 1 && last.attempt !== step) {
    return refuseStep(
      `${cursors.size} phases or tasks of ${run} have a step ${step}: name the attempt.`,
      listNewestAttempts(matching).map((attempt) => `--step ${attempt}`),
    );
  }

  return last;
}

function listNewestAttempts(started: readonly StartedStep[]): readonly string[] {
  const attempts = new Set(started.map(({ attempt }) => attempt));
  return [...attempts].slice(-attemptsShownMax);
}

/**
 * A warning if the repository has moved on; refused if the commit that the step began at is gone.
 */
export async function findMovedWarnings(
  { paths, run }: LoadedRun,
  { tip, drafted }: RunView,
): Promise<readonly string[]> {
  const repository = await requireRepository(paths.root);
  if ((await readTreeId(repository, tip.commit)) === null) {
    refuse("work_missing", {
      run_id: run,
      message: `The commit ${tip.commit.slice(0, 12)} that ${run} stood at is not in this repository any more.`,
      remediation: [
        `git fetch REMOTE ${tip.commit} brings it back, if a remote has it`,
        "choose a later step: its commit may still be there",
      ],
    });
  }

  const { head, branch } = repository;
  if (head.commit === drafted.base.commit) return [];
  const begunAt = drafted.base.commit.slice(0, 10);
  const headAt = head.commit.slice(0, 10);
  return [
    `The repository has moved on: ${run} began at ${begunAt}, and ${branch ?? "HEAD"} is at ${headAt} now. The recorded commit is used.`,
  ];
}
