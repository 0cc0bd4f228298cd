import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openGuardian } from "../../src/agents/process/guardian.ts";
import { builtGuardian, builtScripted, builtStandIn } from "./built.ts";
import { alive, isRunning, until } from "./table.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "autopilot-guardian-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const noProc = !existsSync("/proc/self/environ");

test.skipIf(noProc)(
  "no process outlives its runner, even one killed with -9 (needs /proc to look from outside)",
  async () => {
    const script = join(folder, "script.json");
    const stubborn =
      "setsid sh -c 'echo $$ > grandchild; trap \"\" TERM HUP; while :; do sleep 1; done' > /dev/null 2>&1 < /dev/null &";
    writeFileSync(
      script,
      JSON.stringify({
        turns: [
          {
            do: [
              { ignore_term: true },
              { run: stubborn },
              { run: "echo $PPID > agent" },
              { hang: true },
            ],
          },
        ],
      }),
    );

    const runner = spawn(
      process.execPath,
      [
        await builtStandIn(),
        JSON.stringify({ entry: await builtScripted(), script, place: folder, layer: folder }),
      ],
      {
        stdio: "inherit",
        env: { PATH: process.env["PATH"] ?? "" },
      },
    );

    // The same run, taken up by a newer life: it is none of the older guardian's business.
    const newer = spawn("sleep", ["1000"], {
      stdio: "ignore",
      env: {
        PATH: process.env["PATH"] ?? "",
        AUTOPILOT_RUN: "run-2026-01-02-030405",
        AUTOPILOT_LIFE: "newer",
        AUTOPILOT_PLACE: `${folder}-newer`,
      },
    });

    const pidIn = (name: string): number =>
      Number(existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : 0);
    await until(
      () => pidIn("grandchild") > 0 && pidIn("agent") > 0,
      "the agent and its grandchild have said who they are",
    );

    const [agent, grandchild] = [pidIn("agent"), pidIn("grandchild")];
    expect([agent, grandchild].map(isRunning)).toEqual([true, true]);

    runner.kill("SIGKILL");

    await until(() => !isRunning(agent) && !isRunning(grandchild), "both are gone");
    await until(
      () => alive(`AUTOPILOT_PLACE=${folder}\0`).length === 0,
      "nobody with the mark is left",
    );

    expect(isRunning(newer.pid ?? 0)).toBe(true);
    newer.kill("SIGKILL");
  },
);

test.skipIf(noProc)(
  "a check bears no mark, and a runner killed with -9 leaves none of it behind (needs /proc)",
  async () => {
    const stand = `const guardian = require(process.argv[1]).openGuardian(process.argv[2]);
    guardian.alsoEnd("HOME=" + process.argv[2] + "/a b");
    guardian.alsoEnd("HOME=" + process.argv[2] + "/ended")();
    console.log("sought");
    setInterval(() => undefined, 1000);`;
    const runner = spawn(process.execPath, ["-e", stand, await builtGuardian(), folder], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { PATH: process.env["PATH"] ?? "" },
    });

    const at = (name: string) =>
      spawn("setsid", ["sleep", "1000"], {
        stdio: "ignore",
        env: { PATH: process.env["PATH"], HOME: join(folder, name) },
      });
    const [check, ended] = [at("a b"), at("ended")];
    await once(runner.stdout, "data");
    expect([isRunning(check.pid ?? 0), isRunning(ended.pid ?? 0)]).toEqual([true, true]);
    runner.kill("SIGKILL");
    await until(() => !isRunning(check.pid ?? 0), "the check is gone");
    expect(isRunning(ended.pid ?? 0)).toBe(true); // what was released is nobody's to end
    ended.kill("SIGKILL");
  },
);

test.skipIf(noProc)(
  "a guardian goes when it is told to, and ends nobody (needs /proc to look from outside)",
  async () => {
    const kept = spawn("sleep", ["1000"], {
      stdio: "ignore",
      env: { PATH: process.env["PATH"] ?? "", AUTOPILOT_LIFE: folder },
    });

    const guardian = openGuardian(folder);
    expect(isRunning(guardian.pid ?? 0)).toBe(true);
    guardian.dismiss();
    await until(() => !isRunning(guardian.pid ?? 0), "the guardian is gone");
    expect(isRunning(kept.pid ?? 0)).toBe(true);
    kept.kill("SIGKILL");
  },
);
