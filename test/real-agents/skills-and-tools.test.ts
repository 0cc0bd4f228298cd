// What autopilot offers to real agents, in a user's own session against the scripted model: its
// skills are listed and one is loaded, the tools of its MCP server are listed and one is called.

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openModelServer } from "../model-server/model-server.ts";
import { autopilot, program } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";
import { promptOnce } from "./acp-session.ts";
import { type AgentName, agentsToTry, realKey } from "./installed.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** How each agent loads a skill: by its own tool, or by reading the file that it lists. */
const loads: Readonly<Partial<Record<AgentName, string>>> = {
  "codex-zed": "[[bash cat .agents/skills/autopilot-status/SKILL.md]]",
  codex: "[[bash cat .agents/skills/autopilot-status/SKILL.md]]",
  opencode: '[[tool skill|{"name":"autopilot-status"}]]',
};
/** A sentence of the skill's body, which no list of skills holds. */
const body = "show each question with its answers as they are written";
const tried = agentsToTry.filter(({ name }) => loads[name] !== undefined);

describe.each(tried)("$title", ({ name, isHere }) => {
  test.skipIf(!isHere)(
    "lists autopilot's skills and loads one, lists the tools of its MCP server and calls one",
    async () => {
      const folder = scratch();
      const home = join(dirname(folder), "home");
      mkdirSync(home, { recursive: true });
      expect((await autopilot(folder, ["skills", "install", "--json"])).json).toMatchObject({
        result: "PASS",
      });

      const asked: string[] = [];
      const model = await openModelServer({
        keys: [realKey],
        script: () =>
          `${loads[name] ?? ""} [[tool mcp__autopilot__explain|{"reason_code":"budget_threshold_reached"}]] [[say Nothing runs.]]`,
        onBody: (request) => asked.push(JSON.stringify(request)),
      });
      closing.push(model.close);

      const servers = [
        {
          name: "autopilot",
          command: process.execPath,
          args: [program, "mcp"],
          env: [{ name: "HOME", value: home }],
        },
      ];

      expect(
        await promptOnce(
          name,
          { folder, home, url: model.url, servers },
          "How does autopilot stand?",
        ),
      ).toBe("end_turn");

      const [first = ""] = asked.filter(
        (text) => text.includes("How does autopilot stand?") && text.includes("autopilot-status"),
      );

      for (const skill of ["autopilot-start", "autopilot-status", "autopilot-report"]) {
        expect(first, `${skill} is listed`).toContain(skill);
      }

      expect(first).not.toContain(body);
      const tools = model.calls().flatMap((call) => call.tools);
      expect(
        tools.filter((tool) => /autopilot.*(status|inbox|draft)$/.test(tool)).length,
        `among ${tools.join(" ")}`,
      ).toBeGreaterThanOrEqual(3);

      const last =
        asked.findLast(
          (text) =>
            text.includes("mcp__autopilot__explain") || text.includes("budget_threshold_reached"),
        ) ?? "";
      expect(last, "the skill's text came back").toContain(body);
      expect(last, "the tool's answer came back").toContain("might not fit the budget");
    },
  );
});
