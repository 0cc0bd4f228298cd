// Typed levers of agents and models as changes to a repository's config: each changes one thing,
// and one that could show nothing is refused.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { CyclePlan } from "../cycle/plan.ts";
import { planTypedEdits } from "./typed-lever.ts";

const room = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-typed-")));
afterAll(() => rmSync(room, { recursive: true, force: true }));
let made = 0;

type Given = { readonly config?: string; readonly own?: string; readonly here?: string | null };

/** The config that the lever would commit, or why it is refused. */
async function edited(
  kind: CyclePlan["lever"]["kind"],
  source: string,
  value: string,
  { config, own, here = null }: Given = {},
) {
  const root = join(room, String(++made));
  const put = (folder: string, text: string | undefined): void => {
    mkdirSync(join(root, folder), { recursive: true });
    if (text !== undefined) writeFileSync(join(root, folder, "config.yaml"), text);
  };
  put(".autopilot", config);
  put("home/autopilot", own);

  const edits = await planTypedEdits({
    lever: { kind, source, value },
    id: `${kind}:${source}`,
    root,
    env: { HOME: root, XDG_CONFIG_HOME: join(root, "home") },
    readCommitted: (path) =>
      Promise.resolve(path.endsWith("config.yaml") ? (config ?? null) : null),
    defaultAgent: () => Promise.resolve(here),
  });
  return "problem" in edits
    ? edits
    : { config: parse(edits.files[0]?.text ?? "") as Record<string, unknown> };
}

describe("a model", () => {
  test("a second lever on it follows the first, and leaves what another role plays", async () => {
    const first =
      "version: 1\nagents: { claude-lever: { like: claude, model: opus } }\nroles: { executor: claude-lever, judge: claude-lever }\n";
    expect(await edited("model", "executor", "sonnet", { config: first })).toEqual({
      config: {
        version: 1,
        agents: {
          "claude-lever": { like: "claude", model: "opus" },
          "claude-lever-2": { like: "claude", model: "sonnet" },
        },
        roles: { executor: "claude-lever-2", judge: "claude-lever" },
      },
    });
  });

  test("is tried with the agent that works here, not with another", async () => {
    expect(await edited("model", "executor", "o3", { here: "codex" })).toMatchObject({
      config: {
        agents: { "codex-lever": { like: "codex", model: "o3" } },
        roles: { executor: "codex-lever" },
      },
    });
  });

  test("for all reaches the roles that have a name of their own, and is refused where agents differ", async () => {
    const same = "version: 1\nagent: claude\nroles: { judge: claude }\n";
    expect(await edited("model", "all", "opus", { config: same })).toMatchObject({
      config: { agent: "claude-lever", roles: { judge: "claude-lever" } },
    });

    expect(
      await edited("model", "all", "opus", {
        config: "version: 1\nagent: claude\nroles: { judge: codex }\n",
      }),
    ).toMatchObject({
      problem: expect.stringContaining("claude, codex") as unknown,
      remedy: "name a role: model:ROLE",
    });
  });

  test("of an agent with settings of the user's own changes there alone, and nothing of theirs is copied", async () => {
    const own =
      "version: 1\nagents: { mine: { like: claude, env: { A_KEY: private } } }\nroles: { judge: mine }\n";
    const done = await edited("model", "judge", "opus", { own });
    expect(done).toEqual({ config: { version: 1, agents: { mine: { model: "opus" } } } });
    expect(await edited("model", "judge", "opus", { own: `${own}agent: mine\n` })).toMatchObject({
      problem: "The model of mine can't be changed for judge alone.",
    });
  });
});

describe("an agent", () => {
  test("for all reaches the roles that have a name of their own", async () => {
    expect(
      await edited("agent", "all", "codex", {
        config: "version: 1\nagent: claude\nroles: { judge: claude }\n",
      }),
    ).toMatchObject({
      config: { agent: "codex", roles: { judge: "codex" } },
    });
  });

  test.each([
    [
      "a role that no flow has",
      "exekutor",
      "codex",
      /^No flow here has a role exekutor\. Did you mean executor\?/,
    ],
    [
      "an agent that nobody knows",
      "judge",
      "cluade",
      /^There is no agent called cluade\. Did you mean claude\?/,
    ],
    [
      "one of several that nobody knows",
      "judge",
      "codex,nobody",
      /^There is no agent called nobody\./,
    ],
  ])("%s is refused", async (_what, role, agent, said) => {
    expect(await edited("agent", role, agent)).toMatchObject({
      problem: expect.stringMatching(said) as unknown,
    });
  });
});
