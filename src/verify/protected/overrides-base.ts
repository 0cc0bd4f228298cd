// overrides-base: decides whether a new file would override the test settings of the base.

import type { StringSet } from "../../kit/as-set.ts";
import type { CommandSet } from "./command-set.ts";
import type { ProtectionRow } from "./rows/protection-row.ts";
import { detectLanguage } from "./kinds.ts";

type OverrideQuestion = {
  readonly path: string;
  readonly row: ProtectionRow;
  readonly base: StringSet;
  readonly rowOf: (path: string) => ProtectionRow | null;
  readonly commands: CommandSet;
};

/**
 * `path`: the new file. `row`: the row of the table that it matches; `rowOf`: that of any other
 * path. `commands`: the commands that judge.
 */
export function overridesBase({ path, row, base, rowOf, commands }: OverrideQuestion): boolean {
  const { rules, ownFolder: namePattern = /[^/]*$/, path: pattern, tool } = row;
  if (rules === undefined) return false;
  if (rules === "named") return true;
  const folder = path.replace(namePattern, "");
  const existsBelow = (test: (other: string) => boolean): boolean =>
    [...base].some((other) => other.startsWith(folder) && test(other));
  if (!existsBelow(() => true)) return false; // no file of the base is in that folder, so there is nothing to override
  if (tool !== undefined && commands.usedCommands.some((command) => tool.test(command))) {
    return true;
  }

  if (rules instanceof RegExp) return existsBelow((other) => rules.test(other));
  switch (rules) {
    case "beside":
      return existsBelow(
        (other) => pattern.test(other) && !other.slice(folder.length).includes("/"),
      );
    case "tool":
      // A tool that no command ran and that had no configuration cannot have judged anything.
      return [...base].some((other) => pattern.test(other));
    case "any":
      return existsBelow((other) => rowOf(other)?.kind === "test");
    default:
      return existsBelow(
        (other) => detectLanguage(other) === rules && rowOf(other)?.kind === "test",
      );
  }
}
