// run-once: starts the command for one prompt, reads its output until it reports its end, and ends it.

import type { TurnRequest } from "../../ports/agent.ts";
import type { Collector } from "../acp/collector.ts";
import { openWatch } from "../acp/ending.ts";
import type { JsonObject } from "../acp/untrusted-json.ts";
import type { End } from "../acp/outcome.ts";
import { playProcess } from "../play-process.ts";
import type { Spawned } from "../process/spawn.ts";
import type { TurnEnvironment } from "../turn-environment.ts";
import type { Dialect } from "./dialect.ts";
import { openLines } from "./lines.ts";

/** The collector's session id for a command, which has one session at a time. */
export const generatedFileSession = "this";

const warningsMax = 20;
const warningCharsMax = 500;

export type Ran = {
  readonly end: End;
  readonly session: string | null;
  /** Whether it spoke of a session at all. */
  readonly hasBegun: boolean;
  readonly usage: JsonObject | undefined;
  readonly costUsd: number | null;
  readonly stderr: string;
  /** Its last error message. */
  readonly words: string;
  readonly warnings: readonly string[];
};

export async function runOnce(
  dialect: Dialect,
  request: TurnRequest,
  environment: TurnEnvironment,
  collector: Collector,
  asked: { readonly prompt: string; readonly session: { readonly name: string; readonly isResumed: boolean } | null },
  onBegun: (session: string) => Promise<void>,
): Promise<Ran | { readonly problem: string }> {
  const { argv, input } = dialect.command({
    ...asked,
    argv: environment.argv,
    mode: environment.profile.mode,
    left: request.left(),
    tools: environment.tools,
  });
  const played = await playProcess({ ...environment, argv }, { layer: request.layer, hasInput: input !== null }, async (spawned) => {
    if (input !== null) spawned.stdin?.end(input);
    const value = await listen(dialect, request, environment, collector, spawned, onBegun);
    return { value, isAtRest: value.end.by === "stop" || value.end.by === "error" };
  });
  if ("problem" in played) return played;
  return { ...played.value, warnings: [...played.value.warnings, ...played.warnings] };
}

async function listen(
  dialect: Dialect,
  request: TurnRequest,
  environment: TurnEnvironment,
  collector: Collector,
  spawned: Spawned,
  onBegun: (session: string) => Promise<void>,
): Promise<Ran> {
  const watch = openWatch(request, environment.limits, () => collector.tools.hasOpen());
  const warnings: string[] = [];
  const calls = new Set<unknown>();
  let seen: Omit<Ran, "end" | "stderr" | "warnings"> = { session: null, hasBegun: false, usage: undefined, costUsd: null, words: "" };
  let hasBegun = false;
  let begun: Promise<void> = Promise.resolve();
  let finish: (end: End) => void = () => undefined;
  const finished = new Promise<End>((resolve) => (finish = resolve));
  collector.begin();
  const take = (line: JsonObject): void => {
    watch.life();
    const read = dialect.readLine(line);
    for (const update of read.updates ?? []) {
      // A message in several lines is one call.
      if (update["sessionUpdate"] === "usage_update" && calls.has(update["messageId"])) continue;
      calls.add(update["messageId"]);
      collector.take({ sessionId: generatedFileSession, update });
    }
    for (const warning of read.warnings ?? []) if (warnings.length < warningsMax) warnings.push(warning.slice(0, warningCharsMax));
    seen = {
      session: read.session ?? seen.session,
      hasBegun: seen.hasBegun || read.session !== undefined,
      usage: read.usage ?? seen.usage,
      costUsd: read.costUsd ?? seen.costUsd,
      words: read.errorText ?? (read.end?.by === "error" ? read.end.message : seen.words),
    };
    // At once, so that a session is known even if this process dies before the end.
    if (read.session !== undefined && read.end === undefined && !hasBegun) {
      hasBegun = true;
      begun = onBegun(read.session);
      begun.catch(() => undefined); // it is awaited below
    }
    if (read.end !== undefined) finish(read.end);
  };
  const lines = openLines(spawned.stdout, take, environment.limits.wire);
  watch.follow(spawned, lines);
  watch.follows(environment.metering);
  try {
    const first = await Promise.race([finished, watch.over]);
    // A command that printed an error and ended has said why.
    const end: End = first.by === "exit" && seen.words !== "" ? { by: "error", code: -32603, message: seen.words, data: null } : first;
    await begun;
    const { lines: count, bytes } = lines.garbage();
    if (count > 0) warnings.push(`${count} lines (${bytes} bytes) on its stdout were no events and were ignored`);
    return { ...seen, end, stderr: spawned.stderrTail(), warnings };
  } finally {
    collector.close();
    watch.close();
  }
}
