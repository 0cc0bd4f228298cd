import { createHash } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LiveEvent } from "../../contracts/live-event.ts";
import { openRedactor } from "../../kit/redact.ts";
import type { Agents, TurnRequest, TurnResult } from "../../ports/agent.ts";
import { readTranscripts } from "./transcript-read.ts";
import {
  runBytesMax,
  transcribeAgents,
  transcriptsFolder,
  turnBytesMax,
} from "./transcript-write.ts";

const secret = "correct-horse-battery-staple-42";
const attempt = "1@1/execute#1";
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "transcript-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ended = { kind: "ended", stop: "end_turn" } as unknown as TurnResult;
const said = (text: string): LiveEvent => ({ signal: "said", attempt, text });
const tool = (more: object): LiveEvent => ({
  signal: "tool",
  attempt,
  title: "npm test",
  status: "completed",
  kind: "execute",
  call: "a",
  ...more,
});

let ticks = 0;
const now = (): string => new Date(1_800_000_000_000 + ticks++).toISOString();

/** Plays one turn that passes these signals by. */
async function turn(
  signals: readonly LiveEvent[],
  of = attempt,
  dies = false,
): Promise<TurnResult> {
  const agents: Agents = {
    turn: (request) => {
      for (const signal of signals) request.onLiveEvent(signal);
      return dies ? Promise.reject(new Error("died")) : Promise.resolve(ended);
    },
    sweep: () => Promise.resolve(0),
  };

  const redactor = openRedactor([{ name: "HORSE", value: secret }]);
  const request = {
    attempt: of,
    prompt: `Do it with ${secret}.`,
    cast: { agent: "claude" },
    layer: "/run/layers/x",
    onLiveEvent: () => undefined,
  } as unknown as TurnRequest;

  return transcribeAgents(agents, { folder, redactor, now }).turn(request);
}

const files = (): readonly string[] =>
  readdirSync(join(folder, transcriptsFolder)).map((name) => join(folder, transcriptsFolder, name));
const bytes = (): string =>
  files()
    .map((file) => readFileSync(file, "utf8"))
    .join("");

test("words and tool calls are read back in their order, and the turn's result names the file by its hash", async () => {
  const { transcript } = await turn([
    said("I will "),
    said("look."),
    { signal: "thought", attempt, text: "hm" },
    tool({ status: "pending" }),
    tool({ status: "in_progress", input: "npm test", path: "/run/layers/x/src/a.ts" }),
    tool({ input: "npm test", path: "/run/layers/x/src/a.ts", output: "3 passed" }),
    said("Done."),
  ]);

  const [found] = readTranscripts(folder);
  expect(found).toMatchObject({ attempt, agent: "claude", how: "end_turn", left_out: 0 });
  expect(found?.entries).toMatchObject([
    { kind: "said", text: "I will look." },
    { kind: "thought", text: "hm" },
    {
      kind: "tool",
      title: "npm test",
      tool: "execute",
      path: "src/a.ts",
      input: "npm test",
      status: "completed",
      output: "3 passed",
    },
    { kind: "said", text: "Done." },
  ]);

  const content = readFileSync(join(folder, transcript?.file ?? ""));
  expect(transcript).toEqual({
    file: expect.stringMatching(/^transcripts\/.*\.jsonl$/) as string,
    bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
  });

  expect(statSync(join(folder, transcript?.file ?? "")).mode & 0o777).toBe(0o600);
});

test("no secret is written: whole, in pieces, across a tool call, in names, input or output, or where a long text is cut", async () => {
  const half = secret.length / 2;
  const long = "x".repeat(40_000);
  await turn([
    ...Array.from(`${long}${secret}${long}${long}${secret}`, said),
    said(secret.slice(0, half)),
    tool({
      title: `echo ${secret}`,
      call: secret,
      input: `echo ${secret}`,
      path: secret,
      output: `${long}${secret}${long}`,
    }),
    said(secret.slice(half)),
    { signal: "thought", attempt, text: secret },
    tool({ call: "b", output: `${secret}${long.repeat(3)}${secret}` }),
  ]);

  const text = bytes();
  expect(text).toContain("[redacted:HORSE]");

  for (let index = 0; index + 10 <= secret.length; index++) {
    expect(text).not.toContain(secret.slice(index, index + 10));
  }
});

test("a turn's file stays within its bound, the rest is counted, and what goes on afterwards still ends", async () => {
  const output = "o".repeat(30_000);
  await turn(Array.from({ length: 400 }, (_, n) => tool({ call: `c${n}`, output })));
  expect(bytes().length).toBeLessThan(turnBytesMax + 64 * 1024);
  const [found] = readTranscripts(folder);
  expect(found?.how).toBe("end_turn");
  expect(found?.left_out).toBeGreaterThan(100);
});

test("beyond a run's bound the oldest turns go", async () => {
  mkdirSync(join(folder, transcriptsFolder));
  const path = (name: string): string => join(folder, transcriptsFolder, name);

  for (const [index, name] of ["old.jsonl", "new.jsonl"].entries()) {
    writeFileSync(path(name), "");
    truncateSync(path(name), runBytesMax / 2 + index);
    utimesSync(path(name), index + 1, index + 1);
  }

  await turn([said("hello")]);
  expect(files().map((file) => file.split("/").at(-1))).toEqual([
    expect.stringMatching(/^1-1-execute/),
    "new.jsonl",
  ]);
});

test("a line that a crash cut in two is passed over, and the turn that begins again stands behind it", async () => {
  await turn([said("first")]);
  appendFileSync(files()[0] ?? "", '{"kind":"said","at":"2026-01-01T00:00:00.000Z","te');
  await turn([said("second")]);
  expect(readTranscripts(folder).map(({ entries }) => entries)).toMatchObject([
    [{ text: "first" }],
    [{ text: "second" }],
  ]);
});

test("an agent that throws leaves what it said, and a folder that cannot be written ends no turn", async () => {
  await expect(turn([said("last words")], attempt, true)).rejects.toThrow("died");
  expect(readTranscripts(folder)[0]).toMatchObject({
    how: "crashed",
    entries: [{ text: "last words" }],
  });

  rmSync(join(folder, transcriptsFolder), { recursive: true });
  writeFileSync(join(folder, transcriptsFolder), "a file in the way");
  expect(await turn([said("x")])).toEqual(ended);
});

test("a link under a transcript's name is neither written nor read through", async () => {
  await turn([said("mine")]);
  const [file = ""] = files();
  rmSync(file);
  writeFileSync(join(folder, "elsewhere"), "");
  symlinkSync(join(folder, "elsewhere"), file);
  expect(await turn([said("mine")])).toEqual(ended);
  expect(readFileSync(join(folder, "elsewhere"), "utf8")).toBe("");
});
