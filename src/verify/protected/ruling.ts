// ruling: decides whether a new file would override the test settings of the base.

import type { StringSet } from "../../kit/as-set.ts";
import type { CommandSet } from "./command-set.ts";
import type { ProtectionRow } from "./kinds.ts";
import { languageOf } from "./kinds.ts";

/** `rowOf`: the rule for a path. `named`: the commands that decide. */
export function overridesBase(
  path: string,
  row: ProtectionRow,
  base: StringSet,
  rowOf: (path: string) => ProtectionRow | null,
  named: CommandSet,
): boolean {
  const { rules, ownFolder: from = /[^/]*$/, fits, tool } = row;
  if (rules === undefined) return false;
  if (rules === "named") return true;
  const folder = path.replace(from, "");
  const existsBelow = (test: (other: string) => boolean): boolean => [...base].some((other) => other.startsWith(folder) && test(other));
  if (!existsBelow(() => true)) return false; // its own package brings its own settings
  if (tool !== undefined && named.usedCommands.some((command) => tool.test(command))) return true;
  if (rules instanceof RegExp) return existsBelow((other) => rules.test(other));
  switch (rules) {
    case "beside":
      return existsBelow((other) => fits.test(other) && !other.slice(folder.length).includes("/"));
    case "tool":
      // A tool that no command ran and that had no configuration cannot have judged anything.
      return [...base].some((other) => fits.test(other));
    case "any":
      return existsBelow((other) => rowOf(other)?.kind === "test");
    default:
      return existsBelow((other) => languageOf(other) === rules && rowOf(other)?.kind === "test");
  }
}
