import { expect, test } from "vitest";
import { composeCheckEnvironment, hashEnvironment } from "./check-environment.ts";

const source = { hasFolder: () => false, scratch: "/s" };

test("secrets and settings of the runner do not reach a command; the listed names do", () => {
  const inherited = {
    PATH: "/bin",
    HOME: "/home/me",
    OPENAI_API_KEY: "k",
    GITHUB_TOKEN: "t",
    NODE_OPTIONS: "--inspect",
    LD_PRELOAD: "x",
    GIT_DIR: "/evil",
    TZ: "UTC",
  };

  expect(composeCheckEnvironment({ ...source, inherited })).toEqual({
    PATH: "/bin",
    LANG: "C.UTF-8",
    TZ: "UTC",
    HOME: "/s/home",
    TMPDIR: "/s/tmp",
  });
});

test("colours, the terminal's name and CI are what they are in the user's shell: passed on if set, never forced", () => {
  const shell = { TERM: "xterm-256color", FORCE_COLOR: "1", USER: "me" };
  expect(composeCheckEnvironment({ ...source, inherited: shell })).toMatchObject(shell);

  for (const name of ["CI", "NO_COLOR", "TERM", "PAGER"]) {
    expect(composeCheckEnvironment({ ...source, inherited: {} })).not.toHaveProperty(name);
  }

  expect(
    composeCheckEnvironment({ ...source, inherited: { CI: "true", NO_COLOR: "1" } }),
  ).toMatchObject({
    CI: "true",
    NO_COLOR: "1",
  });
});

test("nothing in a check's environment names the runner", () => {
  const inherited = { PATH: "/bin", AUTOPILOT_AGENT: "claude", AUTOPILOT_RUN: "run-1" };
  expect(JSON.stringify(composeCheckEnvironment({ ...source, inherited }))).not.toMatch(
    /autopilot/i,
  );
});

test("PATH is the user's own, without the folder in which npx keeps the runner", () => {
  const own = "/home/me/autopilot/node_modules/.bin:/usr/bin";
  const npx = `/home/me/.npm/_npx/0123456789abcdef/node_modules/.bin:${own}`;
  for (const PATH of [own, npx]) {
    expect(composeCheckEnvironment({ ...source, inherited: { PATH } })["PATH"]).toBe(own);
  }
});

test("a tool chain in the real home is found from the private one", () => {
  const env = composeCheckEnvironment({
    ...source,
    inherited: { HOME: "/home/me" },
    hasFolder: (path) => path === "/home/me/.rustup",
  });
  expect(env["RUSTUP_HOME"]).toBe("/home/me/.rustup");
});

test("extra variables can't replace the private home and temporary folder", () => {
  const env = composeCheckEnvironment({
    ...source,
    inherited: {},
    extra: { HOME: "/home/me", TMPDIR: "/tmp", npm_config_cache: "/c" },
  });
  expect(env).toMatchObject({ HOME: "/s/home", TMPDIR: "/s/tmp", npm_config_cache: "/c" });
});

test("two commands of equal surroundings have one hash, another PATH another", () => {
  const env = (PATH: string, folder: string) =>
    hashEnvironment(
      composeCheckEnvironment({ ...source, scratch: `/s/${folder}`, inherited: { PATH } }),
    );
  expect(env("/bin", "1")).toBe(env("/bin", "2"));
  expect(env("/bin", "1")).not.toBe(env("/usr/bin", "1"));
});
