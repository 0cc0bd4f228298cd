import { expect, test } from "vitest";
import { listSome } from "./list-some.ts";

test("a list within the limit is shown whole, a longer one with the number of names left out", () => {
  expect(listSome([], 2)).toBe("");
  expect(listSome(["a", "b"], 2)).toBe("a, b");
  expect(listSome(["a", "b", "c", "d", "e"], 2)).toBe("a, b and 3 more");
});
