// check-kind: guesses which of the roadmap's four kinds of check a project's command is, by the
// words that such commands usually contain.

import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { CheckFlag } from "../contracts/roadmap-values.ts";

export const checkKinds = ["compile", "tests", "lint", "build"] as const;
export type CheckKind = (typeof checkKinds)[number];

/** The first that matches decides: `npm run lint:types` is lint, `npm run test:build` tests. */
const kindPatterns: readonly (readonly [CheckKind, RegExp])[] = [
  [
    "lint",
    /\b(?:lint|eslint|oxlint|tslint|stylelint|biome|ruff|flake8|pylint|clippy|golangci-lint|vet|rubocop|shellcheck|fmt|format)\b/,
  ],
  [
    "tests",
    /\b(?:tests?|spec|vitest|jest|mocha|ava|pytest|unittest|tox|nextest|rspec|phpunit|playwright|cypress)\b/,
  ],
  ["compile", /\b(?:tsc|typecheck|type-check|types|compile|mypy|pyright|check)\b/],
  ["build", /\b(?:build|bundle|rollup|webpack|dist|package)\b/],
];

export function findCheckKind({
  id,
  command,
  title,
}: Pick<Check, "id" | "command" | "title">): CheckKind | null {
  for (const text of [command, title, id]) {
    const spaced = text.toLowerCase().replaceAll(/[_:]/g, " ");
    for (const [kind, pattern] of kindPatterns) if (pattern.test(spaced)) return kind;
  }

  return null;
}

export type CheckFlags = { readonly [Kind in CheckKind]: CheckFlag };

/**
 * The results of the project's own checks, by kind; one red check makes its kind red, a kind
 * without a check is `n/a`.
 */
export function computeCheckFlags(results: readonly CheckResult[]): CheckFlags {
  const flags: Record<CheckKind, CheckFlag> = {
    compile: "n/a",
    tests: "n/a",
    lint: "n/a",
    build: "n/a",
  };

  for (const { check, status, quarantined } of results) {
    if (check.kind !== "project" || quarantined !== undefined) continue;
    const kind = findCheckKind(check);
    if (kind !== null) flags[kind] = flags[kind] !== false && status === "passed";
  }

  return flags;
}
