// Which agents are found on a machine: looked for on the PATH, asked for their version for a
// bounded time, and nothing else run.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { findAgent, findAgents, findOnPath } from "../../src/agents/find-agents.ts";
import { runAndCapture } from "../../src/agents/run-and-capture.ts";
import { agentProfiles } from "../../src/agents/profiles/shipped-profiles.ts";
import { isRunning, until } from "./table.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-found-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let bin = "";
beforeEach(() => (bin = mkdtempSync(join(root, "bin-"))));

const program = (name: string, text: string, folder = bin): string => {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);

  return path;
};
const prints = (line: string): string => `#!/bin/sh\necho '${line}'\n`;
/** A program as npm lays it out: a link on the PATH, a package behind it. */
const packaged = (name: string, pkg: string, version: string, text: string): string => {
  const folder = join(root, "lib", bin.slice(root.length + 1), "node_modules", pkg);
  const path = program("cli.js", text, join(folder, "dist"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: pkg, version }));
  symlinkSync(path, join(bin, name));

  return path;
};
const env = (): Record<string, string> => ({ PATH: `${bin}:/usr/bin:/bin`, HOME: "/nowhere" });
const { gemini, kimi, claude, codex, pi } = agentProfiles;

describe("an agent is found", () => {
  test("by its program on the PATH, with the version it prints", async () => {
    program("gemini", prints("gemini 0.61.0"));
    expect(await findAgent(gemini, env())).toMatchObject({
      state: "installed",
      argv: [join(bin, "gemini"), "--acp", "--skip-trust"],
      version: "0.61.0",
      problem: null,
    });
  });

  test("through a link, with the version of the package it lies in, without being run", async () => {
    const ran = join(bin, "ran");
    const path = packaged(
      "claude-agent-acp",
      "@agentclientprotocol/claude-agent-acp",
      "0.99.0",
      `#!/bin/sh\ntouch ${ran}\n`,
    );

    expect(await findAgent(claude, env())).toMatchObject({
      state: "installed",
      version: "0.99.0",
      realPath: path,
    });

    expect(existsSync(ran)).toBe(false);
  });

  test("and told apart from another of the same name by its package", async () => {
    packaged("codex-acp", "@zed-industries/codex-acp", "0.16.0", prints("x"));
    expect(await findAgent(codex, env())).toMatchObject({ state: "missing" });
    expect(await findAgent(agentProfiles["codex-zed"], env())).toMatchObject({
      state: "installed",
      version: "0.16.0",
    });
  });

  test("once in a process: the second look runs nothing", async () => {
    program("gemini", `#!/bin/sh\necho x >> ${join(bin, "runs")}\necho 1.0.0\n`);
    const here = env();
    const [foundAgent, other] = await Promise.all([
      findAgent(gemini, here),
      findAgent(gemini, here),
    ]);
    expect(other).toBe(foundAgent);
    expect(readdirSync(bin).filter((name) => name === "runs")).toEqual(["runs"]);
  });
});

describe("an agent is there and cannot be used", () => {
  test("where its version is too old, with the oldest that will do", async () => {
    program("gemini", prints("0.1.9"));
    expect(await findAgent(gemini, env())).toMatchObject({
      state: "unfit",
      version: "0.1.9",
      problem: "version 0.1.9 is too old: 0.40.0 or newer is needed",
      fix: "npm install -g @google/gemini-cli",
    });
  });

  test("where node on the PATH is too old for it", async () => {
    program("node", prints("v20.20.2"));
    packaged("kimi", "@moonshot-ai/kimi-code", "2.1.0", "#!/usr/bin/env node\n");
    expect(await findAgent(kimi, env())).toMatchObject({
      state: "unfit",
      problem: "it needs Node.js 22.19.0 or newer, and node on the PATH is 20.20.2",
    });
  });

  test("where another program it needs is missing", async () => {
    program("pi-acp", prints("0.0.34"));
    expect(await findAgent(pi, env())).toMatchObject({
      state: "unfit",
      problem: "it needs pi on the PATH",
    });
  });
});

describe("looking is bounded", () => {
  test("none is found where nothing is on the PATH, each with how to install it", async () => {
    const found = await findAgents({ PATH: bin });
    expect(found.map(({ state }) => state)).toEqual(found.map(() => "missing"));
    expect(found.map(({ profile }) => profile.id)).toContain("cursor");

    for (const { fix, problem } of found) {
      expect(`${fix ?? ""}${problem ?? ""}`).toMatch(/install|see .*is not on the PATH/s);
    }
  });

  test("a program that hangs is ended with what it began, and has no version", async () => {
    const path = program(
      "gemini",
      `#!/bin/sh\nsleep 600 &\necho $! > ${join(bin, "child")}\nsleep 600\n`,
    );
    expect(
      await runAndCapture({ path, args: ["--version"], env: env(), timeoutMs: 400 }),
    ).toBeNull();
    const child = Number(readFileSync(join(bin, "child"), "utf8"));
    await until(() => !isRunning(child), "its child is gone");
  });

  test("a program that prints without end is ended, and what it printed first counts", async () => {
    const path = program(
      "gemini",
      "#!/bin/sh\necho 0.61.0\nwhile :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done\n",
    );
    const text = await runAndCapture({ path, args: [], env: env() });
    expect(text?.startsWith("0.61.0")).toBe(true);
    expect(text?.length).toBeLessThanOrEqual(64 * 1024);
  });

  test("a program sees neither the user's HOME nor the folder autopilot was called in", async () => {
    const path = program("gemini", '#!/bin/sh\necho "$HOME|$(pwd)|$SECRET|$IS_SANDBOX"\n');
    const printed = await runAndCapture({
      path,
      args: [],
      env: { ...env(), SECRET: "s", IS_SANDBOX: "1" },
    });
    const [home, cwd, ...rest] = (printed ?? "").trim().split("|");
    expect(rest).toEqual(["", ""]);
    expect(home).toBe(cwd);
    expect(home).not.toBe("/nowhere");
    expect(existsSync(home ?? "")).toBe(false);
  });

  test("a folder of the PATH that is not absolute is not looked into", () => {
    program("gemini", prints("1.0.0"));
    const before = process.cwd();
    process.chdir(bin);

    try {
      expect(findOnPath("gemini", { PATH: `.::${bin}x` })).toBeNull();
      expect(findOnPath("gemini", { PATH: `.:${bin}` })).toBe(join(bin, "gemini"));
    } finally {
      process.chdir(before);
    }
  });
});
