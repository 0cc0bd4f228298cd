import { spawn } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentsOptions } from "../../src/agents/open-agents.ts";
import { builtReturns } from "./built.ts";
import { type FakeMeter, openFakeMeter } from "./fake-meter.ts";
import { alive, countReturn, setTable, type Table } from "./table.ts";

const contains = (text: string): string => expect.stringContaining(text) as string;
let meter: FakeMeter;
let table: Table;

beforeEach(async () => {
  meter = await openFakeMeter();
});
afterEach(async () => {
  await table.clear();
  await meter.stop();
});
const set = async (more: Partial<AgentsOptions> = {}): Promise<void> => {
  table = await setTable({}, { meter, returnsEntry: await builtReturns(), ...more });
};

describe("the runner's tools, offered to an agent", () => {
  test("a result is judged at once, and the agent fixes it inside its turn", async () => {
    await set();
    const script = {
      turns: [
        { do: [{ submit: { count: "three" } }, { submit: { count: 3 } }, { say: "handed in" }] },
      ],
    };
    const result = await table.agents.turn(table.scripted(script, { returns: countReturn }));
    expect(result).toMatchObject({ kind: "ended", says: { count: 3 }, claim: { count: 3 } });
    expect(meter.seen.tools).toEqual(["submit_result", "submit_result"]);
    expect(table.signals.filter(({ signal }) => signal === "tool")).toMatchObject([
      { title: "submit_result", status: "in_progress" },
      { status: "failed" },
      { title: "submit_result", status: "in_progress" },
      { status: "completed" },
    ]);

    expect(table.asks).toEqual([]);
    expect(alive(table.place)).toEqual([]);
  });

  test("what was accepted there outweighs a block in the answer", async () => {
    await set();
    const script = { turns: [{ do: [{ submit: { count: 3 } }], returns: { count: 4 } }] };
    expect(await table.agents.turn(table.scripted(script, { returns: countReturn }))).toMatchObject(
      { says: { count: 3 } },
    );
  });

  test("a result that is only ever refused there is asked for again, with its mistakes", async () => {
    await set();
    const script = {
      turns: [
        { when: { ask: 1 }, do: [{ submit: { count: "x" } }, { say: "there" }] },
        { when: { ask: 2 }, do: [{ submit: { count: 5 } }] },
      ],
    };
    expect(await table.agents.turn(table.scripted(script, { returns: countReturn }))).toMatchObject(
      { kind: "ended", says: { count: 5 } },
    );

    expect(table.asks).toMatchObject([{ ask: 2, errors: ["count: count: expected a number"] }]);
  });

  test("a question ends the turn without a return, and notes are kept", async () => {
    await set();
    const script = {
      turns: [
        {
          do: [
            { note: "found two ways" },
            { ask: { question: "Which one?", options: ["left", "right"] } },
            { say: "I wait" },
          ],
        },
      ],
    };
    expect(await table.agents.turn(table.scripted(script, { returns: countReturn }))).toMatchObject(
      {
        kind: "ended",
        question: "Which one?",
        answers: ["left", "right"],
        notes: ["found two ways"],
        claim: null,
      },
    );

    expect(table.asks).toEqual([]);
  });

  test("where they cannot be had, the block of JSON in the answer counts as ever", async () => {
    for (const more of [{ meter: null }, { returnsEntry: "/no/such/program.cjs" }]) {
      await set(more);
      const script = {
        turns: [{ do: [{ submit: { count: 9 } }, { say: "so be it" }], returns: { count: 3 } }],
      };
      expect(
        await table.agents.turn(table.scripted(script, { returns: countReturn })),
      ).toMatchObject({
        kind: "ended",
        says: { count: 3 },
      });

      expect(table.signals.filter(({ signal }) => signal === "tool").at(-1)).toMatchObject({
        status: "failed",
      });

      await table.clear();
    }

    await set();
  });

  test("the token of a turn opens nothing after it", async () => {
    await set();
    await table.agents.turn(table.scripted({ turns: [{ do: [{ note: "x" }] }] }));
    expect(meter.seen).toMatchObject({ opened: 1, closed: 1 });
    const [request] = meter.orders;
    expect(request).toBeDefined();
    const { toolsUrl } = meter.open(request ?? (undefined as never));

    const answer = await fetch(toolsUrl, {
      method: "POST",
      headers: { authorization: "Bearer token-1" },
      body: '{"tool":"note"}',
    });
    expect(answer.status).toBe(401);
  });
});

describe("the program that offers them", () => {
  /** Writes lines to it, ends its input, and gives what it printed. */
  const speak = async (
    env: Record<string, string>,
    lines: readonly object[],
  ): Promise<{ code: number | null; out: unknown[]; err: string }> => {
    const child = spawn(process.execPath, [await builtReturns()], {
      env: { PATH: process.env["PATH"] ?? "", ...env },
    });

    let out = "";
    let err = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.stdin.end(
      lines.map((line) => `${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`).join(""),
    );

    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return {
      code,
      out: out
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as unknown),
      err,
    };
  };

  const call = (id: number, name: string) => ({
    id,
    method: "tools/call",
    params: { name, arguments: { text: "x" } },
  });

  test("answers what was asked before its input ended, and then goes", async () => {
    await set();
    const { toolsUrl, token } = meter.open({
      onTool: () => Promise.resolve({ ok: true, text: "Noted." }),
    } as never);

    const env = { AUTOPILOT_TOOLS_URL: toolsUrl, AUTOPILOT_TOOLS_TOKEN: token };
    const { code, out } = await speak(env, [
      { id: 1, method: "initialize", params: {} },
      call(2, "note"),
      call(3, "submit_result"),
    ]);
    expect(code).toBe(0);
    expect(out).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 1 }),
        expect.objectContaining({
          id: 2,
          result: { content: [{ type: "text", text: "Noted." }], isError: false },
        }),
        // No schema was given, so there is nothing to hand in.
        expect.objectContaining({
          id: 3,
          error: { code: -32602, message: contains("Unknown tool") },
        }),
      ]),
    );
  });

  test("says what to do instead where nobody answers, and where its token is worth nothing", async () => {
    await set();
    const { toolsUrl } = meter.open({} as never);

    const failing = async (url: string): Promise<unknown> => {
      const { out } = await speak({ AUTOPILOT_TOOLS_URL: url, AUTOPILOT_TOOLS_TOKEN: "wrong" }, [
        call(1, "note"),
      ]);
      return out[0];
    };

    for (const url of [toolsUrl, "http://127.0.0.1:1/autopilot/tools"]) {
      expect(await failing(url)).toMatchObject({
        result: { isError: true, content: [{ text: contains("in your answer instead") }] },
      });
    }
  });

  test("started by hand it says what it is for", async () => {
    await set();
    expect(await speak({}, [])).toMatchObject({ code: 2, err: contains("AUTOPILOT_TOOLS_URL") });
  });
});
