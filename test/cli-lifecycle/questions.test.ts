// A question on somebody's screen, while other terminals answer it, stop the run, or look at it.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { autopilot, compiled, eventsOf, program } from "../support/autopilot.ts";
import { scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import { done, objective, writes } from "./stories.ts";

const turns = [
  {
    when: { attempt: 1 },
    do: [
      { ask: { question: "Is W60 an error?", options: ["error", "roll over"] } },
      { say: "I wait." },
    ],
  },
  { do: [writes("out.txt"), done] },
];

/**
 * The command on its own terminal, until the question is there; util-linux's `script` makes the
 * terminal.
 */
async function askedOn(
  folder: string,
): Promise<{ readonly screen: () => string; readonly ended: Promise<void> }> {
  const args = [process.execPath, program, "go", ...objective(folder, turns).slice(0, -1), "--yes"];
  const line = args.map((word) => `'${word}'`).join(" ");
  const home = join(dirname(folder), "home");

  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    USER: "tester",
    LANG: "C.UTF-8",
    TERM: "xterm",
    ...compiled,
  };

  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });

  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (screen += text));
  const ended = new Promise<void>((report) => child.once("close", () => report()));
  while (!screen.includes("own words:")) await wait(50);

  return { screen: () => screen, ended };
}

const hasTerminals = process.platform === "linux" && existsSync("/usr/bin/script");

// Without `script` there is no terminal to ask on; src/runner/ask-open-question.test.ts holds the
// same in process.
describe.runIf(hasTerminals).concurrent("while a question waits on the screen", () => {
  test("another terminal sees it with its numbered answers and answers it; the question goes away and the run completes", async () => {
    const folder = scratch();
    const { screen, ended } = await askedOn(folder);
    expect(screen()).toMatch(/Is W60 an error\?[^]*1\) error[^]*2\) roll over/);
    expect((await autopilot(folder, ["status", "--json"])).json).toMatchObject({
      result: "PASS",
      state: "paused",
    });

    expect((await autopilot(folder, ["inbox"])).out).toMatch(/1 {2}error\n *2 {2}roll over/);
    expect((await autopilot(folder, ["answer", "2", "--json"])).json).toMatchObject({
      result: "PASS",
      answer: "roll over",
    });

    await ended;
    expect(screen()).toContain(`Answered elsewhere (${userInfo().username}): roll over`);
    expect(eventsOf(folder, "block_answered")).toMatchObject([{ answer: "roll over" }]);
    expect((await autopilot(folder, ["status", "--json"])).json.state).toBe("completed");
  });

  test("another terminal stops the run", async () => {
    const folder = scratch();
    const { screen, ended } = await askedOn(folder);
    expect((await autopilot(folder, ["stop", "--json"])).json).toMatchObject({
      result: "PASS",
      state: "stopped",
    });

    await ended;
    expect(screen()).toContain(`Stopped elsewhere (${userInfo().username})`);
  });

  longTest(
    "another terminal pauses: the question goes away, and the run can be resumed elsewhere",
    "src/runner/ask-open-question.test.ts › a pause from another terminal takes the question away and leaves the run as it is",
    async () => {
      const folder = scratch();
      const { screen, ended } = await askedOn(folder);
      expect((await autopilot(folder, ["pause", "--json"])).json).toMatchObject({
        result: "PASS",
        state: "paused",
      });

      await ended;
      expect(screen()).toContain(`Paused elsewhere (${userInfo().username})`);
      await autopilot(folder, ["answer", "neither, skip it", "--json"]);
      expect((await autopilot(folder, ["resume", "--json"])).json.state).toBe("completed");
    },
  );
});
