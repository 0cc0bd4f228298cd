import { expect, test } from "vitest";
import type { Lab } from "./lab.ts";
import { findMadeData } from "./made-data.ts";

const commands = ["npm run check", "node scripts/migrate.mjs"];
const made = '{ "version": 2 }\n';

/** A project whose program answers with `write` for the data that it finds; null: it fails. */
function labWith(
  write: (data: string | null) => string | null,
  source = 'read("data/store.json")',
): Lab & { readonly asked: string[] } {
  const asked: string[] = [];
  const run: Lab["run"] = (_side, edits, gone = [], command = "") => {
    asked.push(command);
    let data = gone.length > 0 ? null : (edits[0]?.text ?? made);
    let passed = true;
    if (command.includes("migrate")) {
      data = write(data);
      passed = data !== null;
    }
    if (command.includes("check")) passed &&= data?.includes("2") === true;
    const output = `fine\n\n-- data --\n${data ?? ""}`;
    return Promise.resolve({ passed, failed: new Set(), tests: null, readOutput: () => output });
  };

  return {
    run,
    asked,
    repeat: () => Promise.resolve(null),
    textAt: (side, path) =>
      Promise.resolve(
        path.endsWith(".mjs") ? source : side === "base" ? '{ "version": 1 }\n' : made,
      ),
    pathsAt: () => Promise.resolve(["scripts/migrate.mjs", "data/store.json"]),
    commands: [],
    changedPaths: ["scripts/migrate.mjs", "data/store.json"],
    before: null,
    wasRed: true,
    now: { passed: true, failed: new Set(), tests: null },
    seed: "any",
  };
}

const migrate = (data: string | null): string | null => data?.replace("1", "2") ?? null;

test("a program that turns the data from before the work into what other checks ask for makes it", async () =>
  expect(await findMadeData(labWith(migrate), commands)).toEqual({
    program: "scripts/migrate.mjs",
    paths: ["data/store.json"],
  }));

test("data that it writes otherwise than it was committed is not made by it", async () =>
  expect(
    await findMadeData(
      labWith((data) => data?.replace("1", "2, 2") ?? null),
      commands,
    ),
  ).toEqual({ program: "scripts/migrate.mjs", paths: [] }));

test.each([
  ["leaves the data as it is", labWith((data) => data), commands],
  ["needs no data, and writes what it knows", labWith(() => made), commands],
  ["names none of the changed data", labWith(migrate, "read(1)"), commands],
  ["is judged by no other check", labWith(migrate), ["node scripts/migrate.mjs"]],
  ["is called a check", labWith(migrate), ["node scripts/check-store.mjs", "npm run lint"]],
])("a program that %s makes nothing", async (_says, lab, asked) =>
  expect(await findMadeData(lab, asked)).toBeNull(),
);
