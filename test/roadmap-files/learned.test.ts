// What a run learned from a failed phase reaches who plans the next one, in the words of
// learnings.md.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { autopilot, scripted } from "../support/autopilot.ts";
import { project, quiet, read, turnsOf } from "./project.ts";

/** An agent of the protocol that writes down what it is told, and does nothing. */
const spy = `
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") answer(id, { protocolVersion: params.protocolVersion, agentCapabilities: {}, authMethods: [] });
  else if (method === "session/new") answer(id, { sessionId: "s" });
  else if (method === "session/prompt") {
    appendFileSync(new URL("told.txt", import.meta.url), params.prompt.map(({ text }) => text).join("\\n"));
    answer(id, { stopReason: "end_turn" });
  } else if (id !== undefined) answer(id, {});
}
`;

test("the planner of the next phase is told why the one before failed", async () => {
  const [one, two] = [
    { id: "1", name: "One" },
    { id: "2", name: "Two" },
  ];
  const folder = project([one, two]);
  const beside = dirname(folder);
  writeFileSync(join(beside, "spy.mjs"), spy);
  const junk = { ...turnsOf(one)[0], returns: { key_findings: "TBD" }, repeat: 0 };
  const [, script = ""] = scripted(folder, [...turnsOf(one, { research: junk }), ...turnsOf(two)]);
  mkdirSync(join(beside, "home/.config/autopilot"), { recursive: true });

  const config = {
    version: 1,
    agent: script,
    roles: { planner: "spy" },
    agents: { spy: { argv: [process.execPath, join(beside, "spy.mjs")] } },
  };
  writeFileSync(join(beside, "home/.config/autopilot/config.yaml"), JSON.stringify(config));

  const ended = await autopilot(
    folder,
    ["roadmap", "1,2", "--yes", "--json", "--isolation", "clone"],
    quiet,
  );
  expect(ended.json.state, ended.out + ended.err).toBe("paused"); // a planner that does nothing brings it no further
  const reported = read(beside, "told.txt");
  const page = read(folder, ".autopilot/learnings.md");
  expect(page).toContain("### Phase 1 failure -- coordination_failure");
  const [rule = "no rule"] = /\*\*Prevention rule:\*\* .*/.exec(page) ?? [];
  expect(reported).toContain("### Phase 1 failure -- coordination_failure");
  expect(reported).toContain(rule);
});
