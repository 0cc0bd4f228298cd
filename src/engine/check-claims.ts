// check-claims: checks an agent's claims when its attempt ends. Claims that only a check can decide
// wait for the next check.
//
// Invariants:
//   H1. A turn's claims are checked once: an execution that is repeated after a crash finds that
//       recorded.
//   H2. No claims, no event.
//   H3. The result of a claim decides nothing: it is no fact that a row could route on, and it ends
//       no step (callers only record the event).

import type { CheckResult, ClaimChecked } from "../contracts/evidence.ts";
import type { Draft } from "../contracts/event.ts";
import { stepKind } from "../contracts/flow.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import { cursorSteps } from "../core/selectors.ts";
import type { RunView, CursorView } from "../core/state.ts";
import { type StepExecution, readContext } from "./step-execution.ts";

const whyCharsMax = 300;

/** The text a turn produced, while it is at hand whole. */
export type AgentReport = {
  readonly said: string;
  readonly claim: unknown;
  readonly promised: boolean;
  readonly prompt?: string;
};

export type ClaimsInput = {
  readonly agent: string;
  /** Null after a crash: then the journal's copy is used. */
  readonly report: AgentReport | null;
  readonly commit: GitSha;
  /** The paths that the attempt changed. */
  readonly changed: readonly string[];
  readonly results: readonly CheckResult[];
  /** The commit that the attempt's changes were applied to. */
  readonly parent?: GitSha;
  /** How many changed paths git ignores, so that they were left out. */
  readonly ignored?: number;
};

/** The claims of this attempt's turn as an event; none if nothing was claimed. H3 */
export async function checkClaims(
  execution: StepExecution,
  { agent, report, ...context }: ClaimsInput,
): Promise<readonly Draft[]> {
  const { run, cursor, openAttempt } = readContext(execution);
  const { attempt, runtime } = execution;
  if (openAttempt.heard === true) return []; // H1
  const agentReport = report ?? (await loadReport(execution));
  if (agentReport.said === "" && (agentReport.claim ?? null) === null && !agentReport.promised) {
    return [];
  } // H2

  const base = run.drafted.base.commit;
  const claims = await runtime.verifier.checkClaims({ attempt, ...agentReport, ...context, base });
  if (claims.length === 0) return []; // H2
  const isDecidedLater = hasChecks(run, cursor);
  const waiting = claims.filter(({ waits }) => isDecidedLater && waits !== undefined);
  const decided = claims.filter((claim) => !waiting.includes(claim)).map(withoutWaits);

  return [claimsCheckedEvent(execution, agent, decided, waiting)];
}

function claimsCheckedEvent(
  execution: StepExecution,
  agent: string,
  claims: ClaimChecked[],
  waiting: ClaimChecked[],
): Draft {
  const { run, openAttempt } = readContext(execution);
  const role = openAttempt.role ?? "";
  const model = (run.drafted.cast[role] ?? run.drafted.cast["*"])?.override?.model;

  return {
    event: "claims_checked",
    attempt: execution.attempt,
    agent,
    role,
    ...(model === undefined ? {} : { model }),
    claims,
    ...(waiting.length === 0 ? {} : { waiting }),
  };
}

/** An agent that keeps handing back something that isn't a result has claimed something false. */
export function buildRefusedReturn(
  execution: StepExecution,
  agent: string,
  detail: string,
): readonly Draft[] {
  const firstLine = detail.split("\n", 1)[0] ?? "";
  const claim: ClaimChecked = {
    kind: "done",
    text: "It handed back a result.",
    verdict: "false",
    why: firstLine.slice(0, whyCharsMax),
  };
  return [claimsCheckedEvent(execution, agent, [claim], [])];
}

/** Claims that waited for the results of this cursor's checks, decided by them. */
export async function decideWaitingClaims(
  execution: StepExecution,
  results: readonly CheckResult[],
  regressed: readonly CheckResult[] = [],
): Promise<readonly Draft[]> {
  const { run, cursor } = readContext(execution);
  const drafts: Draft[] = [];

  for (const { attempt, agent, role, model, claims: waiting } of run.waiting ?? []) {
    if (!attempt.startsWith(`${cursor.path}@`)) continue; // the cursor's own attempts, and those of its tasks
    const request = {
      attempt,
      said: "",
      claim: null,
      commit: run.tip.commit,
      changed: [],
      results,
      regressed,
      waiting: waiting as readonly ClaimChecked[],
    };
    const claims = await execution.runtime.verifier.checkClaims(request);
    drafts.push({
      event: "claims_checked",
      attempt,
      agent,
      role,
      ...(model === undefined ? {} : { model }),
      claims: [...claims],
    });
  }

  return drafts;
}

/**
 * Whether a check of the runner may come after a turn of this cursor: one of its steps is a check,
 * or one of its phase's.
 */
function hasChecks(run: RunView, cursor: CursorView): boolean {
  const phase = run.cursors[cursor.phase];
  const steps = [
    ...cursorSteps(run, cursor),
    ...(phase === undefined ? [] : cursorSteps(run, phase)),
  ];
  return steps.some((step) => stepKind(step) === "check");
}

const withoutWaits = ({ kind, text, verdict, why }: ClaimChecked): ClaimChecked => ({
  kind,
  text,
  verdict,
  why,
});

async function loadReport(execution: StepExecution): Promise<AgentReport> {
  const { turn } = readContext(execution).openAttempt;
  const recorded = await loadTurn(execution, turn?.claim);
  return {
    said: recorded?.said ?? turn?.said ?? "",
    claim: recorded?.claim ?? null,
    promised: turn?.promised ?? false,
  };
}

/**
 * A turn's text and return from the blob that its line names; null if there is none or it can no
 * longer be read.
 */
export async function loadTurn(
  execution: StepExecution,
  blob: Hash | undefined,
): Promise<{ readonly said: string; readonly claim: unknown } | null> {
  if (blob === undefined) return null;
  try {
    const bytes = await execution.runtime.journal.readBlob?.(blob);
    return bytes === undefined
      ? null
      : (JSON.parse(new TextDecoder().decode(bytes)) as { said: string; claim: unknown });
  } catch {
    return null; // `verify` finds a damaged blob; its text is no reason to end a run
  }
}
