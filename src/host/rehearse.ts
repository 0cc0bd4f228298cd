import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAgents } from "../agents/open-agents.ts";
import type { Answer } from "../contracts/answer.ts";
import type { Cast } from "../contracts/event.ts";
import { returnOf } from "../flows/returns.ts";
import { castFor } from "./cast.ts";
import { scriptedEntry } from "./embedded.ts";
import { findHome } from "./home.ts";
import type { Place } from "./place.ts";
import { refuse, reply } from "./reply.ts";
import { readSettings } from "./settings.ts";

const minutesMax = 2;

/** One harmless turn in an empty folder that goes again: is the agent there, does it answer, what does it report. */
export async function rehearse(place: Place, name: string): Promise<Answer> {
  const settings = readSettings(place, findHome(place.cwd)?.root ?? place.cwd);
  if (settings.kind !== "settings")
    return refuse("config_invalid", {
      message: settings.findings.map(({ file, line, message }) => `${file}:${line}: ${message}`).join("; "),
    });
  let text = "";
  const cast: Cast = await castFor(place, "try", name, settings.config, (kept) => {
    text = kept;
    return Promise.resolve("0".repeat(64));
  });
  const folder = mkdtempSync(join(tmpdir(), "autopilot-try-"));
  const script = join(folder, "script");
  const layer = join(folder, "work");
  const run = "run-2000-01-01-000000";
  mkdirSync(layer);
  writeFileSync(script, text);
  const agents = openAgents({
    embedded: { node: process.execPath, entry: scriptedEntry(), scriptOf: () => script },
    returnOf,
    place: folder,
    home: folder,
  });
  try {
    const result = await agents.turn({
      run,
      attempt: "1@1/try#1",
      cast,
      facts: { flow: "try", phase: "1", step: "try", role: "try", task: null, attempt: 1, ask: 1 },
      history: [],
      prompt: "Say hello in one short sentence. Change nothing and run nothing.",
      returns: null,
      promise: null,
      layer,
      minutesMax,
      scope: ["**"],
      isInterrupted: false,
      left: () => ({ tokens: Infinity, usd: Infinity, calls: Infinity }),
      isUnpaid: () => true,
      session: null,
      cancel: place.interrupted,
      onSession: () => Promise.resolve(),
      onAskAgain: () => Promise.resolve(false),
      onSignal: () => undefined,
    });
    if (result.kind === "ended")
      return reply("ok", {
        message: `${name} answered: ${result.said.slice(0, 200)}`,
        data: { agent: name, said: result.said, usage: result.usage, stop: result.stop },
      });
    return reply(result.kind === "failed" ? result.reason : "agent_timeout", { message: `${name}: ${result.detail}` });
  } finally {
    await agents.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
