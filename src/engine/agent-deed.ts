// agent-deed: an agent attempt is three deeds, each with its line: the turn (paid), the apply (committed under a key), the proof.
//
// Invariants:
//   A1. What was paid for is written down before anything else is done with it.
//   A2. Nothing of an attempt that left its scope is applied.
//   A3. The agent's word decides nothing here: `passed` means that the step's own proof holds.

import type { Usage } from "../contracts/budget.ts";
import type { Draft } from "../contracts/event.ts";
import { chargeOf } from "../core/budget.ts";
import { madeProgress, fingerprintOf } from "../core/breaker.ts";
import type { TurnResult } from "../ports/agent.ts";
import type { ChangeSet } from "../ports/workspace.ts";
import { CalledOff, type Deed, settingOf } from "./deed.ts";
import { prove } from "./prove.ts";
import { orderOf } from "./turn-order.ts";

const saidCharsMax = 2_000;

export async function agentDeed(deed: Deed): Promise<void> {
  const { open } = settingOf(deed);
  if (open.stage === "started" && !(await takeTurn(deed))) return;
  const { stage } = settingOf(deed).open;
  if (stage === "turned" && !(await applyChanges(deed))) return;
  await proveStep(deed);
}

/** The turn itself; false where the attempt ended with it. */
async function takeTurn(deed: Deed): Promise<boolean> {
  const { world, attempt } = deed;
  const { run, walk, step, open } = settingOf(deed);
  const layer = await world.workspace.openLayer(attempt, step.masks ?? []);
  const brief = await world.brief(run, walk, step, open);
  const order = orderOf(deed, brief, layer);
  if (deed.cancel.signal.aborted) throw new CalledOff();

  const began = world.clock.monotonicMs();
  const result = await world.agents.turn(order.turn);
  const minutes = (world.clock.monotonicMs() - began) / 60_000;
  const usage = chargeOf(result.usage, open.need, minutes);
  if (deed.cancel.signal.aborted) {
    deed.interruption = usage;
    throw new CalledOff();
  }
  if (result.kind === "cut" && (result.by !== "deadline" || order.isBoundByBudget)) {
    await world.workspace.setAside(attempt);
    const by = result.by === "provider" ? "provider" : "budget";
    const reason_code = by === "provider" ? "provider_limit_reached" : "budget_threshold_reached";
    await deed.record({ event: "step_interrupted", attempt, by, usage, detail: result.detail, reason_code });
    return false;
  }
  if (result.kind !== "ended") return failTurn(deed, result, brief.cast.agent, usage);
  const changes = await world.workspace.changesOf(attempt);
  await deed.record(await turnOf(deed, result, changes, brief.cast.agent, usage)); // A1
  return refuseViolations(deed, changes, result.outside);
}

/** A turn that failed is paid all the same; what it left behind is set aside. */
async function failTurn(deed: Deed, result: Exclude<TurnResult, { kind: "ended" }>, agent: string, usage: Usage): Promise<false> {
  const reason = result.kind === "cut" ? "agent_timeout" : result.reason;
  const said = result.kind === "failed" ? cut(result.said) : "";
  await deed.record({
    event: "turn_ended",
    attempt: deed.attempt,
    actor: `agent:${agent}`,
    agent,
    stop: reason,
    says: {},
    said,
    promised: false,
    announced_more: false,
    confidence: null,
    usage,
  });
  await deed.world.workspace.setAside(deed.attempt);
  await fail(deed, reason, result.detail, false);
  return false;
}

async function turnOf(
  deed: Deed,
  result: Extract<TurnResult, { kind: "ended" }>,
  changes: ChangeSet,
  agent: string,
  usage: Usage,
): Promise<Draft> {
  const isLong = result.said.length > saidCharsMax || result.claim !== undefined;
  const claim = isLong ? await deed.world.journal.putBlob(JSON.stringify({ said: result.said, claim: result.claim ?? null })) : undefined;
  const says = result.confidence === null ? result.says : { ...result.says, confidence: result.confidence };
  return {
    event: "turn_ended",
    attempt: deed.attempt,
    actor: `agent:${agent}`,
    agent,
    stop: result.stop,
    says,
    said: cut(result.said),
    promised: result.promised,
    announced_more: result.announcedMore,
    confidence: result.confidence,
    usage,
    layer: changes.tree,
    ...(claim === undefined ? {} : { claim }),
    ...(result.warnings.length === 0 ? {} : { warnings: [...result.warnings] }),
  };
}

/** A2: one path outside the scope, and nothing of the attempt is applied. */
async function refuseViolations(deed: Deed, changes: ChangeSet, outside: readonly string[]): Promise<boolean> {
  const named = [
    ...changes.violations.map(({ path, kind, detail }) => ({ path, why: `${path} (${kind}: ${detail})` })),
    ...outside.map((path) => ({ path, why: `${path} (outside_layer: the agent's own tool call names it)` })),
  ];
  if (named.length === 0) return true;
  await deed.world.workspace.setAside(deed.attempt);
  await deed.record({
    event: "step_interrupted",
    attempt: deed.attempt,
    by: "scope",
    paths: named.map(({ path }) => path),
    detail: named
      .map(({ why }) => why)
      .slice(0, 50)
      .join("; "),
    reason_code: "scope_violation_blocked",
  });
  return false;
}

/** False where the attempt ended: it left its scope, or another attempt changed the same files meanwhile. */
async function applyChanges(deed: Deed): Promise<boolean> {
  const { world, attempt } = deed;
  const { run, walk, step } = settingOf(deed);
  const found = await world.workspace.inspect(attempt, null);
  if (found.commit === null && !(await refuseViolations(deed, await world.workspace.changesOf(attempt), []))) return false;
  const applied = await world.workspace.apply(attempt, subjectOf(run.drafted.objective.goal, `${walk.phase}/${step.id}`));
  if (applied === null) return true;
  if ("conflict" in applied) {
    await world.workspace.setAside(attempt);
    await fail(deed, "merge_conflict", `another attempt changed ${applied.conflict.join(", ")} meanwhile`, false);
    return false;
  }
  const { commit, parent, tree, paths, notApplied } = applied;
  await deed.record({ event: "changes_applied", attempt, commit, parent, tree, paths: [...paths], not_applied: notApplied });
  return true;
}

async function proveStep(deed: Deed): Promise<void> {
  const { run, walk, open } = settingOf(deed);
  const proof = await prove(deed); // A3
  const isChanged = open.commit !== null;
  const progress = madeProgress(run, walk.phase, { tree: run.tip.tree, checks: proof.checks, changed: isChanged });
  const facts = {
    changed: isChanged,
    promised: open.turn?.promised ?? false,
    announced_more: open.turn?.announced_more ?? false,
    ...proof.facts,
  };
  const common = { attempt: deed.attempt, facts, checks: [...proof.checks], tree: run.tip.tree, progress };
  if (proof.holds) return deed.record({ event: "step_completed", ...common });
  const fingerprint = fingerprintOf("proof_missing", proof.detail);
  return deed.record({ event: "step_failed", ...common, fingerprint, detail: proof.detail, reason_code: "proof_missing" });
}

async function fail(deed: Deed, reason: string, detail: string, progress: boolean): Promise<void> {
  const fingerprint = fingerprintOf(reason, detail);
  await deed.record({
    event: "step_failed",
    attempt: deed.attempt,
    facts: { changed: false, promised: false, announced_more: false },
    progress,
    fingerprint,
    detail,
    reason_code: reason,
  });
}

const cut = (text: string): string =>
  text.length <= saidCharsMax ? text : `${text.slice(0, saidCharsMax)}[cut: ${text.length - saidCharsMax} characters]`;

function subjectOf(goal: string, place: string): string {
  const line = goal.split("\n", 1)[0] ?? "";
  return `autopilot ${place}: ${line.length > 60 ? `${line.slice(0, 59)}…` : line}`;
}
