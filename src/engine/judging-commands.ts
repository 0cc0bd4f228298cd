// judging-commands: lists the commands that judge a run, and finds out whether a gate has one.
//
// Invariant:
//   J1. One list for the whole run: its checks and every command of its flow. So a change of what
//       they use has one name, wherever it is found, and a person approves it once.

import type { Check } from "../contracts/evidence.ts";
import type { Flow, Gate, Proof } from "../contracts/flow.ts";
import type { RunView } from "../core/state.ts";
import { listAllSteps } from "../flows/step-lists.ts";

export const listJudgingCommands = (run: RunView): readonly Check[] => [
  ...(run.drafted.checks as readonly Check[]),
  ...findLockedChecks(run),
  ...listFlowCommands(run.drafted.flow as Flow),
]; // J1

/** Whether a rule, or one inside it, is decided by a command. */
export function runsCommand(gate: Gate): boolean {
  return findCommands(gate).length > 0;
}

function findCommands(proof: Proof): readonly string[] {
  if (typeof proof === "string") return [];
  const inner = [
    ...(proof.if === undefined ? [] : [proof.if]),
    ...(proof.all ?? []),
    ...(proof.else ?? []),
  ].flatMap(findCommands);
  return proof.command === undefined ? inner : [proof.command, ...inner];
}

/** Checks that documents brought and steps locked, of every cursor. */
const findLockedChecks = (run: RunView): readonly Check[] =>
  Object.values(run.cursors).flatMap(({ checks }) => (checks ?? []) as readonly Check[]);

/**
 * Every command that a flow itself contains: in its steps' gates, and the words of its checks that
 * are neither groups nor proofs (lint allows no command of one bare word there). The proofs of whole
 * phases are left out: survey.ts asks them without their commands.
 */
function listFlowCommands(flow: Flow): readonly Check[] {
  const commands = listAllSteps(flow).flatMap(({ step }) => [
    ...(step.check ?? []).filter((word) => !/^[a-z][a-z0-9_-]*$/.test(word)),
    ...(step.proof ?? []).flatMap(findCommands),
  ]);
  return [...new Set(commands)].map((command) => ({
    id: `flow:${command}`,
    kind: "proof",
    title: command,
    command,
    source: "flow",
  }));
}
