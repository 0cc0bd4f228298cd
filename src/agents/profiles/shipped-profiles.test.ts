import { describe, expect, test } from "vitest";
import { modelApis } from "../../contracts/model-api.ts";
import { composeLaunch, renderConfigFile } from "./compose-launch.ts";
import type { ChosenLogin } from "./choose-login.ts";
import type { AgentProfile, ConfigFile, MeteredAccess } from "./profile.ts";
import { resolveProfile } from "./resolve-profile.ts";
import { agentProfiles, findShippedProfile } from "./shipped-profiles.ts";

const all = Object.entries<AgentProfile>(agentProfiles);
const modes = ["read", "edit", "full"] as const;
const turn = {
  home: "/run/home",
  url: "http://127.0.0.1:9/anthropic",
  token: "ap-0123456789abcdef0123456789abcdef",
  proxy: "http://x:y@127.0.0.1:9",
};
const hostile = 'a"b\\c\nd]\u007f{{token}}';

const keyed = (way: MeteredAccess, model = way.model): ChosenLogin => ({
  kind: "key",
  variable: way.keyEnv[0] ?? "",
  way,
  upstream: { api: way.api, base: way.upstream, key: "real" },
  model,
});
const ownLogin = (profile: AgentProfile): ChosenLogin[] =>
  profile.ownLogin === null
    ? []
    : [
        {
          kind: "own",
          files: profile.ownLogin.files,
          variables: [],
          hosts: profile.ownLogin.hosts,
          model: profile.ownLogin.model,
        },
      ];
const loginsOf = (profile: AgentProfile): readonly ChosenLogin[] => [
  ...profile.meters.map((way) => keyed(way)),
  ...ownLogin(profile),
];

test("the agents the product names are all in the table, each under its own name", () => {
  const named =
    "claude codex codex-zed copilot gemini opencode qwen kimi pi cursor claude-cli codex-cli scripted custom".split(
      " ",
    );
  expect(all.map(([name]) => name).sort()).toEqual(named.sort());
  for (const [name, { id }] of all) expect(id).toBe(name);
  expect(findShippedProfile("toString")).toBeNull();
});

describe.each(all.filter(([, { found }]) => found === "path"))(
  "the profile %s",
  (_name, profile) => {
    test("says how it is found, installed and logged in to, and knows a way to a model", () => {
      expect(profile.programs.length).toBeGreaterThan(0);
      expect(profile.hints.install).not.toBe("");
      expect(profile.hints.login).not.toBe("");
      expect(loginsOf(profile).length).toBeGreaterThan(0);

      for (const { api, keyEnv, upstream } of profile.meters) {
        expect(modelApis).toContain(api);
        expect(keyEnv.length).toBeGreaterThan(0);
        expect(new URL(upstream).protocol).toBe("https:");
        expect(upstream).not.toMatch(/\/$/);
      }
    });

    test("leaves no template open, with any login and in any mode", () => {
      for (const mode of modes) {
        for (const login of loginsOf(profile)) {
          const argv = profile.programs.flatMap(({ name, words }) => [name, ...words]);
          const launched = composeLaunch({ ...profile, argv, mode }, login, turn);
          expect(JSON.stringify(launched)).not.toContain("{{");

          for (const file of launched.files) {
            if (file.path.endsWith(".json")) {
              expect(() => JSON.parse(file.text) as unknown).not.toThrow();
            }
          }
        }
      }
    });

    test("hands the agent the token in the key's place, and never the key", () => {
      for (const way of profile.meters) {
        const launched = composeLaunch(profile, keyed(way), { ...turn, proxy: "" });
        const seen = JSON.stringify(launched);
        expect(seen).toContain(turn.token);
        expect(seen).toContain(turn.url);
        expect(seen).not.toContain("real");
        expect(launched.env["HTTPS_PROXY"]).toBeUndefined();
        // Turns side by side share a HOME: a token in a file there would be taken for the other's.
        expect(JSON.stringify(launched.files)).not.toContain(turn.token);
      }
    });

    test("sends what its own login sends through the proxy, to hosts that are named", () => {
      for (const login of ownLogin(profile)) {
        expect(composeLaunch(profile, login, turn).env).toMatchObject({
          HTTPS_PROXY: turn.proxy,
          NO_PROXY: "127.0.0.1,localhost",
        });

        expect(profile.ownLogin?.hosts.length).toBeGreaterThan(0);
      }
    });

    test("writes below HOME only, and lends only files below HOME", () => {
      const files = [
        ...profile.files,
        ...profile.meters.flatMap((way) => way.files),
        ...(profile.ownLogin?.configs ?? []),
        ...(profile.ownLogin?.files ?? []),
      ];

      for (const { path } of files) {
        expect(path).toMatch(/^(?!\/)(?:(?!\.\.?(?:\/|$))[\w.-]+\/)*[\w.-]+$/);
      }
    });

    test("a model's name cannot break out of its quotes in a config file", () => {
      for (const way of profile.meters) {
        for (const { path, text } of composeLaunch(profile, keyed(way, hostile), turn).files) {
          if (path.endsWith(".json")) expect(() => JSON.parse(text) as unknown).not.toThrow();
          expect(text).not.toContain('a"b');
          expect(text).not.toContain("\u007f");
        }
      }
    });

    test("its probes do not fit what an agent says of its own work", () => {
      const sayings =
        "I added a rate limit of 429 requests.\nThe API returns an error: 500 when the quota is exceeded.\nusage limit reached is now tested.";
      for (const { where, pattern } of profile.probes) {
        if (where === "said") expect(sayings).not.toMatch(pattern);
      }
    });
  },
);

test("a value that looks like a template is not filled in again", () => {
  const file: Pick<ConfigFile, "content"> = {
    content: '{ "model": "{{model}}", "key": "{{token}}" }',
  };
  expect(JSON.parse(renderConfigFile(file, { model: "{{token}}", token: "t" }))).toEqual({
    model: "{{token}}",
    key: "t",
  });
});

test("Claude is told exactly IS_SANDBOX=1, and nobody else is told it at all", () => {
  for (const [name, { env }] of all) {
    expect(env["IS_SANDBOX"], name).toBe(name.startsWith("claude") ? "1" : undefined);
  }
});

test("Codex keeps its temporary files below its HOME, so that no folder for them is above its own", () => {
  const { env } = composeLaunch(agentProfiles.codex, keyed(agentProfiles.codex.meters[0]), turn);
  expect(env["CODEX_HOME"]?.startsWith(`${env["TMPDIR"] ?? ""}/`)).toBe(false);
});

describe("what the user says of an agent", () => {
  const resolved = (agent: string, override: object, argv?: string[]): AgentProfile => {
    const found = resolveProfile({ agent, override, ...(argv === undefined ? {} : { argv }) });
    if ("problem" in found) throw new Error(found.problem);
    return found.profile;
  };

  test("is laid over the shipped profile of the same name", () => {
    const profile = resolved("claude", {
      model: "opus",
      mode: "full",
      usage: "none",
      hosts: ["example.org"],
      env: { A: "1" },
      pass_env: ["B"],
    });
    expect(profile).toMatchObject({
      id: "claude",
      model: "opus",
      mode: "full",
      usage: "none",
      hosts: ["example.org"],
      passEnv: ["B"],
    });

    expect(profile.env).toMatchObject({ A: "1", IS_SANDBOX: "1" });
    expect(
      composeLaunch(profile, keyed(agentProfiles.claude.meters[0], "opus"), turn).env[
        "ANTHROPIC_MODEL"
      ],
    ).toBe("opus");
  });

  test("may make an agent of another name like a shipped one, with another provider and key", () => {
    const profile = resolved(
      "mine",
      { like: "opencode", key_env: "OPENAI_API_KEY", upstream: "http://127.0.0.1:8801/v1/" },
      ["/x/oc", "acp"],
    );
    expect(profile).toMatchObject({
      id: "mine",
      found: "named",
      argv: ["/x/oc", "acp"],
      usage: "lastCall",
    });

    expect(profile.meters).toMatchObject([
      {
        api: "openai-chat",
        keyEnv: ["OPENAI_API_KEY"],
        upstream: "http://127.0.0.1:8801/v1",
        upstreamEnv: [],
      },
    ]);
  });

  test("an agent that is like nothing shipped is a custom one, and one like something unknown is refused by name", () => {
    expect(resolved("mine", {}, ["x"])).toMatchObject({
      id: "mine",
      found: "named",
      needsLogin: false,
      protocol: "acp",
    });

    expect(resolveProfile({ agent: "mine", override: { like: "cluade" } })).toEqual({
      problem: expect.stringMatching(
        /found "cluade", expected one of .*Did you mean claude\?/,
      ) as string,
    });

    expect(resolveProfile({ agent: "mine", override: { like: "scripted" } })).toHaveProperty(
      "problem",
    );
  });

  test("words of the mode stand where the profile wants them", () => {
    const argv = ["claude", "-p", "{{mode}}", "--verbose"];
    expect(
      composeLaunch(resolved("claude-cli", { mode: "edit" }, argv), { kind: "none" }, turn).argv,
    ).toEqual(["claude", "-p", "--permission-mode", "acceptEdits", "--verbose"]);
  });
});
