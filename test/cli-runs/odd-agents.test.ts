// Agents that break: the run continues or pauses with a clear reason, and never hangs.

import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted } from "../support/autopilot.ts";
import { scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";
import { aFew } from "../support/sampled.ts";

const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];
const honest = { do: [makeB, promise] };
const odd = resolve(import.meta.dirname, "../fixtures/agents/odd.mjs");

describe.concurrent("agents that break", () => {
  aFew(2).each([
    ["exits with code 3 in its turn", { exit: 3 }, "agent_failed", /exited with code 3/],
    ["answers with a protocol error", { error: { message: "boom" } }, "agent_failed", /boom/],
    ["refuses", { stop: "refusal" }, "agent_failed", /refused/],
    ["floods its output", { flood: 40_000_000 }, "agent_failed", /.+/],
  ])(
    "an agent that %s: nothing of the turn is kept, its turn is paid for, and the next one completes the run",
    async (_what, action, reason, detail) => {
      const folder = scratch();
      const { json } = await goScripted(
        folder,
        [{ do: [{ write: { path: "src/half.txt", text: "half\n" } }, action] }, honest],
        bExists,
      );
      expect(json).toMatchObject({
        result: "PASS",
        reason_code: "completion_verified",
        state: "completed",
      });

      const [failed] = eventsOf(folder, "step_failed");
      expect(failed).toMatchObject({
        reason_code: reason,
        detail: expect.stringMatching(detail) as string,
      });

      expect(eventsOf(folder, "turn_ended")).toMatchObject([
        { stop: reason, usage: { tokens: 30_000, source: "estimated" } },
        { stop: "end_turn" },
      ]);

      expect(eventsOf(folder, "changes_applied").flatMap(({ paths }) => paths)).toEqual([
        "src/b.txt",
      ]);
    },
  );

  test("garbage between the lines of the protocol does not end a turn that is otherwise sound", async () => {
    const folder = scratch();
    const garbage = [
      { garbage: "no protocol at all" },
      { garbage: '{"jsonrpc":"2.0"' },
      { garbage: "\u0000\u001b[2J" },
    ];

    const { json } = await goScripted(folder, [{ do: [...garbage, makeB, promise] }], bExists);
    expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
  });

  test("an agent that breaks every time opens the breaker, and the reason is named", async () => {
    const folder = scratch();
    const { code, json } = await goScripted(folder, [{ do: [{ exit: 3 }], repeat: 0 }], bExists);
    expect(json).toMatchObject({ result: "FAIL", reason_code: "breaker_open", state: "paused" });
    expect(code).toBe(1);
    expect(
      eventsOf(folder, "step_failed").filter(({ reason_code }) => reason_code === "agent_failed"),
    ).toHaveLength(3);

    expect((await autopilot(folder, ["report"])).out).toContain("exited with code 3");
  });

  test("a provider's limit pauses with its own reason, keeps the attempt's number, and resume plays the turn again", async () => {
    const folder = scratch();
    const turns = [{ do: [{ error: { code: 429, message: "rate limit reached, try later" } }] }];
    const waitsForNobody = { env: { AUTOPILOT_ON_LIMIT: "never" } };
    const { json } = await goScripted(folder, turns, bExists, waitsForNobody);
    expect(json).toMatchObject({
      result: "FAIL",
      reason_code: "provider_limit_reached",
      state: "paused",
    });

    expect(eventsOf(folder, "step_interrupted")).toMatchObject([
      { by: "provider", fault: "limit" },
    ]);

    const again = await autopilot(folder, ["resume", "--json"], waitsForNobody);
    expect(again.json).toMatchObject({ reason_code: "provider_limit_reached", state: "paused" });
    expect(new Set(eventsOf(folder, "step_interrupted").map(({ attempt }) => attempt)).size).toBe(
      1,
    );
  });

  test.each([
    [
      "dies at its start",
      [process.execPath, odd, "dies-at-start"],
      /exited with code 7[\s\S]*cannot find my own head/,
    ],
    ["wants a login", [process.execPath, odd, "needs-login"], /logged in/],
  ])(
    "an agent that %s pauses the run at its second try, with the reason, and nothing is charged for it",
    async (_what, argv, why) => {
      const folder = scratch();
      write(folder, { ".autopilot/config.yaml": JSON.stringify({ agents: { odd: { argv } } }) });

      const { json } = await autopilot(folder, [
        "go",
        "make b",
        "--yes",
        "--json",
        "--isolation",
        "clone",
        "--agent",
        "odd",
        ...bExists,
      ]);
      expect(json).toMatchObject({
        result: "FAIL",
        state: "paused",
        reason_code: "agent_unavailable",
      });

      expect(json.message).toMatch(why);
      expect(json.remediation.length).toBeGreaterThan(0);
      const cut = eventsOf(folder, "step_interrupted");
      expect(cut).toMatchObject(
        [1, 2].map(() => ({
          by: "agent",
          reason_code: "agent_unavailable",
          attempt: "1@1/execute#1",
        })),
      );

      expect(cut[0]?.["detail"]).toMatch(why);
      expect((await autopilot(folder, ["status", "--json"])).json["budget"]).toMatchObject({
        counters: { tokens: 0, calls: 0 },
      });
    },
  );

  test("one whose command is fixed in the config is taken by --adopt-config, though a flag had named it", async () => {
    const folder = scratch();
    const says = (argv: readonly string[]): void =>
      write(folder, { ".autopilot/config.yaml": JSON.stringify({ agents: { odd: { argv } } }) });
    const unfit = join(dirname(folder), "agent"); // it is there, and nobody may run it
    writeFileSync(unfit, "", { mode: 0o600 });
    says([unfit]);
    await autopilot(folder, [
      "go",
      "make b",
      "--yes",
      "--json",
      "--isolation",
      "clone",
      "--agent",
      "odd",
      ...bExists,
    ]);

    says([process.execPath, odd, "answers-strangely"]);
    const args = ["--max-cycles", "1", "--json"];
    expect((await autopilot(folder, ["resume", ...args])).json.reason_code).toBe(
      "agent_unavailable",
    );

    const { json } = await autopilot(folder, ["resume", "--adopt-config", ...args], {
      env: { AUTOPILOT_ISOLATION: "clone" },
    });
    expect(json.reason_code).not.toBe("agent_unavailable");
    expect(eventsOf(folder, "turn_ended")[0]).toMatchObject({ agent: "odd", said: "fine" });
  });
});
