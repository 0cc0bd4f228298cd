// select-test-checks: selects those of a project's checks that run tests. Pure.

import type { Check } from "../../contracts/evidence.ts";

/** The checks whose command names tests, and those of the config; if there are none, all checks. */
export function selectTestChecks(checks: readonly Check[]): readonly Check[] {
  const tests = checks.filter(
    ({ id, command }) => /test/i.test(command) || id.startsWith("project:config-"),
  );
  return tests.length > 0 ? tests : checks;
}
