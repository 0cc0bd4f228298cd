// go-module-parts: extracts what stands for each package that go.mod or go.work names: itself, or
// what its `replace` line says. Tests may use a package that was there before; what stands for a
// new one is new code like any other.

import { type ProtectedParts, squeezeSpace } from "./protected-parts.ts";

/** What stands for a package that is required and not replaced. */
const packageItself = "itself";

export function extractGoModuleParts(text: string): ProtectedParts {
  const parts: Record<string, string> = {};
  let openBlock = ""; // `require (` and `replace (`, up to the line with `)`

  for (const line of text.split("\n")) {
    const code = squeezeSpace(line.split("//", 1)[0] ?? "");
    const [, directive = openBlock, rest = code] = /^(require|replace) ?(.*)$/.exec(code) ?? [];

    if (rest.startsWith(")")) {
      openBlock = "";
      continue;
    }

    if (rest.startsWith("(")) {
      openBlock = directive;
      continue;
    }

    const [module = "", replacement] = rest.split("=>").map((side) => side.trim());
    const partName = `package ${module.split(" ", 1)[0]}`;
    if (directive === "replace" && replacement !== undefined) {
      parts[partName] = `${module} => ${replacement}`;
    } else if (directive === "require" && module !== "") {
      parts[partName] ??= packageItself;
    }
  }

  return parts;
}

/** Whether a package is no longer required that nothing replaced: that changes no other. */
export const isRemovedRequirement = (
  before: string | undefined,
  after: string | undefined,
): boolean => before === packageItself && after === undefined;
