import { expect, test } from "vitest";
import { Mutex } from "./mutex.ts";

test("a mutex lets one in at a time, in the order of arrival, also after one that failed", async () => {
  const mutex = new Mutex();
  const seen: string[] = [];
  let inside = 0;

  const visit = (name: string, fails = false) =>
    mutex.runExclusive(async () => {
      inside++;
      expect(inside).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(name);
      inside--;
      if (fails) throw new Error(name);

      return name;
    });
  const first = visit("a");
  const failing = visit("b", true);
  // Whoever comes when one has just left must not pass those who wait.
  const late = first.then(() => visit("d"));
  const third = visit("c");
  await expect(failing).rejects.toThrow("b");
  expect(await Promise.all([first, late, third])).toEqual(["a", "d", "c"]);
  expect(seen).toEqual(["a", "b", "c", "d"]);
  expect(await visit("e")).toBe("e");
});
