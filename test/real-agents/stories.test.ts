// Every real agent that is installed, through the product, against the scripted model: to a
// verified end, and through everything that happens to a run at night. Each story ends with no
// process left and a journal that verifies.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { eventsOf } from "../support/autopilot.ts";
import { agentsToTry, type AgentName, realKey } from "./installed.ts";
import {
  countersOf,
  expectTidy,
  honest,
  midTurn,
  openStage,
  type Stage,
  tokensReported,
} from "./stage.ts";

/**
 * Killed early it has not always written its session down, and then a new one is all there can be.
 */
const forgetful: readonly AgentName[] = ["gemini"];

let stage: Stage | null = null;
afterEach(async () => {
  await stage?.close();
  stage = null;
});
const open = async (name: AgentName, script: string): Promise<Stage> =>
  (stage = await openStage(name, script));
const mainPrompts = ({ model }: Stage): readonly string[] =>
  model
    .calls()
    .filter(({ isSideCall }) => !isSideCall)
    .map(({ prompt }) => prompt);
const turned = (text: string): string =>
  text.replaceAll(/[A-Za-z]/g, (letter) =>
    String.fromCharCode(letter.charCodeAt(0) + (/[A-Ma-m]/.test(letter) ? 13 : -13)),
  );
const made = ({ folder }: Stage): string => readFileSync(join(folder, "made.txt"), "utf8").trim();

describe.each(agentsToTry)("$title", ({ name, isHere }) => {
  test.skipIf(!isHere)("works to a verified end with a key that it never sees", async () => {
    // Turned, since a file with a secret in it, the turn's own token too, is not committed.
    const stage = await open(
      name,
      `[[bash env > /tmp/env; tr A-Za-z N-ZA-Mn-za-m < /tmp/env > seen]] ${honest}`,
    );

    const { json, code } = await stage.go();
    expect(json).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
      state: "completed",
    });

    expect(code).toBe(0);
    expect(made(stage)).toBe("made by the agent");
    const seen = turned(readFileSync(join(stage.folder, "seen"), "utf8"));
    expect(seen).toMatch(/^PATH=/m);
    expect(seen).not.toContain(realKey);
    expect(stage.model.calls().every(({ status }) => status === 200)).toBe(true);
    expect(await countersOf(stage)).toMatchObject({
      tokens: tokensReported(stage),
      calls: stage.model.calls().length,
    });

    await expectTidy(stage);
  });

  test.skipIf(!isHere)("is stopped in mid-turn and leaves nothing running", async () => {
    const stage = await open(name, honest);
    const { ended } = await midTurn(stage);
    const stopped = await stage.autopilot("stop", "--json");
    expect(stopped.json).toMatchObject({ result: "PASS", state: "stopped" });
    await ended;
    await expectTidy(stage);
  });

  test.skipIf(!isHere)(
    "is killed together with its runner in mid-turn, taken up again, and finishes",
    async () => {
      const stage = await open(name, honest);
      const { child, ended } = await midTurn(stage);
      child.kill("SIGKILL");
      expect((await ended).signal).toBe("SIGKILL");
      stage.play(honest);
      const before = mainPrompts(stage);
      const resumed = await stage.autopilot("resume", "--json");
      expect(resumed.json).toMatchObject({
        result: "PASS",
        reason_code: "completion_verified",
        state: "completed",
      });

      expect(made(stage)).toBe("made by the agent");
      const [first, second] = eventsOf(stage.folder, "session_opened");
      expect(first).toMatchObject({ how: "new" });

      if (second?.["how"] !== "new" || !forgetful.includes(name)) {
        expect(second).toMatchObject({
          how: expect.stringMatching(/^(resumed|loaded)$/) as string,
          session: first?.["session"],
        });

        const [asked] = mainPrompts(stage).slice(before.length);
        expect(asked).toContain("You were cut off"); // The session holds the task already: it is not asked the same again.
      }

      await expectTidy(stage);
    },
  );

  test.skipIf(!isHere)(
    "is parked at its provider's limit, and finishes when the limit is lifted",
    async () => {
      const stage = await open(name, '[[status 429|{"retryAfterS":3600}]]');
      const { json } = await stage.go();
      expect(json).toMatchObject({ state: "paused" });
      expect(stage.model.calls().filter(({ status }) => status === 429).length).toBeGreaterThan(0);
      expect(eventsOf(stage.folder, "step_interrupted")).toMatchObject([
        { fault: "limit", until: expect.any(String) as string },
      ]);

      stage.play(honest);
      const resumed = await stage.autopilot("resume", "--now", "--json");
      expect(resumed.json).toMatchObject({
        result: "PASS",
        reason_code: "completion_verified",
        state: "completed",
      });

      await expectTidy(stage);
    },
  );

  test.skipIf(!isHere)(
    "is cut when the budget is used up, at most one request too late",
    async () => {
      const figures =
        '{"inputTokens":90000,"cacheReadTokens":0,"cacheWriteTokens":0,"outputTokens":500}';
      const busy = Array.from(
        { length: 12 },
        (_, at) => `[[usage ${figures}]] [[bash echo ${at} >> notes.txt]]`,
      ).join(" ");
      const stage = await open(name, busy);
      const { json } = await stage.go("--max-budget", "tokens=200k");
      expect(json).toMatchObject({
        result: "FAIL",
        reason_code: "budget_threshold_reached",
        state: "paused",
      });

      const reported = stage.model
        .calls()
        .filter(({ usage, isSideCall }) => usage !== null && !isSideCall);
      expect(reported.length).toBeGreaterThan(0);
      expect(reported.length).toBeLessThanOrEqual(3);
      // What was told whole is paid whole; of the request that was cut at least what had been told
      // by then.
      const { tokens } = await countersOf(stage);
      expect(tokens).toBeGreaterThan(90_500 * (reported.length - 1));
      expect(tokens).toBeLessThanOrEqual(tokensReported(stage));
      await expectTidy(stage);
    },
  );
});
