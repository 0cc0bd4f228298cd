import { expect, test } from "vitest";
import { commitSubject } from "./commit-subject.ts";

test("a commit's subject names the phase and step, and what was changed", () => {
  const order = { phase: "2", name: "Parser", step: "execute", paths: ["src/a.ts"], goal: "accept weeks\nand more" };
  expect(commitSubject(order)).toBe("2 Parser/execute: change src/a.ts");
  expect(commitSubject({ ...order, paths: ["a", "b", "c", "d"] })).toBe("2 Parser/execute: change a, b and 2 more");
  expect(commitSubject({ ...order, name: "2", paths: [] })).toBe("2/execute: accept weeks");
  expect(commitSubject({ ...order, paths: ["x".repeat(300)] })).toHaveLength(100);
});
