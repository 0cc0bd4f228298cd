// installed: which real agents the tests may drive: the ones scripts/agents.mjs put into its cache,
// or those of them that $AUTOPILOT_TEST_AGENTS names.

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** Every agent the stories are told of, the smallest first. */
export const agentNames = [
  "codex-zed",
  "codex",
  "claude",
  "opencode",
  "gemini",
  "copilot",
  "qwen",
  "kimi",
  "pi",
  "claude-cli",
  "codex-cli",
] as const;
export type AgentName = (typeof agentNames)[number];

export type Installed = {
  readonly version: string;
  /** Must come first on the PATH. */
  readonly path: readonly string[];
  /** The words that make it speak ACP. */
  readonly argv: readonly string[];
};

const cache =
  process.env["AUTOPILOT_AGENTS_CACHE"] ?? join(homedir(), ".cache", "autopilot", "agents");
const manifest = join(cache, "agents.json");
const table = (existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : {}) as Readonly<
  Record<string, Installed>
>;
const chosen = (process.env["AUTOPILOT_TEST_AGENTS"] ?? "")
  .split(",")
  .filter((name) => name !== "");

export const installedOf = (name: AgentName): Installed | null => table[name] ?? null;

/** The agents a test file goes through, each with the words that are in its title. */
export const agentsToTry: readonly {
  readonly name: AgentName;
  readonly isHere: boolean;
  readonly title: string;
}[] = agentNames
  .filter((name) => chosen.length === 0 || chosen.includes(name))
  .map((name) => {
    const here = installedOf(name);
    const title =
      here === null
        ? `${name} (skipped: not installed, see node scripts/agents.mjs ${name})`
        : `${name} ${here.version}`;

    return { name, isHere: here !== null, title };
  });

export const realKey = "sk-real-key-of-the-user-000000000001";

/**
 * The environment of a user who has this agent on the PATH, a key for every provider, and all
 * providers at one address.
 */
export function userEnvironment(name: AgentName, url: string): Readonly<Record<string, string>> {
  const path = [...(installedOf(name)?.path ?? []), process.env["PATH"] ?? ""].join(delimiter);
  const openai = `${url}/v1`;
  return {
    PATH: path,
    LANG: "C.UTF-8",
    // A limit an hour long is not waited for; the run stays paused.
    AUTOPILOT_ON_LIMIT: "never",
    ANTHROPIC_API_KEY: realKey,
    ANTHROPIC_BASE_URL: url,
    OPENAI_API_KEY: realKey,
    OPENAI_BASE_URL: openai,
    GEMINI_API_KEY: realKey,
    GOOGLE_GEMINI_BASE_URL: url,
    KIMI_API_KEY: realKey,
    KIMI_BASE_URL: openai,
  };
}
