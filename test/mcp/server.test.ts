// The MCP server as a client starts it: the built program over stdio, in every revision; and what
// no agent may do, by whichever way.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import {
  autopilot,
  compiled,
  eventsOf,
  goScripted,
  program,
  runFolderOf,
  scripted,
} from "../support/autopilot.ts";
import { writeRequest } from "../../src/project/requests/request-files.ts";
import { sampled } from "../support/sampled.ts";
import { scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";

type Message = {
  readonly id?: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number };
};
type Session = {
  readonly ask: (method: string, params?: object) => Promise<Message>;
  readonly end: () => Promise<number | null>;
};

const children: ChildProcess[] = [];
afterEach(() => children.splice(0).forEach((child) => child.kill("SIGKILL")));

/** A client: one request a line, answers by their id. */
function connect(
  folder: string,
  args: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Session {
  const env = {
    PATH: process.env["PATH"],
    HOME: join(dirname(folder), "home"),
    USER: "tester",
    ...compiled,
    ...more,
  };

  const child = spawn(process.execPath, [program, "mcp", ...args], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  const waiting = new Map<number, (message: Message) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    waiting.get(message.id ?? 0)?.(message);
  });

  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  let id = 0;
  return {
    ask: (method, params = {}) =>
      new Promise((resolve) => {
        waiting.set((id += 1), resolve);
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      }),
    end: () => {
      child.stdin.end();
      return ended;
    },
  };
}

const tool = async (
  session: Session,
  name: string,
  input: object = {},
  meta: object = {},
): Promise<Record<string, unknown>> => {
  const { result } = await session.ask("tools/call", { name, arguments: input, ...meta });
  return JSON.parse((result as { content: [{ text: string }] }).content[0].text) as Record<
    string,
    unknown
  >;
};
const initialize = (session: Session, protocolVersion: string): Promise<Message> =>
  session.ask("initialize", {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "an editor", version: "1" },
  });
const modern = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "an editor", version: "1" },
  },
};
/** A run whose agent has asked a person, and waits. */
async function asked(): Promise<string> {
  const folder = scratch();
  const asking = { when: { attempt: 1 }, do: [{ ask: "Which port?" }, { say: "I need to know." }] };

  const { json } = await goScripted(
    folder,
    [asking],
    ["--done-criteria", "b is there :: test -f src/b.txt"],
  );
  expect(json).toMatchObject({ reason_code: "human_block_open", state: "paused" });
  return folder;
}

test("clients of every revision list the tools and call one, and the server ends with its input", async () => {
  const folder = scratch();
  for (const version of sampled(2, ["2024-11-05", "2025-03-26", "2025-11-25", "2025-06-18"])) {
    const session = connect(folder);
    expect((await initialize(session, version)).result).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: "autopilot" },
    });

    expect((await session.ask("tools/list")).result?.["tools"]).toHaveLength(15);
    expect(await tool(session, "status")).toMatchObject({
      result: "PASS",
      reason_code: "run_idle",
    });

    expect(await session.end()).toBe(0);
  }

  const session = connect(folder);
  expect((await session.ask("server/discover", modern)).result).toMatchObject({
    resultType: "complete",
  });

  expect((await session.ask("tools/list", modern)).result).toMatchObject({
    resultType: "complete",
    tools: { length: 15 },
  });

  expect(await tool(session, "status", {}, modern)).toMatchObject({ reason_code: "run_idle" });
  expect(await session.end()).toBe(0);
});

test("a draft made by a client executes nothing and is journaled as the client's", async () => {
  const folder = scratch();
  const [, agent = ""] = scripted(folder, []);
  const session = connect(folder, [], { AUTOPILOT_AGENT: agent, AUTOPILOT_ISOLATION: "clone" });
  await initialize(session, "2025-11-25");

  const drafted = await tool(session, "draft", {
    objective: "make b",
    scope: ["src/**"],
    criteria: ["b is there :: test -f src/b.txt"],
  });

  await session.end();
  expect(drafted).toMatchObject({ reason_code: "run_drafted", state: "draft" });
  expect(drafted["data"]).toMatchObject({ ack: expect.any(String) as string });
  expect(eventsOf(folder, "run_drafted")).toMatchObject([{ actor: "agent:an-editor" }]);
  expect(eventsOf(folder, "run_started")).toEqual([]);
});

test("a client sees a question and cannot answer it; with --as-operator it answers for the person, once, and only what was shown", async () => {
  const folder = await asked();
  const reader = connect(folder);
  await initialize(reader, "2025-11-25");
  const inbox = (await tool(reader, "inbox"))["data"] as {
    blocks: [{ block: string; content: string; question: string }];
  };

  const [{ block, content, question }] = inbox.blocks;
  expect(question).toContain("Which port?");
  expect(await tool(reader, "status")).not.toHaveProperty("whole"); // a terminal's page would say everything twice
  expect(
    (await reader.ask("tools/call", { name: "answer", arguments: { block, content, answer: "1" } }))
      .error?.code,
  ).toBe(-32602);

  await reader.end();
  expect(eventsOf(folder, "block_answered")).toEqual([]);

  const person = connect(folder, ["--as-operator", "answer"]);
  await initialize(person, "2025-11-25");
  const stale = { block, content: "0".repeat(16), answer: "8080" };
  expect(await tool(person, "answer", stale)).toMatchObject({ reason_code: "block_changed" });
  expect(await tool(person, "answer", { block, answer: "8080" })).toMatchObject({
    reason_code: "usage",
  });

  expect(await tool(person, "answer", { block, content, answer: "8080" })).toMatchObject({
    reason_code: "block_answered",
  });

  expect(await tool(person, "answer", { block, content, answer: "9090" })).toMatchObject({
    result: "FAIL",
  });

  await person.end();
  expect(eventsOf(folder, "block_answered")).toMatchObject([
    { answer: "8080", actor: expect.stringMatching(/^operator:/) as string },
  ]);
});

test("an agent that finds the command line of the run's own project grants nothing with it, at clone", async () => {
  const folder = await asked();
  const run_id = basename(runFolderOf(folder));
  const other = scratch();
  // With its private home the run would not even be its user's: a worse agent finds the real one.
  const home = join(dirname(folder), "home");
  const node = `env -u XDG_STATE_HOME -u XDG_DATA_HOME -u XDG_CONFIG_HOME HOME=${home} ${process.execPath}`;

  const tries = [
    "answer 8080",
    "resume",
    "stop",
    "budget raise tokens=+1k",
    "approve 8080",
    `go --run ${run_id} --yes`,
    "mcp",
  ];
  const commands = tries.map(
    (text) =>
      `${node} ${program} -C ${folder} ${text} --json </dev/null >>src/tried.txt 2>>src/tried.txt || true`,
  );

  const attack = {
    do: [
      { run: "mkdir -p src" },
      ...commands.map((run) => ({ run })),
      { say: "<promise>DONE</promise>" },
    ],
  };
  const went = await goScripted(
    other,
    [attack],
    ["--done-criteria", "tried :: test -f src/tried.txt", "--isolation", "clone"],
  );
  expect(went.json).toMatchObject({ reason_code: "completion_verified" });
  const said = readFileSync(join(other, "src/tried.txt"), "utf8");
  const codes = [...said.matchAll(/"reason_code":"(\w+)"/g)].map((match) => match[1]);
  expect(codes.map((code, at) => `${tries[at]?.split(" ")[0]}: ${code}`)).toEqual([
    "answer: inside_a_run",
    "resume: inside_a_run",
    "stop: inside_a_run",
    "budget: inside_a_run",
    "approve: inside_a_run",
    "go: inside_a_run",
    "mcp: inside_a_run",
  ]);

  for (const event of ["block_answered", "run_resumed", "limit_raised", "run_stopped"]) {
    expect(eventsOf(folder, event)).toEqual([]);
  }
});

test("a grant left in the inbox by an agent's hand is never journaled", async () => {
  const folder = await asked();
  const block = String(eventsOf(folder, "block_opened")[0]?.["block"]);

  const left = async (actor: string): Promise<readonly unknown[]> => {
    await writeRequest(runFolderOf(folder), {
      event: "block_answered",
      request: actor,
      block,
      answer: "8080",
      actor,
    });

    await autopilot(folder, ["resume", "--json"]);
    return eventsOf(folder, "block_answered");
  };
  expect(await left("agent:claude")).toEqual([]);
  expect(await left("operator:me")).toMatchObject([{ actor: "operator:me" }]);
});
