import { expect, test } from "vitest";
import { parsePs, parsePsEnvironment } from "./process-table.ts";
import { createRunFilter, createTurnFilter, toMarkVariables } from "./process-mark.ts";
import { composeAgentEnvironment } from "./agent-environment.ts";
import type { Launch } from "./spawn-agent.ts";

const mark = {
  run: "run-2026-01-02-030405",
  attempt: "1@1/execute#1",
  repository: "here",
  agentsId: "first",
};
const launch: Launch = {
  argv: ["x"],
  cwd: "/",
  mark,
  passEnv: [],
  env: {},
  home: null,
  wrap: null,
};

test("nothing of the runner's environment reaches an agent unless it is on the list", () => {
  const inherited = {
    PATH: "/bin",
    HOME: "/home/me",
    LC_ALL: "C",
    SECRET: "s",
    NODE_OPTIONS: "--inspect",
    NODE_EXTRA_CA_CERTS: "c",
    IS_SANDBOX: "1",
    AUTOPILOT_AGENT: "x",
    GIT_DIR: "/g",
  };
  expect(composeAgentEnvironment(launch, inherited)).toEqual({
    PATH: "/bin",
    HOME: "/home/me",
    LC_ALL: "C",
    ...toMarkVariables(mark),
  });
});

test("a profile may pass further names, but not the barred ones; it may set values outright, and a home may be replaced", () => {
  const more = {
    ...launch,
    passEnv: ["API_KEY", "NODE_EXTRA_CA_CERTS"],
    env: { MODE: "quiet", IS_SANDBOX: "1" },
    home: "/tmp/home",
  };
  expect(
    composeAgentEnvironment(more, {
      API_KEY: "k",
      IS_SANDBOX: "yes",
      NODE_EXTRA_CA_CERTS: "c",
      HOME: "/home/me",
    }),
  ).toEqual({
    API_KEY: "k",
    MODE: "quiet",
    IS_SANDBOX: "1",
    HOME: "/tmp/home",
    ...toMarkVariables(mark),
  });
});

test("a mark tells a turn from the turns beside it, and a run from a run of the same name elsewhere", () => {
  const words = (changes: Partial<typeof mark>) =>
    Object.entries(toMarkVariables({ ...mark, ...changes })).map(
      ([name, value]) => `${name}=${value}`,
    );
  expect(createTurnFilter(mark)(words({}))).toBe(true);
  expect(createTurnFilter(mark)(words({ attempt: "1@1/execute#2" }))).toBe(false);
  expect(createTurnFilter(mark)(words({ agentsId: "second" }))).toBe(false);
  expect(
    createRunFilter(mark.run, "here")(words({ agentsId: "second", attempt: "1@1/execute#2" })),
  ).toBe(true);

  expect(createRunFilter(mark.run, "here")(words({ repository: "there" }))).toBe(false);
  expect(createRunFilter(mark.run, "here")(words({ run: `${mark.run}-2` }))).toBe(false);
  // What does not say where it belongs may be a run of the same name in another repository: it is
  // left alone.
  expect(createRunFilter(mark.run, "here")(["AUTOPILOT_RUN=run-2026-01-02-030405"])).toBe(false);
});

test("what ps prints is read, where there is no /proc", () => {
  expect(
    parsePs("    1     0 Thu Jan  1 00:00:00 2026\n  42     1 Fri Jan  2 00:00:00 2026    \n\n"),
  ).toEqual([
    { pid: 1, parent: 0, startTime: "Thu Jan  1 00:00:00 2026" },
    { pid: 42, parent: 1, startTime: "Fri Jan  2 00:00:00 2026" },
  ]);

  const [found] = parsePsEnvironment(
    "  42 /bin/sleep 1000 PATH=/bin AUTOPILOT_RUN=run-2026-01-02-030405 AUTOPILOT_PLACE=here\n",
  );
  expect(found?.pid).toBe(42);
  expect(createRunFilter(mark.run, "here")(found?.entries ?? [])).toBe(true);
});
