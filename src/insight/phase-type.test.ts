import { describe, expect, test } from "vitest";
import { choosePhaseType } from "./phase-type.ts";

describe("by the files of its plan", () => {
  test.each([
    [["a.tsx"], "ui"],
    [["web/x.ts"], "ui"],
    [["src/App.tsx", "src/api.ts", "package.json"], "ui"],
    [["docs/a.md"], "protocol"],
    [["a.json", "b.yaml", "test/data.test.ts"], "data"],
    [["a.md", "b.json"], "mixed"],
    [["src/cli.ts", "README.md"], "mixed"],
    [["src/cli.ts"], "mixed"],
  ] as const)("%j: %s", (files, type) =>
    expect(choosePhaseType({ files, statedText: "A data migration", uiFolder: "web" })).toBe(type),
  );
});

describe("without a plan, by what it says", () => {
  test.each([
    [
      "Phase 1: Login page\nGoal: Visitors sign in on a responsive page with a form and two buttons",
      "ui",
    ],
    [
      "Phase 2: Dark mode\nGoal: Every screen has a dark theme\n1. The switch works :: grep -c dark src/theme.css",
      "ui",
    ],
    [
      "Phase 3: Agent prompts\nGoal: The instructions of every agent say how to report\n1. said :: grep -c report agents/executor.md",
      "protocol",
    ],
    ["Phase 4: README rewrite\nGoal: The README is a guide for new users", "protocol"],
    [
      "Phase 5: Price list\nGoal: Prices are kept as JSON\n1. It parses :: node -e 'JSON.parse(...)' data/prices.json",
      "data",
    ],
    [
      "Phase 6: Migrations\nGoal: The database has a table of orders, and old records are migrated",
      "data",
    ],
    [
      "Phase 7: Rate limits\nGoal: The API answers 429 when a client calls an endpoint too often",
      "mixed",
    ],
    [
      "Phase 8: Settings page\nGoal: A page for settings, the JSON schema behind it, and a guide in docs/settings.md",
      "mixed",
    ],
    ["Phase 9: x", "mixed"],
    ["", "mixed"],
  ] as const)("%j: %s", (statedText, type) =>
    expect(choosePhaseType({ files: [], statedText })).toBe(type),
  );
});

test("however long the text, it is read in time that grows with it", () => {
  expect(choosePhaseType({ files: [], statedText: "a/".repeat(200_000) })).toBe("mixed");
});
