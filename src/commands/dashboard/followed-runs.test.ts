import { expect, test } from "vitest";
import { type FollowedRun, cacheByMark } from "./followed-runs.ts";

const run = (key: string, changeMark: string): FollowedRun =>
  ({ key, changeMark }) as unknown as FollowedRun;

test("what was worked out of a run is kept until its mark is another, and only of the last few runs", () => {
  const worked: string[] = [];
  const of = cacheByMark(
    ({ key, changeMark }) => `${worked.push(`${key} ${changeMark}`)}: ${key} ${changeMark}`,
    2,
  );
  expect(of(run("a", "1"))).toBe("1: a 1");
  expect(of(run("a", "1"))).toBe("1: a 1");
  expect(of(run("b", "1"))).toBe("2: b 1");
  expect(of(run("a", "2"))).toBe("3: a 2");
  expect(of(run("b", "1"))).toBe("2: b 1");
  of(run("c", "1")); // b was worked out longest ago
  of(run("a", "2"));
  of(run("b", "1"));
  expect(worked).toEqual(["a 1", "b 1", "a 2", "c 1", "b 1"]);
});
