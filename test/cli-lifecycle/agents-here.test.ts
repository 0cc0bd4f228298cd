// Which agents there are, told and chosen through the command line, with stand-ins for real ones on
// the PATH.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { agentProfiles } from "../../src/agents/profiles/shipped-profiles.ts";
import type { AgentProfile } from "../../src/agents/profiles/profile.ts";
import { autopilot, type Ended, eventsOf } from "../support/autopilot.ts";
import { scratch, write } from "../support/scratch-repository.ts";

const odd = resolve(import.meta.dirname, "../fixtures/agents/odd.mjs");
const programs = Object.values<AgentProfile>(agentProfiles).flatMap((profile) =>
  profile.programs.map(({ name }) => name),
);
/** The tester's own PATH, without the folders that hold a real agent. */
const plainPath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !programs.some((name) => existsSync(join(folder, name))))
  .join(delimiter);

type Stand = { readonly version?: string; readonly habit?: string };
type Here = {
  readonly folder: string;
  readonly home: string;
  readonly run: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ended>;
};

/** A repository, and a PATH with these agents' programs on it. */
function here(stands: Readonly<Record<string, Stand>>, config?: object): Here {
  const folder = scratch();
  const [bin, home] = [join(dirname(folder), "bin"), join(dirname(folder), "home")];
  mkdirSync(bin);
  const files = Object.entries(stands).map(([name, { version = "99.0.0", habit = "hello" }]) => [
    name,
    `#!/bin/sh\n[ "$1" = --version ] && echo "${name} ${version}" && exit\nexec "${process.execPath}" "${odd}" ${habit}\n`,
  ]);
  write(bin, Object.fromEntries(files) as Record<string, string>);
  if (config !== undefined) write(folder, { ".autopilot/config.yaml": JSON.stringify(config) });
  const path = [bin, plainPath].join(delimiter);

  return {
    folder,
    home,
    run: (args, env = {}) => autopilot(folder, args, { env: { PATH: path, ...env } }),
  };
}
const lend = ({ home }: Here, path: string): void => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), JSON.stringify({ access_token: "a-login-of-the-user" }));
};
const oauth = ".gemini/oauth_creds.json";
type Row = { readonly name: string; readonly [more: string]: unknown };
const rowsOf = ({ json }: Ended): readonly Row[] => json["agents"] as Row[];
const row = (ended: Ended, name: string): Row | undefined =>
  rowsOf(ended).find((candidate) => candidate.name === name);

describe.concurrent("agents", () => {
  test("lists every agent, the usable first, with version, command, login, containment, report and what is missing", async () => {
    const place = here({
      gemini: { version: "0.61.0" },
      codex: { version: "0.1.0" },
      "claude-agent-acp": {},
    });
    lend(place, oauth);
    const reported = await place.run(["agents", "--json"], {
      ANTHROPIC_API_KEY: "sk-a-key-of-the-user",
    });
    expect(reported.code).toBe(0);
    expect(row(reported, "gemini")).toMatchObject({
      is_installed: true,
      is_usable: true,
      version: "0.61.0",
      command: [join(dirname(place.folder), "bin/gemini"), "--acp", "--skip-trust"],
      login: { kind: "own", from: [`~/${oauth}`] },
      containment: {
        level: expect.any(String) as string,
        hosts: expect.arrayContaining(["cloudcode-pa.googleapis.com"]) as string[],
      },
      usage: "quotaMeta",
      missing: [],
    });

    expect(row(reported, "claude")).toMatchObject({
      is_usable: true,
      login: { kind: "key", from: ["ANTHROPIC_API_KEY"] },
    });

    expect(row(reported, "codex-cli")).toMatchObject({
      is_installed: true,
      is_usable: false,
      missing: ["version 0.1.0 is too old: 0.60.0 or newer is needed"],
    });

    expect(row(reported, "copilot")).toMatchObject({
      is_installed: false,
      fix: ["npm install -g @github/copilot"],
    });

    const states = rowsOf(reported).map((item) =>
      item["is_usable"] === true ? 0 : item["is_installed"] === true ? 1 : 2,
    );
    expect(states).toEqual(states.toSorted((a, b) => a - b));
    expect(reported.out).not.toMatch(/sk-a-key-of-the-user|a-login-of-the-user/);
  });

  test("is a page a person can read", async () => {
    const place = here({ gemini: { version: "0.61.0" } });
    lend(place, oauth);
    const { out, code } = await place.run(["agents"]);
    expect(code).toBe(0);
    const lines = out.split("\n");
    expect(lines[0]).toMatch(/^✓ gemini +0\.61\.0 +\/.*gemini --acp/);
    expect(out).toMatch(/· kimi +not installed +npm install -g @moonshot-ai\/kimi-code/);
    expect(out).not.toContain("{{");
  });

  test("names the config's own agents, and a command that is not there", async () => {
    const place = here(
      {},
      {
        agents: {
          mine: { argv: ["not-a-program-of-anybody"] },
          other: { like: "gemini", model: "m" },
        },
      },
    );
    const reported = await place.run(["agents", "--json"]);
    expect(row(reported, "mine")).toMatchObject({
      is_usable: false,
      missing: ["not-a-program-of-anybody is not on the PATH"],
    });

    expect(row(reported, "other")).toMatchObject({
      is_installed: false,
      fix: ["npm install -g @google/gemini-cli"],
    });
  });

  test("an agent that is like nobody is told with the file and the line", async () => {
    const place = here({});
    write(place.folder, {
      ".autopilot/config.yaml": "version: 1\nagents:\n  mine:\n    like: cluade\n",
    });

    for (const args of [["agents"], ["agents", "try", "mine"], ["config"]]) {
      const { json, code } = await place.run([...args, "--json"]);
      expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "config_invalid" });
      expect(json.message).toMatch(
        /config\.yaml:4:\d+: .*agents\.mine\.like: found "cluade".*Did you mean claude\?/,
      );
    }
  });
});

describe.concurrent("doctor", () => {
  test("fails where no agent can be used, and says how to fix each", async () => {
    const place = here({ gemini: { version: "0.1.0" } });
    const ended = await place.run(["doctor", "--json"]);
    const { json, code } = ended;
    expect({ code, result: json.result }).toEqual({ code: 1, result: "FAIL" });
    expect(json["findings"]).toContainEqual(
      expect.objectContaining({
        name: "agents",
        ok: false,
        found: expect.stringContaining("no coding agent can be used yet") as string,
      }),
    );

    expect(json.remediation.join("\n")).toContain("gemini: npm install -g @google/gemini-cli");

    expect(row(ended, "opencode")).toMatchObject({
      is_usable: false,
      fix: "npm install -g opencode-ai",
    });
  });

  test("is content with one that can be used, and still says what is wrong with the others", async () => {
    const place = here({ gemini: {}, kimi: { version: "0.0.1" } });
    lend(place, oauth);
    const { out } = await place.run(["doctor"]);
    expect(out).toMatch(/✓ agents: gemini 99\.0\.0/);
    expect(out).toMatch(/! kimi: version 0\.0\.1 is too old: 1\.0\.0 or newer is needed/);
    expect(out).not.toContain("\\n");
  });
});

describe.concurrent("who plays", () => {
  const start = ["start", "make b", "--json", "--isolation", "clone"];

  test("the only agent installed, where none is named: said in the preview, and recorded with its command", async () => {
    const place = here({ gemini: {}, codex: {} }, {});
    lend(place, oauth);
    // codex is there by its own command alone, and nobody is logged in to it: it still counts as
    // one that could be meant.
    const both = await place.run(start);
    expect(both.json.reason_code).toBe("agent_unavailable");
    expect(both.json.message).toMatch(
      /2 are installed: codex-cli \(.*codex exec --json.*\), gemini \(.*gemini --acp/,
    );

    expect(both.json.remediation).toEqual(
      expect.arrayContaining(["--agent codex-cli", "--agent gemini"]),
    );

    const alone = here({ gemini: {} });
    lend(alone, oauth);
    const { json } = await alone.run(start);
    expect(json["inferred_defaults"]).toContain("agent");
    expect(json.warnings.join("\n")).toContain(
      "No agent was named, so gemini was taken: it is the only one installed here.",
    );

    const [drafted] = eventsOf(alone.folder, "run_drafted");
    const cast = Object.values(
      drafted?.["cast"] as Record<string, { agent: string; argv: readonly string[] }>,
    );
    expect(cast[0]).toMatchObject({
      agent: "gemini",
      argv: [join(dirname(alone.folder), "bin/gemini"), "--acp", "--skip-trust"],
    });
  });

  test("an adapter is meant before the command it drives, where both are there", async () => {
    const place = here({ "claude-agent-acp": {}, claude: {} });
    const { json } = await place.run(start, { ANTHROPIC_API_KEY: "k" });
    expect(json["inferred_defaults"]).toContain("agent");
    expect(JSON.stringify(eventsOf(place.folder, "run_drafted")[0]?.["cast"])).toContain(
      '"agent":"claude"',
    );
  });

  test("nobody, where none is installed: what could be is named", async () => {
    const { json, code } = await here({}).run(start);
    expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "agent_unavailable" });
    expect(json.message).toContain("none is installed here");
    expect(json.remediation).toEqual(
      expect.arrayContaining(["npm install -g @agentclientprotocol/claude-agent-acp"]),
    );
  });

  test.each([
    [
      "is not installed",
      {},
      "opencode",
      /opencode is not on the PATH/,
      "npm install -g opencode-ai",
    ],
    [
      "is too old",
      { gemini: { version: "0.2.0" } },
      "gemini",
      /version 0\.2\.0 is too old/,
      "npm install -g @google/gemini-cli",
    ],
    [
      "is not logged in",
      { gemini: {} },
      "gemini",
      /not logged in: GEMINI_API_KEY/,
      "set GEMINI_API_KEY, or run gemini once and log in",
    ],
  ])(
    "an agent that %s is refused before a run begins, with what to do",
    async (_what, stands, name, why, fix) => {
      const place = here(stands);
      for (const args of [
        [...start, "--agent", name],
        ["agents", "try", name, "--json"],
      ]) {
        const { json, code } = await place.run(args);
        expect({ code, reason: json.reason_code }).toEqual({
          code: 1,
          reason: "agent_unavailable",
        });

        expect(json.message).toMatch(why);
        expect(json.remediation).toContain(fix);
      }

      expect(existsSync(join(place.folder, ".autopilot/runs"))).toBe(false);
    },
  );

  test("a run keeps what the config said of its agent when it began", async () => {
    const place = here({ gemini: {} }, { agents: { gemini: { model: "m" } } });
    lend(place, oauth);
    await place.run([...start, "--agent", "gemini"]);
    expect(eventsOf(place.folder, "run_drafted")[0]?.["cast"]).toMatchObject({
      executor: { agent: "gemini", override: { model: "m" } },
    });
  });
});

describe.concurrent("agents try", () => {
  const tried = async (habit: string): Promise<Ended> => {
    const place = here({ gemini: { habit } });
    lend(place, oauth);
    // The stand-in is in the repository, if no box would show it.
    const ended = await place.run(["agents", "try", "gemini", "--json"], {
      AUTOPILOT_ISOLATION: "clone",
    });

    expect(readFileSync(join(place.home, oauth), "utf8")).toContain("a-login-of-the-user");
    return ended;
  };

  test.each([
    [
      "wants a login",
      "needs-login",
      "agent_unavailable",
      /logged in/,
      /run gemini once and log in/,
    ],
    [
      "dies at its start",
      "dies-at-start",
      "agent_unavailable",
      /exited with code 7[\s\S]*cannot find my own head/,
      /npm install -g/,
    ],
    [
      "speaks another version of the protocol",
      "version-2",
      "agent_unavailable",
      /version 2/,
      /npm install -g/,
    ],
    ["prints a line of 100 MB", "long-line", "agent_failed", /line/, /autopilot/],
    ["answers with nothing", "answers-nothing", "agent_failed", /.+/, /autopilot/],
    [
      "has used up its provider's limit",
      "limited",
      "provider_limit_reached",
      /limit|later/,
      /agents try gemini/,
    ],
  ])(
    "an agent that %s: a reason, a sentence and a next step",
    async (_what, habit, reason, sentence, step) => {
      const { json, code } = await tried(habit);
      expect({ code, reason: json.reason_code, result: json.result }).toEqual({
        code: 1,
        reason,
        result: "FAIL",
      });

      expect(json.message).toMatch(sentence);
      expect(json.remediation.join("\n")).toMatch(step);
    },
  );

  test("an agent that says things nobody knows is used all the same", async () => {
    const { json, code } = await tried("answers-strangely");
    expect({ code, said: json["said"] }).toEqual({ code: 0, said: "fine" });
  });
});

test("init writes skills for an agent whose program is here", async () => {
  const place = here({ gemini: {} });
  const { json } = await place.run(["init", "--json"]);
  expect(json["done"]).toContain("wrote skills to .agents/skills");
  expect(existsSync(join(place.folder, ".claude"))).toBe(false);
});

test("config shows what holds of agents, box and prices with where it came from, and no secret", async () => {
  const place = here({});
  mkdirSync(join(place.home, ".config/autopilot"), { recursive: true });

  const mine = {
    agents: { mine: { argv: ["x"], env: { API_KEY: "s3cret", MODE: "m" } } },
    box: { processes: 9 },
    prices: { "gpt-5.5": { input: 1, output: 2 } },
  };
  writeFileSync(join(place.home, ".config/autopilot/config.yaml"), JSON.stringify(mine));
  write(place.folder, {
    ".autopilot/config.yaml": "agents: { mine: { upstream: 'https://example.org' } }\n",
  });

  const { json, out } = await place.run(["config", "--json"]);
  const settings = json["settings"] as { key: string; value: unknown; from: string }[];
  expect(settings).toContainEqual(
    expect.objectContaining({ key: "prices.gpt-5.5.input", value: 1, from: "user" }),
  );

  expect(settings).toContainEqual(
    expect.objectContaining({ key: "box.processes", value: 9, from: "user" }),
  );

  expect(settings).toContainEqual(
    expect.objectContaining({ key: "agents.mine.env.MODE", value: "m" }),
  );

  expect(json.warnings.join("\n")).toMatch(
    /agents\.mine\.upstream in .*config\.yaml:1 is ignored: it would choose where your key is sent/,
  );

  expect(out).not.toContain("s3cret");
});
