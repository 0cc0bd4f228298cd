import { expect, test } from "vitest";
import { endLeftBehind, hasSetsid, leaveBehind } from "../../test/support/left-behind.ts";
import { runAndCapture } from "./run-and-capture.ts";

const shell = (script: string, timeoutMs?: number) =>
  runAndCapture({
    path: "/bin/sh",
    args: ["-c", script],
    env: process.env,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });

test("stdout is captured before stderr, and a program that isn't there is null", async () => {
  expect(await shell("echo second >&2; echo first")).toBe("first\nsecond\n");
  expect(await runAndCapture({ path: "/nonexistent", args: [], env: {} })).toBeNull();
});

test("a program that does not end in time is null", async () => {
  expect(await shell("echo begun; sleep 600", 200)).toBeNull();
});

test.skipIf(!hasSetsid)(
  "a process left behind that holds the output open is not waited for (needs setsid)",
  async () => {
    const output = (await shell(`echo 1.2.3; ${leaveBehind()}`)) ?? "";
    expect(endLeftBehind(output)).toBe(true);
    expect(output).toMatch(/^1\.2\.3\n/);
  },
);

test.skipIf(!hasSetsid)(
  "one that also goes on printing is not waited for beyond the limit (needs setsid)",
  async () => {
    expect(await shell(leaveBehind("while echo more; do sleep 0.05; done"), 1000)).toBeNull();
  },
);
