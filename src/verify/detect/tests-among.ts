// tests-among: which of a project's checks run tests. Pure.

import type { Check } from "../../contracts/evidence.ts";

/** Those that run tests; if none says so by its name, all of them. */
export function testsAmong(checks: readonly Check[]): readonly Check[] {
  const tests = checks.filter(({ id, command }) => /test/i.test(command) || id.startsWith("project:config-"));
  return tests.length > 0 ? tests : checks;
}
