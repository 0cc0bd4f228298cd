import { expect, test } from "vitest";
import { environmentFor, envHashOf } from "./environment.ts";

const source = { hasFolder: () => false, scratch: "/s", runId: "run-1", marker: "m" };

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
  expect(environmentFor({ ...source, from })).toEqual({
    PATH: "/bin",
    LANG: "C.UTF-8",
    TZ: "UTC",
    CI: "1",
    NO_COLOR: "1",
    TERM: "dumb",
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
    HOME: "/s/home",
    TMPDIR: "/s/tmp",
    AUTOPILOT_RUN: "run-1",
    AUTOPILOT_COMMAND: "m",
  });
});

test("a tool chain in the real home is found from the private one", () => {
  const env = environmentFor({ ...source, from: { HOME: "/home/me" }, hasFolder: (path) => path === "/home/me/.rustup" });
  expect(env["RUSTUP_HOME"]).toBe("/home/me/.rustup");
});

test("extra variables cannot replace the private home or the marker", () => {
  const env = environmentFor({ ...source, from: {}, extra: { HOME: "/home/me", AUTOPILOT_COMMAND: "no", npm_config_cache: "/c" } });
  expect(env).toMatchObject({ HOME: "/s/home", AUTOPILOT_COMMAND: "m", npm_config_cache: "/c" });
});

test("two commands of equal surroundings have one hash, another PATH another", () => {
  const env = (PATH: string, marker: string) => envHashOf(environmentFor({ ...source, marker, scratch: `/s/${marker}`, from: { PATH } }));
  expect(env("/bin", "1")).toBe(env("/bin", "2"));
  expect(env("/bin", "1")).not.toBe(env("/usr/bin", "1"));
});
