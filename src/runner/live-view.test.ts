import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Entry } from "../contracts/event.ts";
import { runView } from "../views/run-view.test-support.ts";
import { livePath, openLiveView } from "./live-view.ts";

const folder = mkdtempSync(join(tmpdir(), "autopilot-live-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ended = (attempt: string): Entry =>
  ({
    event: "step_completed",
    attempt,
    facts: {},
    actor: "system",
    reason_code: "ok",
  }) as unknown as Entry;

test("a glimpse is to be seen until its own attempt has ended, here and for whoever watches", () => {
  const shown: string[] = [];
  const place = { showLive: (line: string) => void shown.push(line) };

  const live = openLiveView({
    context: place,
    folder,
    redactEvent: (event) => () => event,
    fileWriter: { onLiveEvent: () => undefined },
  });
  live.onLiveEvent({
    signal: "checking",
    attempt: "1@1/measure#1",
    title: "tests",
    command: "npm test",
  });

  expect(readFileSync(livePath(folder), "utf8")).toContain("checking tests");
  live.onEntry(ended("1@1/another#1"), runView());
  expect(shown).toHaveLength(1);
  live.onEntry(ended("1@1/measure#1"), runView());
  expect(shown.at(-1)).toBe("");
  expect(readFileSync(livePath(folder), "utf8")).toBe("");
});
