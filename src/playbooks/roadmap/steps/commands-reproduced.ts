// commands-reproduced: proof that an agent's commands have the claimed results when the runner runs them.
//
// Invariants:
//   C1. Only a claimed pass or number can be refuted; a command that cannot be run here proves nothing either way.
//   C2. A judgement counts only if it names a command or a file position.

import type { Check, Expectation } from "../../../contracts/evidence.ts";
import { whyTrivial } from "../../../documents/trivial-command.ts";
import { fieldOf, readReturn, textsOf } from "./agent-return.ts";
import type { StepResult, StepInput, RoadmapParts } from "./parts.ts";
import { findLocations } from "./source-locations.ts";
import { runChecks } from "./run-checks.ts";
import { openStep } from "./written.ts";

const commandsMax = 20;

export function commandsReproduced(parts: RoadmapParts) {
  return {
    version: 1,
    async prove(input: StepInput): StepResult {
      const claim = readReturn(parts, input.cursor, openStep(input.state, input.cursor).id);
      const commandsRun = textsOf(claim, "commands_run");
      if (commandsRun.length === 0 && !namesLocation(claim))
        return {
          ok: false,
          facts: { reproduced: false, commands: 0 },
          reason: "return_invalid",
          detail: "no command it ran and no file:line it looked at is named; expected commands_run: `command -> result`",
        }; // C2
      const claims = commandsRun.flatMap(parseCommand).slice(0, commandsMax);
      const checks = claims.map(({ command, expect }, n): Check => ({
        id: `told:${input.cursor.phase}.${n + 1}`,
        kind: "proof",
        title: command,
        command,
        source: "what the agent says it ran",
        ...(expect === null ? {} : { expect }),
      }));
      const results = await runChecks(parts, input, checks, input.commit);
      const refuted = results.filter(({ status }) => status === "failed"); // C1
      const facts = { commands: commandsRun.length, reproduced: refuted.length === 0, refuted: refuted.length };
      if (refuted.length === 0) return { ok: true, facts, checks: results };
      const detail = refuted
        .map(
          ({ check, exit_code }) =>
            `it says \`${check.command}\` came to something else than the runner's own run of it (exit ${exit_code ?? "unknown"})`,
        )
        .join("; ");
      return { ok: false, facts, checks: results, reason: "return_invalid", detail };
    },
  };
}

export type ClaimedCommand = { readonly command: string; readonly expect: Expectation | null };

/** Parses `command -> result` if the result is a pass or a number; empty otherwise. */
export function parseCommand(text: string): readonly ClaimedCommand[] {
  const [, commandPart = "", resultPart = ""] = /^(.+?)\s*(?:→|->|=>)\s*(.*)$/s.exec(text.trim()) ?? [];
  const command = commandPart
    .trim()
    .replace(/^`+|`+$/g, "")
    .replace(/^\$\s+/, "")
    .trim();
  const result = resultPart.trim().replace(/^`+|`+$/g, "");
  if (command === "" || command.includes("\n")) return [];
  const number = /^(\d{1,9})$/.exec(result)?.[1];
  const expect: Expectation | null = number === undefined ? null : { kind: "exactly", count: Number(number) };
  const isPass =
    /\b(?:pass(?:ed|es)?|ok|success(?:ful(?:ly)?)?|exit(?: code)?:? 0|green)\b/i.test(result) && !/\b(?:fail|not|no)\b/i.test(result);
  if (number === undefined && !isPass) return [];
  return whyTrivial(command, expect) === null ? [{ command, expect }] : [];
}

const namesLocation = (claim: unknown): boolean => {
  const results = fieldOf(claim, "criteria_results");
  return (Array.isArray(results) ? results : []).some((result) => {
    const evidence = fieldOf(result, "evidence");
    return typeof evidence === "string" && findLocations(evidence).length > 0;
  });
};
