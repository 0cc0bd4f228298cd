// How an agent gets its login and its settings: a key's place taken by a token, a login lent for a
// turn, and nothing else of HOME.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { lendLogin, loginBytesMax, type returnLeftoverLoans } from "../../src/agents/lent-login.ts";
import { writePrivateConfig } from "../../src/agents/private-config.ts";
import { chooseLogin } from "../../src/agents/profiles/choose-login.ts";
import { agentProfiles } from "../../src/agents/profiles/shipped-profiles.ts";

let root = "";
let user = "";
let home = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-login-")));
  [user, home] = [join(root, "user"), join(root, "home")];
  mkdirSync(user);
  mkdirSync(home);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
const put = (path: string, content: string | object): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content), {
    mode: 0o600,
  });

  return path;
};
const jsonAt = (path: string): unknown => JSON.parse(readFileSync(path, "utf8")) as unknown;
const { claude, codex, kimi, gemini, opencode, custom } = agentProfiles;
const credentials = ".claude/.credentials.json";
const old = { claudeAiOauth: { accessToken: "a", refreshToken: "r" } };
const fresh = { claudeAiOauth: { accessToken: "b", refreshToken: "s" } };

describe("which login is used", () => {
  test("the key where its variable is set, to the provider the user names", () => {
    put(join(user, credentials), old);
    expect(
      chooseLogin(
        claude,
        { ANTHROPIC_API_KEY: " k ", ANTHROPIC_BASE_URL: "https://example.org/" },
        user,
      ),
    ).toMatchObject({
      kind: "key",
      variable: "ANTHROPIC_API_KEY",
      upstream: { api: "anthropic", base: "https://example.org", key: "k" },
    });

    expect(chooseLogin(opencode, { OPENAI_API_KEY: "k" }, user)).toMatchObject({
      upstream: { api: "openai-chat", base: "https://api.openai.com/v1" },
    });
  });

  test("else the agent's own, where its file is there or its token is set", () => {
    expect(chooseLogin(claude, { CLAUDE_CODE_OAUTH_TOKEN: "t" }, user)).toMatchObject({
      kind: "own",
      files: [],
      variables: ["CLAUDE_CODE_OAUTH_TOKEN"],
    });

    put(join(user, credentials), old);
    expect(chooseLogin(claude, {}, user)).toMatchObject({
      kind: "own",
      files: [{ path: credentials }],
      hosts: claude.ownLogin.hosts,
    });
  });

  test("the one the config asks for, though the other is there", () => {
    put(join(user, credentials), old);
    expect(
      chooseLogin({ ...claude, login: "own" }, { ANTHROPIC_API_KEY: "k" }, user),
    ).toMatchObject({ kind: "own" });

    expect(chooseLogin({ ...claude, login: "key" }, {}, user)).toMatchObject({
      kind: "missing",
      problem: "ANTHROPIC_API_KEY is not set",
    });
  });

  test("else none, with what is missing and how to log in; a custom agent needs none", () => {
    expect(chooseLogin(claude, { ANTHROPIC_API_KEY: "" }, user)).toMatchObject({
      kind: "missing",
      problem: "ANTHROPIC_API_KEY is not set and ~/.claude/.credentials.json is not there",
      fix: claude.hints.login,
    });

    expect(chooseLogin(custom, {}, user)).toEqual({ kind: "none" });
  });
});

describe("a login is lent", () => {
  test("as the profile's own files, readable by the user alone, and nothing else of HOME", async () => {
    put(join(user, credentials), old);
    put(join(user, ".claude/settings.json"), { hooks: {} });
    put(join(user, ".ssh/id"), "secret");
    const lent = await lendLogin(claude, user, home);
    expect(lent.files).toEqual([credentials]);
    expect(readdirSync(home)).toEqual([".claude"]);
    expect(readdirSync(join(home, ".claude"))).toEqual([".credentials.json"]);
    expect(statSync(join(home, credentials)).mode & 0o777).toBe(0o600);
    expect(await lent.giveBack()).toEqual({ renewed: [], keptFiles: [] });
    expect(existsSync(join(home, credentials))).toBe(false);
  });

  test("and a token renewed meanwhile is taken back whole", async () => {
    put(join(user, credentials), old);
    const lent = await lendLogin(claude, user, home);
    put(join(home, credentials), fresh);
    expect(await lent.giveBack()).toEqual({ renewed: [credentials], keptFiles: [] });
    expect(jsonAt(join(user, credentials))).toEqual(fresh);
    expect(statSync(join(user, credentials)).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(user, ".claude"))).toEqual([".credentials.json"]);
  });

  test.each([
    ["a link", (path: string) => (rmSync(path), symlinkSync("/etc/passwd", path))],
    ["a folder", (path: string) => (rmSync(path), mkdirSync(path))],
    ["nothing", (path: string) => rmSync(path)],
    [
      "more than a login can be",
      (path: string) => writeFileSync(path, "x".repeat(loginBytesMax + 1)),
    ],
    ["something of another shape", (path: string) => writeFileSync(path, '{"other":1}')],
    ["no JSON", (path: string) => writeFileSync(path, "{")],
  ])("but not where the agent left %s: the user's stays as it was", async (_what, spoil) => {
    put(join(user, credentials), old);
    const lent = await lendLogin(claude, user, home);
    spoil(join(home, credentials));
    expect(await lent.giveBack()).toMatchObject({
      renewed: [],
      keptFiles: [{ path: credentials }],
    });
    expect(jsonAt(join(user, credentials))).toEqual(old);
  });

  test("nor where the user's own changed meanwhile", async () => {
    const newer = { claudeAiOauth: { accessToken: "c", refreshToken: "u" } };
    put(join(user, credentials), old);
    const lent = await lendLogin(claude, user, home);
    put(join(user, credentials), newer);
    put(join(home, credentials), fresh);
    expect(await lent.giveBack()).toMatchObject({
      keptFiles: [{ why: "the user's own changed meanwhile" }],
    });

    expect(jsonAt(join(user, credentials))).toEqual(newer);
  });

  test("a file that does not renew itself is never taken back", async () => {
    put(join(user, ".kimi-code/credentials/kimi-code.json"), { access_token: "a" });
    put(join(user, ".kimi-code/config.toml"), "default_model = 'k'\n");
    const lent = await lendLogin(kimi, user, home);
    put(join(home, ".kimi-code/config.toml"), "[[hooks]]\ncommand = 'evil'\n");
    expect(await lent.giveBack()).toEqual({ renewed: [], keptFiles: [] });
    expect(readFileSync(join(user, ".kimi-code/config.toml"), "utf8")).toBe(
      "default_model = 'k'\n",
    );
  });

  test("a link in the user's HOME is not followed", async () => {
    put(join(root, "elsewhere"), old);
    mkdirSync(join(user, ".claude"));
    symlinkSync(join(root, "elsewhere"), join(user, credentials));
    expect((await lendLogin(claude, user, home)).files).toEqual([]);
    expect(chooseLogin(claude, {}, user)).toMatchObject({ kind: "missing" });
  });

  test("turns side by side share it: what one renewed stays for the other, and the last one clears it away", async () => {
    put(join(user, credentials), old);
    const lentLogin = await lendLogin(claude, user, home);
    put(join(home, credentials), fresh);
    const other = await lendLogin(claude, user, home);
    expect(jsonAt(join(home, credentials))).toEqual(fresh);
    expect(await lentLogin.giveBack()).toEqual({ renewed: [credentials], keptFiles: [] });
    expect(existsSync(join(home, credentials))).toBe(true);
    expect(await other.giveBack()).toEqual({ renewed: [], keptFiles: [] });
    expect(existsSync(join(home, credentials))).toBe(false);
    expect(jsonAt(join(user, credentials))).toEqual(fresh);
  });
});

describe("a runner that was killed while it lent a login", () => {
  /** The next life: another process, which knows nothing but what is there. */
  const next = async (): Promise<ReturnType<typeof returnLeftoverLoans>> => {
    vi.resetModules();
    const anew = await import("../../src/agents/lent-login.ts");
    return anew.returnLeftoverLoans(claude.ownLogin?.files ?? [], user, home);
  };

  test("has the renewed token taken back by the next life, and leaves none behind", async () => {
    const mine = put(join(user, credentials), old);
    await lendLogin(claude, user, home);
    put(join(home, credentials), fresh);
    expect(await next()).toEqual({ renewed: [credentials], keptFiles: [] });
    expect([jsonAt(mine), existsSync(join(home, credentials))]).toEqual([fresh, false]);
    expect(await next()).toEqual({ renewed: [], keptFiles: [] });
  });

  test("takes nothing from a user who logged in again meanwhile, nor what has another shape, nor what was never lent", async () => {
    const mine = put(join(user, credentials), old);
    const theirs = { claudeAiOauth: { accessToken: "c", refreshToken: "t" } };
    await lendLogin(claude, user, home);
    put(join(home, credentials), fresh);
    put(mine, theirs);
    expect(await next()).toEqual({
      renewed: [],
      keptFiles: [{ path: credentials, why: "the user's own changed meanwhile" }],
    });

    expect([jsonAt(mine), existsSync(join(home, credentials))]).toEqual([theirs, false]);

    vi.resetModules();
    await (await import("../../src/agents/lent-login.ts")).lendLogin(claude, user, home);
    put(join(home, credentials), { evil: true });
    expect((await next()).keptFiles).toEqual([
      { path: credentials, why: "what the agent left there has another shape" },
    ]);

    put(join(home, credentials), fresh);
    expect(await next()).toEqual({ renewed: [], keptFiles: [] });
    expect(jsonAt(mine)).toEqual(theirs);
  });
});

describe("private settings are written", () => {
  const turn = { url: "http://127.0.0.1:9/openai/v1", token: "ap-token", proxy: "" };
  const login = (profile: typeof codex | typeof gemini) =>
    chooseLogin(profile, { OPENAI_API_KEY: "real", GEMINI_API_KEY: "real" }, user);

  test("below the private HOME, whole, for the user alone, with the token and without the key", () => {
    expect(writePrivateConfig(codex, { home, login: login(codex), ...turn })).toEqual([
      ".codex/config.toml",
    ]);

    const text = readFileSync(join(home, ".codex/config.toml"), "utf8");
    expect(text).toContain('base_url = "http://127.0.0.1:9/openai/v1"');
    expect(text).toContain('sandbox_mode = "danger-full-access"');
    expect(text).not.toContain("real");
    expect(statSync(join(home, ".codex/config.toml")).mode & 0o777).toBe(0o600);
    expect(lstatSync(join(home, "tmp")).isDirectory()).toBe(true);
  });

  test("over what an agent made of them, and over nothing else it left", () => {
    writePrivateConfig(gemini, { home, login: login(gemini), ...turn });
    put(join(home, ".gemini/settings.json"), { mcpServers: { evil: {} } });
    put(join(home, ".gemini/history"), "kept");
    writePrivateConfig(gemini, { home, login: login(gemini), ...turn });
    expect(jsonAt(join(home, ".gemini/settings.json"))).not.toHaveProperty("mcpServers");
    expect(readFileSync(join(home, ".gemini/history"), "utf8")).toBe("kept");
  });

  test("never through a link that an agent laid in the way", () => {
    const victim = put(join(root, "victim"), "mine");
    mkdirSync(join(root, "outside"));
    chmodSync(join(root, "outside"), 0o700);
    symlinkSync(join(root, "outside"), join(home, ".codex"));
    writePrivateConfig(codex, { home, login: login(codex), ...turn });
    expect(readdirSync(join(root, "outside"))).toEqual([]);
    rmSync(join(home, ".codex/config.toml"));
    symlinkSync(victim, join(home, ".codex/config.toml"));
    writePrivateConfig(codex, { home, login: login(codex), ...turn });
    expect(readFileSync(victim, "utf8")).toBe("mine");
    expect(lstatSync(join(home, ".codex/config.toml")).isFile()).toBe(true);
  });

  test("outside the box under another name than inside", () => {
    writePrivateConfig(codex, { home: "/home/agent", folder: home, login: login(codex), ...turn });
    expect(existsSync(join(home, ".codex/config.toml"))).toBe(true);
    expect(existsSync(join(home, "tmp"))).toBe(true);
  });
});
