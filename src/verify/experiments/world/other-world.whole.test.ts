import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { wrapInOtherWorld } from "./other-world.ts";

it("another world has another number of processors, user and hash seed for Python", () => {
  const run = (command: string): string => execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" }).trim();
  const asked = `python3 -c 'import multiprocessing, os; print(multiprocessing.cpu_count(), os.getuid(), os.environ["PYTHONHASHSEED"])'`;
  const [processors, ...rest] = run(wrapInOtherWorld(asked)).split(" ");
  expect(rest).toEqual(["65534", "4242"]);
  expect(processors).not.toBe(run("python3 -c 'import os; print(os.cpu_count())'"));
});
