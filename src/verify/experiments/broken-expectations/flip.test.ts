import { describe, expect, test } from "vitest";
import { applyFlips } from "./flip.ts";

describe("several flips of one text", () => {
  const text = "equal(code(a), 1);\nequal(code(b), 2);\ndeep(all, {\n  n: 3,\n});\n";
  const one = { line: 11, was: "equal(code(a), 1);", broken: "equal(code(a), 2);" };
  const two = { line: 12, was: "equal(code(b), 2);", broken: "equal(code(b), 3);" };

  test("are put in wherever the lines have moved, in any order", () => {
    const both = "equal(code(a), 2);\nequal(code(b), 3);\ndeep(all, {\n  n: 3,\n});\n";
    expect(applyFlips(text, [one, two])).toBe(both);
    expect(applyFlips(text, [two, one])).toBe(both);
  });

  test("one that makes the line which another looks for does not hide it", () => {
    const alike = text.replaceAll(/code\(\w\)/g, "code");
    const flip = (n: number) => ({
      line: n + 10,
      was: `equal(code, ${n});`,
      broken: `equal(code, ${n + 1});`,
    });
    expect(applyFlips(alike, [flip(1), flip(2)])).toContain("equal(code, 2);\nequal(code, 3);");
  });

  test("two that change the same lines in other ways don't fit together", () => {
    const whole = { line: 3, was: "deep(all, {\n  n: 3,\n});", broken: "deep(all, 0\n\n);" };
    const inner = { line: 4, was: "  n: 3,", broken: "  n: 4," };
    expect(applyFlips(text, [whole, inner])).toBeNull();
    expect(applyFlips(text, [inner])).toContain("n: 4");
  });
});
