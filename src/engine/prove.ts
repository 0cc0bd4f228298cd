// prove: decides whether a step's proof holds on the newest commit: artifact gates and named
// proofs.

import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { EventOf } from "../contracts/event.ts";
import type { Gate } from "../contracts/flow.ts";
import type { Facts } from "../contracts/outcome.ts";
import { errorFingerprint } from "../core/breaker.ts";
import type { FlowView } from "../core/state.ts";
import { invariant } from "../kit/invariant.ts";
import {
  Cancelled,
  type StepExecution,
  selectPastOutcomes,
  readContext,
} from "./step-execution.ts";
import {
  placeholderField,
  buildPlaceholderFacts,
  listPlaceholderEntries,
} from "./placeholder-facts.ts";
import { runsCommand } from "./judging-commands.ts";
import { describeRefused, recordProtectedChanges, fromBaseField } from "./protected-files.ts";

export type ProofOutcome = {
  readonly holds: boolean;
  readonly detail: string;
  readonly facts: Facts;
  readonly checks: readonly CheckResult[];
  readonly locks?: readonly Check[];
  /** The reason that the first failed proof gave. */
  readonly reason?: string;
  /** Artifacts without content, and those that have content now. */
  readonly hollow?: readonly { file: string; why: string | null }[];
};

/**
 * Whether a step's proof holds on the branch's newest commit: artifact rules, and named proofs from
 * the registry. Takes the prompt of the turn, if it is known: text that an artifact only repeats
 * from it isn't content.
 */
export async function proveStep(execution: StepExecution, prompt?: string): Promise<ProofOutcome> {
  const { run, cursor, step, openAttempt } = readContext(execution);
  const { attempt, cancel, runtime } = execution;
  const gates = (step.proof ?? []).filter((proof): proof is Gate => typeof proof !== "string");
  const names = (step.proof ?? []).filter((proof) => typeof proof === "string");
  const commit = run.tip.commit;
  const changed = [...openAttempt.paths, ...(cursor.unproved?.[step.id] ?? [])];

  const shared = {
    attempt,
    commit,
    changed,
    cancel: cancel.signal,
    onLiveEvent: runtime.onLiveEvent,
  };

  const failures: string[] = [];
  const checks: CheckResult[] = [];
  let facts: Facts = {};
  let placeholders: ProofOutcome["hollow"] = [];

  if (gates.length > 0) {
    // Protected files come from the base, for a gate's command as for a check.
    const refused = gates.some(runsCommand)
      ? (await recordProtectedChanges(execution)).refused
      : [];
    const result = await runtime.verifier.prove({
      ...shared,
      gates: gates.map((gate) => fillGate(run.drafted.flow, gate, cursor.phase, cursor.task ?? "")),
      base: run.drafted.base.commit,
      ...(prompt === undefined ? {} : { prompt }),
      ...fromBaseField(run, refused),
    });
    placeholders = listPlaceholderEntries(run, result.hollow ?? [], result.solid ?? []);
    facts = {
      ...buildPlaceholderFacts(result.hollow ?? []),
      ...(refused.length === 0 ? {} : { oracles: "changed" }),
    };

    if (refused.length > 0) {
      failures.push(
        `tests or settings that were there before were changed: ${describeRefused(refused)}`,
      );
    }

    checks.push(...result.checks);
    failures.push(
      ...result.failures.map(
        ({ rule, file, found, expected }) =>
          `${rule}${file === null ? "" : ` ${file}`}: found ${found}, expected ${expected}`,
      ),
    );
  }

  const namedOutcome = await proveNamed(execution, names);
  if (namedOutcome.facts["oracles"] === "changed") await recordProtectedChanges(execution); // what a person is asked about
  failures.push(...(namedOutcome.holds ? [] : [namedOutcome.detail]));

  const combined = {
    facts: { ...facts, ...namedOutcome.facts },
    checks: [...checks, ...namedOutcome.checks],
    hollow: placeholders,
  };

  return {
    ...namedOutcome,
    ...combined,
    holds: failures.length === 0,
    detail: failures.join("; "),
  };
}

/** Whether proofs of the registry hold on the branch's newest commit, one after the other. */
export async function proveNamed(
  execution: StepExecution,
  names: readonly string[],
): Promise<ProofOutcome> {
  const { run, cursor, step, openAttempt } = readContext(execution);
  const { attempt, cancel, runtime } = execution;
  const failures: string[] = [];
  const checks: CheckResult[] = [];
  let facts: Facts = {};
  let locks: readonly Check[] | undefined;
  let reason: string | undefined;

  for (const name of names) {
    const registered = runtime.functions.proof[name];
    invariant(registered !== undefined, `a proof is in the registry: ${name}`);

    const result = await registered.prove({
      attempt,
      state: run,
      cursor,
      commit: run.tip.commit,
      changed: openAttempt.paths,
      ...selectPastOutcomes(cursor, step),
      cancel: cancel.signal,
      onLiveEvent: runtime.onLiveEvent,
    });

    facts = { ...facts, ...result.facts };
    checks.push(...(result.checks ?? []));
    locks = result.locks ?? locks;
    if (result.ok) continue;
    failures.push(`${name}: ${result.detail ?? "does not hold"}`);
    reason ??= result.reason;
  }

  if (cancel.isCancelled) throw new Cancelled();
  const optional = {
    ...(locks === undefined ? {} : { locks }),
    ...(reason === undefined ? {} : { reason }),
  };

  return { holds: failures.length === 0, detail: failures.join("; "), facts, checks, ...optional };
}

/**
 * Records a successful execution as completed, or as failed if the step's own proof does not hold.
 */
export async function recordIfProved(
  execution: StepExecution,
  outcome: Omit<EventOf<"step_completed">, "event" | "actor" | "reason_code"> & {
    readonly reason_code?: string;
  },
): Promise<void> {
  if ((readContext(execution).step.proof ?? []).length === 0) {
    return execution.record({ event: "step_completed", ...outcome });
  }

  const proof = await proveStep(execution);
  const outcomeWithProof = {
    ...outcome,
    facts: { ...outcome.facts, ...proof.facts },
    checks: [...(outcome.checks ?? []), ...proof.checks],
  };

  if (proof.holds) {
    return execution.record({
      event: "step_completed",
      ...outcomeWithProof,
      ...locksField(proof.locks),
      ...placeholderField(proof.hollow),
    });
  }

  const { detail, reason: reason_code = "proof_missing" } = proof;
  const fingerprint = errorFingerprint(reason_code, detail);
  return execution.record({
    event: "step_failed",
    ...outcomeWithProof,
    detail,
    fingerprint,
    reason_code,
  });
}

export const locksField = (locks: readonly Check[] | undefined): { readonly locks?: Check[] } =>
  locks === undefined ? {} : { locks: [...locks] };

const phaseDirDefault = ".planning/phases/{phase}";

/** The folder of a phase's own documents, as its flow says. */
export const fillPhaseFolder = (
  { phase_dir = phaseDirDefault }: Pick<FlowView, "phase_dir">,
  phase: string,
): string => phase_dir.replaceAll("{phase}", () => phase);

/** Fills in the phase's folder and id, and the task's id, in a path or pattern. */
export const fillPath = (flow: FlowView, text: string, phase: string, task: string): string =>
  text
    .replaceAll("{phase_dir}", () => fillPhaseFolder(flow, phase))
    .replaceAll("{phase}", () => phase)
    .replaceAll("{task}", () => task);

/** The same in every text of an artifact rule. Ids have no character that JSON would escape. */
export const fillGate = (flow: FlowView, gate: Gate, phase: string, task = ""): Gate =>
  JSON.parse(fillPath(flow, JSON.stringify(gate), phase, task)) as Gate;
