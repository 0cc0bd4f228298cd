// agent-contract: what every implementation of the Agents port must keep, told with an agent that
// can be made to do anything.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { alive, countReturn, isRunning, type Table, until } from "./table.ts";

export function agentContract(name: string, set: () => Promise<Table>): void {
  describe(`the agents port: ${name}`, () => {
    let table: Table;
    beforeEach(async () => {
      table = await set();
    });

    afterEach(async () => {
      await table.clear();
    });

    const noneLeft = (): void => expect(alive(table.place)).toEqual([]);

    test("an honest turn: the file is there, the words are heard, the promise is read, nothing is left running", async () => {
      const result = await table.agents.turn(
        table.scripted({
          turns: [
            {
              do: [
                { think: "hm" },
                { write: { path: "src/a.ts", text: "export {};\n" } },
                { say: "finished <promise>DONE</promise>" },
              ],
              confidence: 0.9,
            },
          ],
        }),
      );
      expect(result).toMatchObject({
        kind: "ended",
        stop: "end_turn",
        promised: true,
        announcedMore: false,
        confidence: 0.9,
        outside: [],
        warnings: [],
        usage: null,
      });

      expect(result.kind === "ended" && result.said).toContain("finished");
      expect(readFileSync(join(table.layer, "src/a.ts"), "utf8")).toBe("export {};\n");
      expect(table.sessions).toHaveLength(1);
      expect(table.signals.map(({ signal }) => signal)).toEqual([
        "thought",
        "tool",
        "tool",
        "said",
      ]);

      noneLeft();
    });

    test("usage is counted for the turn, a call for each time it was told", async () => {
      const usage = [
        { usage: { input: 1200, output: 300 } },
        { usage: { input: 100, output: 10, cached: 50, usd: 0.25 } },
      ];

      const result = await table.agents.turn(table.scripted({ turns: [{ do: usage }] }));
      expect(result).toMatchObject({
        kind: "ended",
        usage: { tokens: 1660, input: 1350, output: 310, cached: 50, usd: 0.25, calls: 2 },
      });
    });

    test("what is handed back is judged, and what may be routed on is told apart", async () => {
      const result = await table.agents.turn(
        table.scripted(
          { turns: [{ do: [{ say: "here" }], returns: { count: 3, confidence: 0.4 } }] },
          { returns: countReturn },
        ),
      );
      expect(result).toMatchObject({
        kind: "ended",
        says: { count: 3 },
        claim: { count: 3, confidence: 0.4 },
        confidence: 0.4,
      });

      expect(table.asks).toEqual([]);
    });

    test("a return that does not fit is asked for again in the same session, with the errors", async () => {
      const script = {
        turns: [
          {
            when: { ask: 1 },
            do: [{ say: "<promise>DONE</promise>" }, { usage: { input: 10, output: 1 } }],
            returns: { count: "three" },
          },
          { when: { ask: 2 }, do: [{ usage: { input: 20, output: 2 } }] },
          { when: { ask: 3 }, do: [{ usage: { input: 40, output: 4 } }], returns: { count: 3 } },
        ],
      };
      const result = await table.agents.turn(table.scripted(script, { returns: countReturn }));
      expect(result).toMatchObject({
        kind: "ended",
        says: { count: 3 },
        promised: true,
        usage: { tokens: 44 },
      });

      expect(table.asks).toEqual([
        { ask: 2, errors: ["count: count: expected a number"], tokens: 11 },
        { ask: 3, errors: ["no JSON was handed back"], tokens: 22 },
      ]);

      expect(table.sessions).toHaveLength(1);
    });

    test("after two more asks it is given up, and the raw text is told", async () => {
      const result = await table.agents.turn(
        table.scripted(
          { turns: [{ do: [{ say: "no idea" }], repeat: 0 }] },
          { returns: countReturn },
        ),
      );
      expect(result).toMatchObject({ kind: "failed", reason: "return_invalid" });
      expect(result.kind === "failed" && result.detail).toContain("no idea");
      expect(table.asks.map(({ ask }) => ask)).toEqual([2, 3]);
    });

    test("who may not ask again does not", async () => {
      const result = await table.agents.turn(
        table.scripted(
          { turns: [{ repeat: 0 }] },
          { returns: countReturn, onAskAgain: () => Promise.resolve(false) },
        ),
      );
      expect(result).toMatchObject({ kind: "failed", reason: "return_invalid" });
    });

    test("an optional return may be missing, and a wrong one is a warning", async () => {
      const returns = { ...countReturn, isOptional: true };
      expect(await table.agents.turn(table.scripted({ turns: [{}] }, { returns }))).toMatchObject({
        kind: "ended",
        says: {},
        claim: null,
      });

      const wrong = await table.agents.turn(
        table.scripted({ turns: [{ returns: { count: "x" } }] }, { returns }),
      );
      expect(wrong).toMatchObject({
        kind: "ended",
        says: {},
        claim: null,
        warnings: [expect.stringContaining("does not fit")],
      });
    });

    test("a change outside the layer that the agent tells of is reported", async () => {
      const path = join(table.place, "escaped.txt");
      const result = await table.agents.turn(
        table.scripted({
          turns: [
            { do: [{ write: { path, text: "x" } }, { write: { path: "in.txt", text: "x" } }] },
          ],
        }),
      );
      expect(result).toMatchObject({ kind: "ended", outside: [path] });
    });

    test("an agent that hangs, ignores TERM and began a command in a session of its own is cancelled and leaves no process", async () => {
      const cancel = new AbortController();
      const script = {
        turns: [
          {
            do: [
              { ignore_term: true as const },
              {
                run: "(setsid sleep 1000 & echo $! > pid) ; setsid sh -c 'trap \"\" TERM; sleep 1001' > /dev/null 2>&1 &",
              },
              { say: "now" },
              { hang: true as const },
            ],
          },
        ],
      };
      const turn = table.agents.turn(table.scripted(script, { cancel: cancel.signal }));
      await until(() => table.signals.some(({ signal }) => signal === "said"), "the agent hangs");
      const sleeper = Number(readFileSync(join(table.layer, "pid"), "utf8"));
      expect(isRunning(sleeper)).toBe(true);
      expect(alive(table.place).length).toBeGreaterThanOrEqual(3);
      cancel.abort();
      expect(await turn).toMatchObject({ kind: "cut", by: "cancel" });
      expect(isRunning(sleeper)).toBe(false);
      noneLeft();
    });

    test("an agent that can be cancelled says what it used", async () => {
      const cancel = new AbortController();
      const turn = table.agents.turn(
        table.scripted(
          {
            turns: [
              { do: [{ usage: { input: 5, output: 5 } }, { say: "now" }, { sleep: 600_000 }] },
            ],
          },
          { cancel: cancel.signal },
        ),
      );

      await until(() => table.signals.some(({ signal }) => signal === "said"), "the agent sleeps");
      cancel.abort();
      expect(await turn).toMatchObject({ kind: "cut", by: "cancel", usage: { tokens: 10 } });
      noneLeft();
    });

    test("a turn cancelled before it began starts nobody", async () => {
      expect(
        await table.agents.turn(
          table.scripted(
            { turns: [{ do: [{ write: { path: "a", text: "" } }] }] },
            { cancel: AbortSignal.abort() },
          ),
        ),
      ).toMatchObject({ kind: "cut", by: "cancel" });

      expect(existsSync(join(table.layer, "a"))).toBe(false);
    });

    test("a turn that takes too long is cut by its deadline", async () => {
      const result = await table.agents.turn(
        table.scripted({ turns: [{ do: [{ hang: true }] }] }, { minutesMax: 0.02 }),
      );
      expect(result).toMatchObject({ kind: "cut", by: "deadline" });
      noneLeft();
    });

    test("an agent that dies is a failure with its exit code", async () => {
      const result = await table.agents.turn(
        table.scripted({ turns: [{ do: [{ say: "bye" }, { exit: 3 }] }] }),
      );
      expect(result).toMatchObject({
        kind: "failed",
        reason: "agent_failed",
        said: "bye",
        detail: expect.stringContaining("code 3") as string,
      });

      noneLeft();
    });

    test("garbage on stdout is ignored and counted", async () => {
      const result = await table.agents.turn(
        table.scripted({
          turns: [
            {
              do: [{ garbage: "Welcome!" }, { garbage: '{"jsonrpc": "2.0", oops' }, { say: "hi" }],
            },
          ],
        }),
      );
      expect(result).toMatchObject({
        kind: "ended",
        said: "hi",
        warnings: [expect.stringContaining("2 lines")],
      });
    });

    test("a flood ends the turn, with a clear sentence and without holding it in memory", async () => {
      const before = process.memoryUsage().rss;
      const result = await table.agents.turn(
        table.scripted({ turns: [{ do: [{ flood: 400_000_000 }, { say: "done" }] }] }),
      );
      expect(result).toMatchObject({
        kind: "failed",
        reason: "agent_failed",
        detail: expect.stringContaining("flooded its output") as string,
      });

      expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
      noneLeft();
    });

    test("a background process of an ended turn does not live on", async () => {
      const result = await table.agents.turn(
        table.scripted({
          turns: [{ do: [{ run: "setsid sleep 1000 & echo $! > pid" }, { say: "ok" }] }],
        }),
      );
      expect(result.kind).toBe("ended");
      expect(isRunning(Number(readFileSync(join(table.layer, "pid"), "utf8")))).toBe(false);
      noneLeft();
    });

    test("an error of the agent is a failure; a limit of its provider is told apart", async () => {
      const turn = (code: number, message: string) =>
        table.agents.turn(table.scripted({ turns: [{ do: [{ error: { code, message } }] }] }));
      expect(await turn(-32603, "boom")).toMatchObject({
        kind: "failed",
        reason: "agent_failed",
        detail: expect.stringContaining("boom") as string,
      });

      expect(await turn(429, "Too Many Requests")).toMatchObject({ kind: "cut", by: "provider" });
    });

    test.each(["refusal", "max_tokens", "max_turn_requests", "cancelled", "whatever"])(
      "stopping with %s is a failure",
      async (stop) => {
        const result = await table.agents.turn(
          table.scripted({ turns: [{ do: [{ say: "<promise>DONE</promise>" }, { stop }] }] }),
        );
        expect(result).toMatchObject({
          kind: "failed",
          reason: "agent_failed",
          detail: expect.stringContaining(stop) as string,
        });
      },
    );

    test("a session is taken up again by its name", async () => {
      const result = await table.agents.turn(
        table.scripted({ turns: [{ do: [{ say: "again" }] }] }, { session: "scripted-older" }),
      );
      expect(result).toMatchObject({ kind: "ended", said: "again", warnings: [] });
      expect(table.sessions).toEqual(["scripted-older"]);
    });

    test("the turn is chosen from the history, not from what a process remembers", async () => {
      const script = { turns: [{ do: [{ say: "first" }] }, { do: [{ say: "second" }] }] };
      const { facts } = table.scripted(script);

      const said = async (history: readonly (typeof facts)[]): Promise<string> => {
        const result = await table.agents.turn(
          table.scripted(script, { history, facts: { ...facts, attempt: history.length + 1 } }),
        );
        return result.kind === "ended" ? result.said : result.kind;
      };
      expect([
        await said([]),
        await said([]),
        await said([facts]),
        await said([facts, facts]),
      ]).toEqual(["first", "first", "second", "nothing to do"]);
    });

    test("a sweep ends what another life of the same run left, and nobody else", async () => {
      const left = (place: string, run: string) =>
        spawn("sleep", ["1000"], {
          detached: true,
          stdio: "ignore",
          env: {
            PATH: process.env["PATH"] ?? "",
            AUTOPILOT_RUN: run,
            AUTOPILOT_PLACE: place,
            AUTOPILOT_LIFE: "another",
          },
        });
      const mine = left(table.place, "run-2026-01-02-030405");
      const otherRun = left(table.place, "run-2026-01-02-030405-2");
      const otherPlace = left(`${table.place}-elsewhere`, "run-2026-01-02-030405");
      await until(
        () => alive(`AUTOPILOT_PLACE=${table.place}`).length === 3,
        "three processes are there",
      );

      expect(await table.agents.sweep("run-2026-01-02-030405")).toBe(1);
      expect([mine, otherRun, otherPlace].map(({ pid }) => isRunning(pid ?? 0))).toEqual([
        false,
        true,
        true,
      ]);

      otherRun.kill("SIGKILL");
      otherPlace.kill("SIGKILL");
    });
  });
}
