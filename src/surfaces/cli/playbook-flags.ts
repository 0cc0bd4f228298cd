// playbook-flags: the flags that are passed on to a flow's playbook when a run resumes.

import type { FlagSpec, ParsedInput } from "./spec.ts";

/** The command passes them on by name; only the playbook knows what they mean for its documents. */
export const playbookFlags: readonly FlagSpec[] = [
  {
    name: "accept-spec-change",
    isRare: true,
    kind: "flag",
    about: "Continue although the specification changed.",
  },
];

/** Those that were given; undefined if none was. */
export function parsePlaybookFlags(input: ParsedInput): ReadonlySet<string> | undefined {
  const names = playbookFlags.map(({ name }) => name).filter((name) => input.flag(name));
  return names.length === 0 ? undefined : new Set(names);
}
