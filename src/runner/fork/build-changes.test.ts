import { expect, test } from "vitest";
import { formatChangeFlags } from "./build-changes.ts";

test("a way on types again every flag that was given, quoted where a shell would change it", () => {
  expect(formatChangeFlags({})).toBe("");
  expect(
    formatChangeFlags({
      agent: "scripted:../a b.yaml",
      model: "opus",
      prompt: "execute=it's.md",
      limits: ["tokens=+100k", "usd=3"],
    }),
  ).toBe(
    ` --agent 'scripted:../a b.yaml' --model opus --prompt 'execute=it'\\''s.md' --limit tokens=+100k --limit usd=3`,
  );
});
