// run-once: starts the command for one prompt, reads its output until it reports its end, and ends
// it.

import type { TurnRequest } from "../../ports/agent.ts";
import type { Collector } from "../turn/collector.ts";
import { openWatch } from "../turn/ending.ts";
import type { JsonObject } from "../turn/untrusted-json.ts";
import type { TurnEnd } from "../turn/outcome.ts";
import { runProcess } from "../run-process.ts";
import type { SpawnedAgent } from "../process/spawn-agent.ts";
import type { PreparedTurn } from "../prepared-turn.ts";
import { type Dialect, internalErrorCode, type ParsedLine } from "./dialect.ts";
import { openJsonLines } from "./json-lines.ts";

/** The collector's session id for a command, which has one session at a time. */
export const commandSession = "this";

const warningsMax = 20;
const warningCharsMax = 500;

export type CommandResult = {
  readonly end: TurnEnd;
  readonly session: string | null;
  /** Whether it named a session at all. */
  readonly hasBegun: boolean;
  readonly usage: JsonObject | undefined;
  readonly costUsd: number | null;
  readonly stderr: string;
  /** Its last error message. */
  readonly errorText: string;
  readonly warnings: readonly string[];
};

/** A turn of a command-line agent: what all its prompts share. */
export type CommandTurn = {
  readonly dialect: Dialect;
  readonly request: TurnRequest;
  readonly prepared: PreparedTurn;
  readonly collector: Collector;
  /** Called with the session's name as soon as the command prints it. */
  readonly onBegun: (session: string) => Promise<void>;
};

/** Runs the command for one prompt; or says why it could not be started. */
export async function runOnce(
  turn: CommandTurn,
  prompt: {
    readonly prompt: string;
    readonly session: { readonly name: string; readonly isResumed: boolean } | null;
  },
): Promise<CommandResult | { readonly problem: string }> {
  const { dialect, request, prepared } = turn;
  const { argv, input } = dialect.composeCommand({
    ...prompt,
    argv: prepared.argv,
    mode: prepared.profile.mode,
    allowanceLeft: request.allowanceLeft(),
    tools: prepared.tools,
  });

  const outcome = await runProcess(
    { ...prepared, argv },
    { layer: request.layer, hasInput: input !== null },
    async (spawned) => {
      if (input !== null) spawned.stdin?.end(input);
      const value = await readUntilEnd(turn, spawned);
      return { value, isAtRest: value.end.by === "stop" || value.end.by === "error" };
    },
  );
  if ("problem" in outcome) return outcome;
  return { ...outcome.value, warnings: [...outcome.value.warnings, ...outcome.warnings] };
}

/** What the lines so far say. */
type Progress = Pick<CommandResult, "session" | "hasBegun" | "usage" | "costUsd" | "errorText">;

const noProgress: Progress = {
  session: null,
  hasBegun: false,
  usage: undefined,
  costUsd: null,
  errorText: "",
};

/** Reads the command's lines until it reports its end, or the turn ends otherwise. */
async function readUntilEnd(turn: CommandTurn, spawned: SpawnedAgent): Promise<CommandResult> {
  const { dialect, request, prepared, collector, onBegun } = turn;
  const watch = openWatch(request, prepared.limits, () => collector.tools.hasOpen());
  const collectUpdate = openUpdateCollection(collector);
  const warnings: string[] = [];
  let progress = noProgress;
  let isSessionReported = false;
  let reportingSession: Promise<void> = Promise.resolve();
  let finish: (end: TurnEnd) => void = () => undefined;
  const finished = new Promise<TurnEnd>((resolve) => (finish = resolve));
  collector.begin();

  const handleLine = (line: JsonObject): void => {
    watch.noteLife();
    const parsed = dialect.parseLine(line);
    for (const update of parsed.updates ?? []) collectUpdate(update);
    for (const warning of parsed.warnings ?? []) {
      if (warnings.length < warningsMax) warnings.push(warning.slice(0, warningCharsMax));
    }

    progress = addToProgress(progress, parsed);

    // Reported at once, so that the session is known even if this process dies before the end.
    if (parsed.session !== undefined && parsed.end === undefined && !isSessionReported) {
      isSessionReported = true;
      reportingSession = onBegun(parsed.session);
      reportingSession.catch(() => undefined); // it is awaited below
    }

    if (parsed.end !== undefined) finish(parsed.end);
  };
  const lines = openJsonLines(spawned.stdout, handleLine, prepared.limits.wire);
  watch.follow(spawned, lines);
  watch.followMeter(prepared.metering);

  try {
    const firstEnd = await Promise.race([finished, watch.whenOver]);
    const end = explainExit(firstEnd, progress.errorText);
    await reportingSession;

    const garbage = lines.garbage();
    if (garbage.lines > 0) {
      warnings.push(
        `${garbage.lines} lines (${garbage.bytes} bytes) on its stdout were no events and were ignored`,
      );
    }

    return { ...progress, end, stderr: spawned.stderrTail(), warnings };
  } finally {
    collector.close();
    watch.close();
  }
}

/** Hands updates to the collector; of the lines of one message, one counts as a model call. */
function openUpdateCollection(collector: Collector): (update: JsonObject) => void {
  const countedMessages = new Set<unknown>();

  return (update) => {
    if (update["sessionUpdate"] === "usage_update") {
      const messageId = update["messageId"];
      if (countedMessages.has(messageId)) return;
      countedMessages.add(messageId);
    }

    collector.take({ sessionId: commandSession, update });
  };
}

function addToProgress(progress: Progress, parsed: ParsedLine): Progress {
  const endError = parsed.end?.by === "error" ? parsed.end.message : undefined;

  return {
    session: parsed.session ?? progress.session,
    hasBegun: progress.hasBegun || parsed.session !== undefined,
    usage: parsed.usage ?? progress.usage,
    costUsd: parsed.costUsd ?? progress.costUsd,
    errorText: parsed.errorText ?? endError ?? progress.errorText,
  };
}

/** A command that printed an error and exited has said why it did. */
function explainExit(end: TurnEnd, errorText: string): TurnEnd {
  if (end.by !== "exit" || errorText === "") return end;
  return { by: "error", code: internalErrorCode, message: errorText, data: null };
}
