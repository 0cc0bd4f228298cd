// A run whose provider would not answer: parked, heard from other terminals, and gone on by itself.

import { describe, expect, test } from "vitest";
import { autopilot, begin, eventsOf, goScripted, goWords, until } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";

const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];
const work = { do: [{ write: { path: "src/b.txt", text: "b\n" } }, { say: "<promise>DONE</promise>" }] };
const limitedUntil = (at: Date) => ({ do: [{ error: { code: 429, message: `usage limit reached, resets at ${at.toISOString()}` } }] });
const soon = (ms: number) => new Date(Date.now() + ms);

describe.concurrent("a run parked at its provider's limit", () => {
  test("says until when, waits, goes on by itself, and nothing is counted against the agent", async () => {
    const folder = scratch();
    const at = soon(20_000); // long enough for a busy machine to be parked before it
    const { child, ended } = begin(folder, goWords(folder, [limitedUntil(at)], [...bExists, "--max-cycles", "1"]));
    await until("the run to park", () => eventsOf(folder, "run_paused").length > 0);
    expect(eventsOf(folder, "step_interrupted")).toMatchObject([
      { by: "provider", fault: "limit", until: at.toISOString(), reason_code: "provider_limit_reached" },
    ]);
    expect((await autopilot(folder, ["status", "--json"])).json).toMatchObject({ state: "paused", reason_code: "provider_limit_reached" });
    await until("the run to go on", () => eventsOf(folder, "run_resumed").length > 0, 60_000);
    expect(eventsOf(folder, "run_resumed")[0]).toMatchObject({ actor: "system", reason_code: "provider_reset" });
    child.kill("SIGINT");
    await ended;
    expect(eventsOf(folder, "step_failed")).toEqual([]);
  });

  test("can be stopped from another terminal while it waits", async () => {
    const folder = scratch();
    const { ended } = begin(folder, goWords(folder, [limitedUntil(soon(3_600_000))], bExists));
    await until("the run to park", () => eventsOf(folder, "run_paused").length > 0);
    const stopped = await autopilot(folder, ["stop", "--json"]);
    expect(stopped.json).toMatchObject({ state: "stopped" });
    expect((await ended).json).toMatchObject({ state: "stopped" });
  });

  test("a pause asked for while it waits keeps it from going on", async () => {
    const folder = scratch();
    const { ended } = begin(folder, goWords(folder, [limitedUntil(soon(3_600_000))], bExists));
    await until("the run to park", () => eventsOf(folder, "run_paused").length > 0);
    await autopilot(folder, ["pause", "--json"]);
    expect((await ended).json).toMatchObject({ state: "paused", reason_code: "provider_limit_reached" });
  });

  test("a provider that is out of order is told apart from one whose limit is used up, and a refused call costs nothing", async () => {
    const folder = scratch();
    const broken = { do: [{ error: { code: 500, message: "Internal server error" } }] };
    const { json } = await goScripted(folder, [broken], bExists, { env: { AUTOPILOT_ON_LIMIT: "never" } });
    expect(json).toMatchObject({ result: "FAIL", reason_code: "provider_failed", state: "paused" });
    expect(eventsOf(folder, "step_interrupted")).toMatchObject([{ by: "provider", fault: "service" }]);
    expect(eventsOf(folder, "step_interrupted")[0]).not.toHaveProperty("usage");
    const { counters } = (await autopilot(folder, ["budget", "--json"])).json["budget"] as { readonly counters: Record<string, number> };
    expect([counters["tokens"], counters["calls"]]).toEqual([0, 0]);
    expect(eventsOf(folder, "step_failed")).toEqual([]);
  });

  test("stays paused where the policy says never", async () => {
    const folder = scratch();
    const { json } = await goScripted(folder, [limitedUntil(soon(3_600_000))], bExists, { env: { AUTOPILOT_ON_LIMIT: "never" } });
    expect(json).toMatchObject({ result: "FAIL", reason_code: "provider_limit_reached", state: "paused" });
    expect(json.message).toContain("resets at");
  });
});

test("an agent's question waits for a person, and the answer reaches the next attempt", async () => {
  const folder = scratch();
  const asking = { when: { attempt: 1 }, do: [{ ask: "Which port?" }, { say: "I need to know the port." }] };
  const { json } = await goScripted(folder, [asking, { ...work, when: { attempt: 2 } }], bExists);
  expect(json).toMatchObject({ result: "WARN", reason_code: "human_block_open", state: "paused" });
  expect((await autopilot(folder, ["inbox", "--json"])).out).toContain("Which port?");
  const answered = await autopilot(folder, ["answer", "8080", "--json"]);
  expect(answered.json).toMatchObject({ result: "PASS" });
  const resumed = await autopilot(folder, ["resume", "--json"]);
  expect(resumed.json).toMatchObject({ reason_code: "completion_verified" });
  expect(eventsOf(folder, "turn_ended")[0]).toMatchObject({ question: "Which port?" });
});
