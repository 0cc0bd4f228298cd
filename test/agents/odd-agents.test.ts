import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { turnLimits } from "../../src/agents/turn/turn-limits.ts";
import { alive, setTable, type Table } from "./table.ts";

let table: Table;
afterEach(async () => {
  expect(alive(`AUTOPILOT_PLACE=${table.place}`)).toEqual([]);
  await table.clear();
});
const contains = (text: string): string => expect.stringContaining(text) as string;

describe("an agent that cannot be used", () => {
  test("never answers", async () => {
    table = await setTable({ initializeMs: 300 });
    expect(await table.agents.turn(table.odd("mute"))).toMatchObject({
      kind: "failed",
      reason: "agent_unavailable",
      detail: contains("initialize within 300 ms"),
    });
  });

  test("prints garbage on its stdout and nothing else", async () => {
    table = await setTable({ initializeMs: 300 });
    expect(await table.agents.turn(table.odd("prints-garbage"))).toMatchObject({
      kind: "failed",
      reason: "agent_unavailable",
      detail: contains("initialize within 300 ms"),
    });
  });

  test("speaks another version of the protocol", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("version-2"))).toMatchObject({
      kind: "failed",
      reason: "agent_unavailable",
      detail: contains("version 2"),
    });

    expect(table.sessions).toEqual([]);
  });

  test("opens a session whose name is a book", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("long-name"))).toMatchObject({
      kind: "failed",
      reason: "agent_unavailable",
      detail: contains("1000000 characters"),
    });

    expect(table.sessions).toEqual([]);
  });

  test("dies at its start, and its last words are told", async () => {
    table = await setTable();
    const result = await table.agents.turn(table.odd("dies-at-start"));
    expect(result).toMatchObject({
      kind: "failed",
      reason: "agent_unavailable",
      detail: contains("code 7"),
    });

    expect(result.kind === "failed" && result.detail).toContain("cannot find my own head");
  });

  test("wants to be logged in", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("needs-login"))).toMatchObject({
      kind: "failed",
      reason: "agent_unavailable",
      detail: contains("logged in"),
    });
  });

  test("is not there, is not executable, is no program, or has no folder to work in", async () => {
    table = await setTable();
    const plain = join(table.place, "plain.txt");
    writeFileSync(plain, "just text\n");
    const request = table.odd("");
    const failing = async (argv: readonly string[], layer = table.layer): Promise<unknown> =>
      table.agents.turn({ ...request, layer, cast: { agent: "x", argv: [...argv] } });
    expect(await failing(["no-such-agent-anywhere"])).toMatchObject({
      reason: "agent_unavailable",
      detail: contains("not on the PATH"),
    });

    expect(await failing(["/no/such/agent"])).toMatchObject({
      reason: "agent_unavailable",
      detail: contains("is not there"),
    });

    expect(await failing([plain])).toMatchObject({
      reason: "agent_unavailable",
      detail: contains("not executable"),
    });

    chmodSync(plain, 0o755);
    expect(await failing([plain])).toMatchObject({ kind: "failed", reason: "agent_unavailable" });
    expect(await failing([process.execPath], "/no/such/folder")).toMatchObject({
      reason: "agent_unavailable",
      detail: contains("/no/such/folder"),
    });

    expect(await table.agents.turn({ ...request, cast: { agent: "x" } })).toMatchObject({
      reason: "agent_unavailable",
      detail: contains("agents.x.argv"),
    });

    expect(await table.agents.turn({ ...request, cast: { agent: "scripted" } })).toMatchObject({
      reason: "agent_unavailable",
      detail: contains("no script"),
    });
  });
});

describe("an agent with an odd habit", () => {
  test("prints a line of 100 MB", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("long-line"))).toMatchObject({
      kind: "failed",
      reason: "agent_failed",
      detail: contains("line longer than 32 MiB"),
    });
  });

  test("talks without end: what is beyond the limit is counted", async () => {
    table = await setTable();
    const result = await table.agents.turn(table.odd("talks-without-end"));
    expect(result).toMatchObject({ kind: "ended", warnings: [contains("beyond the limit")] });
    expect(result.kind === "ended" && result.said.length).toBe(4 * 1024 * 1024);
  });

  test("asks for more than anyone would", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("asks-for-everything"))).toMatchObject({
      kind: "failed",
      reason: "agent_failed",
      detail: contains("requests"),
    });
  });

  test("asks before it changes a file in the layer: allowed this once, though always stands first", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("asks-inside"))).toMatchObject({
      kind: "ended",
      said: contains("id-allow_once"),
    });
  });

  test("asks before it changes a file elsewhere: refused, and the path is told", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("asks-outside"))).toMatchObject({
      kind: "ended",
      said: contains("id-reject_once"),
      outside: ["/etc/passwd"],
    });
  });

  test("announces that it resumes sessions and cannot: a new one is opened, with a warning", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("boasts", { session: "older" }))).toMatchObject({
      kind: "ended",
      warnings: [contains("could not be taken up")],
    });

    expect(table.sessions).toEqual(["s"]);
  });

  test("tells an older session once more: that is not said again", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("loads", { session: "older" }))).toMatchObject({
      kind: "ended",
      said: "hello",
      warnings: [],
    });
  });

  test("closes its output and stays", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("closes-its-output"))).toMatchObject({
      kind: "failed",
      reason: "agent_failed",
      detail: contains("closed its output"),
    });
  });

  test("answers with nothing", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("answers-nothing"))).toMatchObject({
      kind: "failed",
      reason: "agent_failed",
    });
  });

  test("says things nobody asked for and nobody knows", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("answers-strangely"))).toMatchObject({
      kind: "ended",
      said: "fine",
      warnings: [contains("3 lines")],
    });
  });

  test("dies right after its answer: the answer counts", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("dies-after-answering"))).toMatchObject({
      kind: "ended",
      said: "last words",
    });
  });

  test("has used up its provider's limit", async () => {
    table = await setTable();
    expect(await table.agents.turn(table.odd("limited"))).toMatchObject({
      kind: "cut",
      by: "provider",
      detail: contains("try later"),
    });
  });

  test("gives no sign of life", async () => {
    table = await setTable({ ...turnLimits, stallMs: 400 });
    expect(await table.agents.turn(table.odd("silent"))).toMatchObject({
      kind: "failed",
      reason: "agent_timeout",
      detail: contains("no sign of life"),
    });
  });
});

test("isolation may be put around an agent, and the mark stays on it", async () => {
  table = await setTable(
    {},
    {
      wrap: (argv, _order, env) => ({
        argv: ["/usr/bin/env", "WRAPPED=yes", ...argv],
        cwd: table.layer,
        env: { PATH: env["PATH"] ?? "" },
      }),
    },
  );

  const result = await table.agents.turn(
    table.scripted({ turns: [{ do: [{ run: "env > seen" }] }] }),
  );
  expect(result.kind).toBe("ended");
  const seen = readFileSync(join(table.layer, "seen"), "utf8").split("\n");
  expect(seen).toEqual(
    expect.arrayContaining([
      "WRAPPED=yes",
      "AUTOPILOT_RUN=run-2026-01-02-030405",
      "AUTOPILOT_ATTEMPT=1@1/execute#1",
    ]),
  );

  expect(seen.filter((word) => word.startsWith("HOME="))).toEqual([]);
});
