// commands-reproduced: proof that an agent's commands have the claimed results when the runner runs
// them.
//
// Invariants:
//   C1. Only a claimed pass or number can be refuted; a command that cannot be run here proves
//       nothing either way.
//   C2. A judgement counts only if it names a command or a file position, and every position it
//       names exists. If it names commands alone, at least one of those that claim a result must
//       exist here.
//   C3. No command it names may be one that the project does not have: a script of a manifest, a
//       target of a makefile, a program by its path.

import { listSome } from "../../../kit/list-some.ts";
import type { Check, CheckResult, Expectation } from "../../../contracts/evidence.ts";
import type { GitSha } from "../../../contracts/ids.ts";
import { whyTrivial } from "../../../documents/trivial-command.ts";
import { findMissingCommands } from "../../../verify/gates/named-commands.ts";
import { readProjectCommands } from "../../../verify/gates/project-commands.ts";
import { readField, readReturn, readTexts } from "../../contract/agent-return.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { findPositionsInNone, findPositions } from "./source-positions.ts";
import { runChecks } from "./run-checks.ts";
import { findOpenStep } from "./written-document.ts";

const commandsMax = 20;
const fileBytesMax = 512 * 1024;
const danglingShownMax = 10;

/** The proof `commands_reproduced`. */
export function createCommandsReproducedProof(parts: RoadmapParts) {
  return {
    version: 1,
    prove: (input: StepInput): StepResult => proveReproduced(parts, input),
  };
}

async function proveReproduced(parts: RoadmapParts, input: StepInput): StepResult {
  const { state, cursor, commit } = input;
  const agentReturn = readReturn(parts, cursor, findOpenStep(state, cursor).id);
  const commandsRun = readTexts(agentReturn, "commands_run");

  const refuse = (detail: string, checks: readonly CheckResult[] = []) =>
    ({
      ok: false,
      facts: { reproduced: false, commands: commandsRun.length },
      checks,
      reason: "return_invalid",
      detail,
    }) as const;

  const evidence = evidenceTexts(agentReturn);
  const namesFile = evidence.some((text) => findPositions(text).length > 0);
  if (commandsRun.length === 0 && !namesFile) {
    return refuse(
      "no command it ran and no file:line it looked at is named; expected commands_run: `command -> result`",
    );
  } // C2

  const commits = [commit, state.drafted.base.commit] as const;
  const dangling = await findPositionsInNone(parts.workspace, commits, evidence.join("\n"));
  if (dangling.length > 0) {
    return refuse(`its evidence names what is not there: ${listSome(dangling, danglingShownMax)}`);
  } // C2

  const missing = await findMissingProjectCommands(parts.workspace, commits, commandsRun);
  if (missing.length > 0) {
    return refuse(`it names commands that are not there: ${listSome(missing, danglingShownMax)}`);
  } // C3

  const claims = commandsRun.flatMap(parseCommand).slice(0, commandsMax);
  const checks = claims.map((claim, index) =>
    buildCheck(claim, `told:${cursor.phase}.${index + 1}`),
  );
  const results = await runChecks(parts, input, checks, commit);

  const isAboutCommandsAlone = !namesFile && claims.length === commandsRun.length;
  if (isAboutCommandsAlone && results.every(({ status }) => status === "not_found")) {
    const names = claims.map(({ command }) => command).join("; ");
    return refuse(`there are no such commands: ${names}`, results);
  } // C2

  const refuted = results.filter(({ status }) => status === "failed"); // C1
  const facts = {
    commands: commandsRun.length,
    reproduced: refuted.length === 0,
    refuted: refuted.length,
  };
  if (refuted.length === 0) return { ok: true, facts, checks: results };

  const detail = refuted.map(describeRefuted).join("; ");
  return { ok: false, facts, checks: results, reason: "return_invalid", detail };
}

/** The commands of `command -> result` that are in none of these commits, of which the first is now. */
async function findMissingProjectCommands(
  workspace: RoadmapParts["workspace"],
  [commit, base]: readonly [GitSha, GitSha],
  commandsRun: readonly string[],
): Promise<readonly string[]> {
  const readAt =
    (version: GitSha) =>
    (path: string): Promise<string | null> =>
      workspace.textAt(version, path, fileBytesMax);
  const paths = await workspace.pathsAt(commit);
  const tree = await readProjectCommands({ paths, read: readAt(commit) }, readAt(base));
  const quoted = commandsRun.map((text) => `\`${splitClaim(text).command}\``);

  return findMissingCommands(quoted.join("\n\n"), tree);
}

const buildCheck = ({ command, expect }: ClaimedCommand, id: string): Check => ({
  id,
  kind: "proof",
  title: command,
  command,
  source: "what the agent says it ran",
  ...(expect === null ? {} : { expect }),
});

const describeRefuted = ({ check, exit_code }: CheckResult): string =>
  `it says \`${check.command}\` came to something else than the runner's own run of it (exit ${exit_code ?? "unknown"})`;

export type ClaimedCommand = { readonly command: string; readonly expect: Expectation | null };

const passingResult = /\b(?:pass(?:ed|es)?|ok|success(?:ful(?:ly)?)?|exit(?: code)?:? 0|green)\b/i;
const negation = /\b(?:fail\w*|not|no)\b/i;
/** Part of a pass: `12 passed, 0 failed`. */
const noFailures = /\b(?:0|no) (?:fail\w*|errors?)\b/gi;

/**
 * Parses `command -> result` if the result is a pass or a number: `npm test -> 12 passed`, `grep -c
 * x a.txt → 3`. Empty otherwise.
 */
export function parseCommand(text: string): readonly ClaimedCommand[] {
  const { command, result } = splitClaim(text);
  if (command === "" || result === null || command.includes("\n")) return [];
  const number = /^(\d{1,9})$/.exec(result)?.[1];
  const expect: Expectation | null =
    number === undefined ? null : { kind: "exactly", count: Number(number) };
  const isPass = passingResult.test(result) && !negation.test(result.replaceAll(noFailures, ""));
  if (number === undefined && !isPass) return [];

  return whyTrivial(command, expect) === null ? [{ command, expect }] : [];
}

/** The parts of `command -> result`; without an arrow the whole text is the command. */
function splitClaim(text: string): { readonly command: string; readonly result: string | null } {
  const [, commandPart, resultPart] = /^(.+?)\s*(?:→|->|=>)\s*(.*)$/s.exec(text.trim()) ?? [];
  const command = withoutBackticks(commandPart ?? text)
    .replace(/^\$\s+/, "") // a shell prompt
    .trim();

  return { command, result: resultPart === undefined ? null : withoutBackticks(resultPart) };
}

const withoutBackticks = (text: string): string => text.trim().replace(/^`+|`+$/g, "");

/** The evidence that the agent gives for its criteria. */
const evidenceTexts = (agentReturn: unknown): readonly string[] => {
  const results = readField(agentReturn, "criteria_results");
  return (Array.isArray(results) ? results : [])
    .map((result) => readField(result, "evidence"))
    .filter((text) => typeof text === "string");
};
