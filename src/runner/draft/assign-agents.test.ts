import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../../contracts/config.ts";
import type { Flow } from "../../contracts/flow.ts";
import { assignAgents, inferAgent, listUnusedRoleWarnings } from "./assign-agents.ts";
import { commandContext } from "../../../test/support/command-context.ts";

const flow: Flow = {
  flow: "tried",
  version: 1,
  phases: [
    {
      id: "1",
      steps: [
        { id: "do", agent: "executor", prompt: "d.md" },
        { id: "look", agent: "judge", prompt: "l.md" },
      ],
    },
  ],
};
const agents = { one: { argv: ["one", "--acp"] }, two: { argv: ["two"] } };
/** A program that is there. */
const program = process.execPath;
const installed = { one: { argv: [program, "--acp"] }, two: { argv: [program] } };
// Nothing is on this PATH and nothing in this HOME, so nothing of the machine is seen.
const context = commandContext({ cwd: "/", env: { PATH: "/nowhere", HOME: "/nowhere" } });
const cast = (agent: string | undefined, config: Config): ReturnType<typeof assignAgents> =>
  assignAgents(
    {
      context,
      config,
      storeScript: () => Promise.reject(new Error("there is no script to store")),
    },
    flow,
    agent,
  );

test("a role is played by the flag's agent, else by the role's own, else by the config's", async () => {
  const config = { agents: installed, agent: "one", roles: { judge: "two" } };
  expect(await cast(undefined, config)).toEqual({
    executor: { agent: "one", argv: [program, "--acp"] },
    judge: { agent: "two", argv: [program] },
  });

  expect(await cast("two", config)).toMatchObject({
    executor: { agent: "two" },
    judge: { agent: "two" },
  });
});

test("where nobody is named for a role it is agent_unavailable, with who could be", async () => {
  await expect(cast(undefined, { agents })).rejects.toMatchObject({
    response: {
      reason_code: "agent_unavailable",
      remediation: expect.arrayContaining(["--agent one", "--agent two"]) as string[],
    },
  });
});

test("what the config says of an agent goes with the cast, so that the run goes on with its own copy", async () => {
  const config = {
    agents: { mine: { like: "claude", argv: [program], model: "m", pass_env: ["KEY"] } },
    agent: "mine",
  };
  expect(await cast(undefined, config)).toMatchObject({
    executor: {
      agent: "mine",
      argv: [program],
      override: { like: "claude", model: "m", pass_env: ["KEY"] },
    },
  });
});

test("a command that would be looked for in the folder an agent writes to is refused", async () => {
  for (const relative of ["./agent.sh", "tools/agent", "~/agent"]) {
    await expect(cast("mine", { agents: { mine: { argv: [relative] } } })).rejects.toMatchObject({
      response: {
        reason_code: "agent_unavailable",
        message: `mine cannot be used here: ${relative} isn't an absolute path.`,
        remediation: expect.arrayContaining([
          "write agents.mine.argv with the program's whole path",
        ]) as string[],
      },
    });
  }
});

test.each([
  ["mine-agent", "mine-agent is not on the PATH"],
  ["/nowhere/agent", "/nowhere/agent does not exist"],
])(
  "a program of the user's own that is not there is refused before a run begins: %s",
  async (own, problem) => {
    await expect(cast("mine", { agents: { mine: { argv: [own] } } })).rejects.toMatchObject({
      response: {
        reason_code: "agent_unavailable",
        message: `mine cannot be used here: ${problem}.`,
      },
    });
  },
);

test("an agent that is known and not installed is refused with how to install it", async () => {
  await expect(cast("gemini", {})).rejects.toMatchObject({
    response: {
      reason_code: "agent_unavailable",
      message: expect.stringContaining("gemini is not on the PATH") as string,
      remediation: expect.arrayContaining(["npm install -g @google/gemini-cli"]) as string[],
    },
  });
});

test("an agent that needs a login and has none is refused with how to log in, before a run begins", async () => {
  await expect(
    cast("mine", { agents: { mine: { like: "codex", argv: [program] } } }),
  ).rejects.toMatchObject({
    response: {
      reason_code: "agent_unavailable",
      message: expect.stringContaining(
        "OPENAI_API_KEY or CODEX_API_KEY is not set and ~/.codex/auth.json is not there",
      ) as string,
      remediation: expect.arrayContaining(["set OPENAI_API_KEY, or run codex login"]) as string[],
    },
  });
});

test("the only agent there is is taken where none is named; of two, neither", async () => {
  const one = { agents: { one: agents.one } };
  expect(await inferAgent(context, one, flow)).toEqual({
    name: "one",
    why: "it is the only one installed here",
  });

  expect(await inferAgent(context, { agent: "one" }, flow)).toBeNull();
  await expect(inferAgent(context, { agents }, flow)).rejects.toMatchObject({
    response: {
      reason_code: "agent_unavailable",
      message: expect.stringContaining("one (one --acp), two (two)") as string,
    },
  });

  await expect(inferAgent(context, {}, flow)).rejects.toMatchObject({
    response: { message: expect.stringContaining("none is installed here") as string },
  });
});

test("a role of the config that is almost one of the flow's is told; one that may be another flow's is not", () => {
  const config = { roles: { exectuor: "one", judge: "two", planner: "one" } };
  expect(listUnusedRoleWarnings(config, ["executor", "judge"])).toEqual([
    "roles.exectuor in the config is not a role of this flow and has no effect. Did you mean executor?",
  ]);
});

const yaml = `turns:
  - when: { step: execute, phase: 1 }
    do:
      - write: { path: a.ts, text: "x" }
      - hang: true
    repeat: 0
`;
const script = {
  turns: [
    {
      when: { phase: 1, step: "execute" },
      do: [{ write: { path: "a.ts", text: "x" } }, { hang: true }],
      repeat: 0,
    },
  ],
};

/** What is stored of a script with this text. */
async function stored(text: string, name = "script"): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "script-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  const texts: string[] = [];
  const storeScript = (json: string): Promise<string> => {
    texts.push(json);
    return Promise.resolve("0".repeat(64));
  };
  await assignAgents({ context, config: {}, storeScript }, flow, `scripted:${folder}/${name}`);

  return JSON.parse(texts[0] ?? "");
}

test("YAML and JSON scripts are read alike, and stored as JSON", async () => {
  expect(await stored(yaml)).toEqual(script);
  expect(await stored(JSON.stringify(script), "script.yaml")).toEqual(script);
  expect(await stored(JSON.stringify(script, null, 2))).toEqual(script);
});

test.each([
  ["an action that is none", "turns:\n  - do:\n      - wirte: { path: a, text: b }\n", 3],
  ["an unknown key", "turns:\n  - wen: {}\n", 2],
  ["a negative repeat", "turns:\n  - repeat: -1\n", 2],
  ["no turns", "turn: []\n", 1],
  ["an action that is none, in JSON", '{"turns":[{"do":[{"wirte":"a"}]}]}', 1],
  ["a key that is there twice", '{"turns":[],"turns":[{"do":[]}]}', 1],
])("a script with %s is refused with its line", async (_, text, line) => {
  await expect(stored(text)).rejects.toMatchObject({
    response: {
      reason_code: "script_invalid",
      message: expect.stringContaining(`/script:${line}: `) as string,
    },
  });
});
