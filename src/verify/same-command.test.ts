import { expect, test } from "vitest";
import { detectChecks } from "./detect/detect.ts";
import { isSameCommand } from "./same-command.ts";

test.each([
  ["npm test", "npm run test"],
  ["npm t", "npm run-script test"],
  ["  npm  test ", "npm run test"],
  ["pnpm test", "pnpm run test"],
  ["yarn lint", "yarn run lint"],
])("%j and %j are one check", (one, other) => {
  expect(isSameCommand(one, other)).toBe(true);
});

test.each([
  ["bun test", "bun run test"],
  ["npm test -- login", "npm test"],
  ["echo 'a  b'", "echo 'a b'"],
  ["npm test; true", "npm run test; true"],
  ["npm install", "npm run install"],
])("%j and %j are two", (one, other) => {
  expect(isSameCommand(one, other)).toBe(false);
});

test("a command of the config that a manifest names too is one check", () => {
  const tree = {
    files: new Set(["package.json"]),
    read: () => JSON.stringify({ scripts: { test: "x" } }),
  };
  expect(detectChecks(tree, { commands: ["npm test"] }).checks.map(({ id }) => id)).toEqual([
    "project:config-1",
  ]);
});
