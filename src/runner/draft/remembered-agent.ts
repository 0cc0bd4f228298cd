// remembered-agent: asks once which of several installed agents the user wants if none is named, and
// remembers it in the user's state folder, never in the project: a repository must not choose the
// agent.

import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { CommandContext } from "../../project/command-context.ts";

const nameBytesMax = 100;

/**
 * The file that holds the agent's name. A relative XDG path is ignored, as its specification asks.
 */
export function rememberedAgentPath(env: CommandContext["env"]): string {
  const xdg = env["XDG_STATE_HOME"];
  const base =
    xdg !== undefined && xdg.startsWith("/")
      ? xdg
      : join(env["HOME"] ?? homedir(), ".local", "state");
  return join(base, "autopilot", "agent");
}

/**
 * Returns the agent that was chosen before, if it is still installed; else asks. Null if there is
 * no terminal to ask on.
 */
export async function askForAgent(
  context: CommandContext,
  installed: readonly string[],
): Promise<{ readonly name: string; readonly isRemembered: boolean } | null> {
  const path = rememberedAgentPath(context.env);
  const remembered = readChoice(path);
  if (remembered !== null && installed.includes(remembered)) {
    return { name: remembered, isRemembered: true };
  }

  const answer = context.isTerminal
    ? await context.ask("Several agents are installed here. Which one should work?", installed)
    : null;
  if (answer === null || !installed.includes(answer)) return null;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const temporary = `${path}.${process.pid}`;
    writeFileSync(temporary, `${answer}\n`, { mode: 0o600 });
    renameSync(temporary, path);
    context.show(
      `Remembered in ${path}. Another one: --agent NAME, or agent: NAME in your config.`,
    );
  } catch {
    context.show(`${path} can't be written, so this will be asked again.`);
  }

  return { name: answer, isRemembered: false };
}

function readChoice(path: string): string | null {
  try {
    const stats = lstatSync(path);
    return stats.isFile() && stats.size <= nameBytesMax ? readFileSync(path, "utf8").trim() : null;
  } catch {
    return null;
  }
}
