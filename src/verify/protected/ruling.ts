// ruling: decides whether a new file would override the test settings of the base.

import type { StringSet } from "../../kit/as-set.ts";
import type { Named } from "./named.ts";
import type { Row } from "./kinds.ts";
import { familyOf } from "./kinds.ts";

/** Whether a new file would override existing files of the base. */
export function overridesBase(path: string, row: Row, base: StringSet, rowOf: (path: string) => Row | null, named: Named): boolean {
  const { rules, from = /[^/]*$/, fits, tool } = row;
  if (rules === undefined) return false;
  if (rules === "named") return true;
  const folder = path.replace(from, "");
  const below = (test: (other: string) => boolean): boolean => [...base].some((other) => other.startsWith(folder) && test(other));
  if (!below(() => true)) return false; // its own package brings its own settings
  if (tool !== undefined && named.used.some((command) => tool.test(command))) return true;
  if (rules instanceof RegExp) return below((other) => rules.test(other));
  switch (rules) {
    case "beside":
      return below((other) => fits.test(other) && !other.slice(folder.length).includes("/"));
    case "tool":
      // A tool that no command ran and that had no configuration cannot have judged anything.
      return [...base].some((other) => fits.test(other));
    case "any":
      return below((other) => rowOf(other)?.kind === "test");
    default:
      return below((other) => familyOf(other) === rules && rowOf(other)?.kind === "test");
  }
}
