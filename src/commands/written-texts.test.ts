// Every text we write from a template, filled in: none of it shows a placeholder, and what claims
// to be YAML or TOML is that.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { composeLaunch } from "../agents/profiles/compose-launch.ts";
import { chooseLogin } from "../agents/profiles/choose-login.ts";
import type { AgentProfile, PermissionMode } from "../agents/profiles/profile.ts";
import { agentProfiles } from "../agents/profiles/shipped-profiles.ts";
import { Config } from "../contracts/config.ts";
import { embedded } from "../flows/catalog/embedded.ts";
import { placeholders, renderPrompt } from "../flows/prompt.ts";
import { isRefused, readLocated } from "../kit/located.ts";
import { toShownCommand } from "../runner/draft/agent-availability.ts";
import { configTemplate } from "./init.ts";

const unfilled = /\{\{\w+\}\}/;
const turn = { home: "/h", url: "http://127.0.0.1:1", token: "t", proxy: "http://127.0.0.1:2" };
const modes: readonly PermissionMode[] = ["read", "edit", "full"];
const shipped = Object.entries<AgentProfile>(agentProfiles);

test.each(shipped)(
  "%s: command, variables and config files in every mode and with every login",
  (_name, profile) => {
    const home = mkdtempSync(join(tmpdir(), "texts-"));
    try {
      for (const { path } of profile.ownLogin?.files ?? []) {
        mkdirSync(dirname(join(home, path)), { recursive: true });
        writeFileSync(join(home, path), "{}");
      }

      const keys = Object.fromEntries(
        profile.meters.flatMap(({ keyEnv }) => keyEnv).map((name) => [name, "k"]),
      );

      const tokens = Object.fromEntries(
        (profile.ownLogin?.tokenEnv ?? []).map((name) => [name, "t"]),
      );

      for (const mode of modes) {
        for (const env of [{}, keys, tokens]) {
          const moded = {
            ...profile,
            mode,
            argv: [...profile.argv, ...(profile.programs[0]?.words ?? [])],
          };
          const launched = composeLaunch(moded, chooseLogin(moded, env, home), turn);
          expect(JSON.stringify(launched)).not.toMatch(unfilled);
          expect(
            toShownCommand(
              moded.found === "path"
                ? { profile: moded, argv: moded.argv }
                : { profile: moded, argv: [] },
            ).join(" "),
          ).not.toMatch(unfilled);
        }
      }
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
);

test.each(Object.entries(embedded))(
  "%s: every prompt, with all that fills it",
  (_flow, { prompts }) => {
    const values = Object.fromEntries(Object.keys(placeholders).map((name) => [name, "filled"]));
    const named = new RegExp(`\\{(?:${Object.keys(placeholders).join("|")})\\}`);

    for (const [name, text] of Object.entries(prompts)) {
      expect(renderPrompt(text, values), name).not.toMatch(unfilled);
      expect(renderPrompt(text, {}), name).not.toMatch(named);
    }
  },
);

test("the config that init writes is valid whatever the checks and agents are called", () => {
  for (const found of [
    { agents: [], checks: [] },
    {
      agents: ["claude", "codex"],
      checks: ["npm run test", "echo 'a: b' # \"c\"\nversion: 2", "make\u2028test"],
    },
  ]) {
    const text = configTemplate(found);
    expect(text).not.toMatch(unfilled);
    const read = readLocated("config.yaml", Buffer.from(text), Config);
    expect(isRefused(read) ? read.findings : read.value).toEqual({ version: 1 });
    const uncommented = text.replaceAll(/^# (agent:|checks:)/gm, "$1").replaceAll(/^# {3}/gm, "  ");
    expect(isRefused(readLocated("config.yaml", Buffer.from(uncommented), Config))).toBe(false);
  }
});
