// play-turn: plays one turn of a script, action by action.

import { setTimeout as wait } from "node:timers/promises";
import type { ScriptAction, ScriptTurn } from "../../contracts/script.ts";
import { type ScriptedTool, toTool } from "./actions.ts";
import type { CallRunner } from "./runner-tools.ts";

/** Everything outside the turn that a script acts on. */
export type Stage = {
  readonly cwd: string;
  readonly cancelled: AbortSignal;
  readonly callRunner: CallRunner;
  readonly sendText: (text: string) => Promise<void>;
  readonly sendThought: (text: string) => Promise<void>;
  readonly reportTool: (
    tool: ScriptedTool,
    result: { readonly ok: boolean; readonly output: string } | null,
  ) => Promise<void>;
  readonly reportUsage: (usage: TurnUsage) => Promise<void>;
  /** Bytes on stdout that aren't protocol. */
  readonly writeStdout: (bytes: Uint8Array) => Promise<void>;
  readonly ignoreTerm: () => void;
  readonly exit: (code: number) => never;
};

export type TurnUsage = {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly usd: number | null;
};
export type PlayResult =
  | { readonly stop: string; readonly used: TurnUsage | null }
  | { readonly error: { readonly code: number; readonly message: string } };

const floodLine = Buffer.from(`${"x".repeat(1023)}\n`);
const floodChunk = Buffer.concat(Array.from({ length: 64 }, () => floodLine));
const internalErrorCode = -32603;

/** Plays the actions in order, until one ends the turn or it is cancelled. */
export async function playTurn(turn: ScriptTurn, stage: Stage): Promise<PlayResult> {
  let stop = "end_turn";
  let used: TurnUsage | null = null;

  for (const action of turn.do ?? []) {
    if (stage.cancelled.aborted) return { stop: "cancelled", used };
    if ("error" in action) {
      return {
        error: { code: action.error.code ?? internalErrorCode, message: action.error.message },
      };
    }

    if ("stop" in action) stop = action.stop;
    if ("usage" in action) {
      used = addUsage(used, action.usage);
      await stage.reportUsage(used);
    }

    const tool = toTool(action, stage.cwd, stage.callRunner);
    await (tool === null ? performAction(action, stage) : callTool(tool, stage));
  }

  if (stage.cancelled.aborted) return { stop: "cancelled", used };
  if (turn.returns !== undefined) {
    await stage.sendText(`\n\`\`\`json\n${JSON.stringify(turn.returns, null, 2)}\n\`\`\`\n`);
  }

  return { stop, used };
}

async function callTool(tool: ScriptedTool, stage: Stage): Promise<void> {
  await stage.reportTool(tool, null);
  const result = await tool.perform(stage.cancelled).then(
    (output) => ({ ok: true, output }),
    (error: unknown) => ({
      ok: false,
      output: error instanceof Error ? error.message : String(error),
    }),
  );
  await stage.reportTool(tool, result);
}

async function performAction(action: ScriptAction, stage: Stage): Promise<void> {
  if ("say" in action) return stage.sendText(action.say);
  if ("think" in action) return stage.sendThought(action.think);
  if ("sleep" in action) {
    return wait(action.sleep, undefined, { signal: stage.cancelled }).catch(() => undefined);
  }

  if ("ignore_term" in action) return stage.ignoreTerm();
  if ("garbage" in action) return stage.writeStdout(Buffer.from(`${action.garbage}\n`));
  if ("flood" in action) return flood(action.flood, stage);
  if ("exit" in action) return stage.exit(action.exit);
  // It never answers, not even to a cancel.
  if ("hang" in action) await new Promise(() => undefined);
}

async function flood(bytes: number, stage: Stage): Promise<void> {
  for (let left = bytes; left > 0; left -= floodChunk.length) {
    await stage.writeStdout(floodChunk.subarray(0, left));
  }
}

function addUsage(
  total: TurnUsage | null,
  reported: {
    readonly input?: number | undefined;
    readonly output?: number | undefined;
    readonly cached?: number | undefined;
    readonly usd?: number | undefined;
  },
): TurnUsage {
  const usd =
    reported.usd === undefined && (total?.usd ?? null) === null
      ? null
      : (total?.usd ?? 0) + (reported.usd ?? 0);

  return {
    input: (total?.input ?? 0) + (reported.input ?? 0),
    output: (total?.output ?? 0) + (reported.output ?? 0),
    cached: (total?.cached ?? 0) + (reported.cached ?? 0),
    usd,
  };
}
