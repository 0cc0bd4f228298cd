import { expect, test } from "vitest";
import { buildEnvironment, hashEnvironment } from "./check-environment.ts";

const source = { hasFolder: () => false, scratch: "/s" };

test("secrets and settings of the runner do not reach a command; the listed names do", () => {
  const from = {
    PATH: "/bin",
    HOME: "/home/me",
    OPENAI_API_KEY: "k",
    GITHUB_TOKEN: "t",
    NODE_OPTIONS: "--inspect",
    LD_PRELOAD: "x",
    GIT_DIR: "/evil",
    TZ: "UTC",
  };

  expect(buildEnvironment({ ...source, from })).toEqual({
    PATH: "/bin",
    LANG: "C.UTF-8",
    TZ: "UTC",
    HOME: "/s/home",
    TMPDIR: "/s/tmp",
  });
});

test("colours, the terminal's name and CI are what they are in the user's shell: passed on if set, never forced", () => {
  const shell = { TERM: "xterm-256color", FORCE_COLOR: "1", USER: "me" };
  expect(buildEnvironment({ ...source, from: shell })).toMatchObject(shell);

  for (const name of ["CI", "NO_COLOR", "TERM", "PAGER"]) {
    expect(buildEnvironment({ ...source, from: {} })).not.toHaveProperty(name);
  }

  expect(buildEnvironment({ ...source, from: { CI: "true", NO_COLOR: "1" } })).toMatchObject({
    CI: "true",
    NO_COLOR: "1",
  });
});

test("nothing in a check's environment names the runner", () => {
  const from = { PATH: "/bin", AUTOPILOT_AGENT: "claude", AUTOPILOT_RUN: "run-1" };
  expect(JSON.stringify(buildEnvironment({ ...source, from }))).not.toMatch(/autopilot/i);
});

test("PATH is the user's own, without the folder in which npx keeps the runner", () => {
  const own = "/home/me/autopilot/node_modules/.bin:/usr/bin";
  const npx = `/home/me/.npm/_npx/0123456789abcdef/node_modules/.bin:${own}`;
  for (const PATH of [own, npx]) {
    expect(buildEnvironment({ ...source, from: { PATH } })["PATH"]).toBe(own);
  }
});

test("a tool chain in the real home is found from the private one", () => {
  const env = buildEnvironment({
    ...source,
    from: { HOME: "/home/me" },
    hasFolder: (path) => path === "/home/me/.rustup",
  });
  expect(env["RUSTUP_HOME"]).toBe("/home/me/.rustup");
});

test("extra variables can't replace the private home and temporary folder", () => {
  const env = buildEnvironment({
    ...source,
    from: {},
    extra: { HOME: "/home/me", TMPDIR: "/tmp", npm_config_cache: "/c" },
  });
  expect(env).toMatchObject({ HOME: "/s/home", TMPDIR: "/s/tmp", npm_config_cache: "/c" });
});

test("two commands of equal surroundings have one hash, another PATH another", () => {
  const env = (PATH: string, folder: string) =>
    hashEnvironment(buildEnvironment({ ...source, scratch: `/s/${folder}`, from: { PATH } }));
  expect(env("/bin", "1")).toBe(env("/bin", "2"));
  expect(env("/bin", "1")).not.toBe(env("/usr/bin", "1"));
});
