// detect-make: detects the checks of projects with a makefile.

import {
  type DetectedChecks,
  createProjectCheck,
  type Tree,
  detectFromManifest,
  toWarning,
} from "./manifest.ts";

/** The targets `lint`, `check` and `test` of the makefile that make itself would use. */
export function detectMake(tree: Tree): DetectedChecks {
  const file = ["GNUmakefile", "makefile", "Makefile"].find((name) => tree.files.has(name));
  if (file === undefined) return { checks: [], warnings: [] };
  return detectFromManifest(tree, file, (text) => {
    if (text.includes("\0")) return toWarning(file, "it is not text");
    const targets = parseTargets(text);
    const usedTargets = ["lint", "check", "test"].filter((name) => targets.has(name));

    return {
      checks: usedTargets.map((name) =>
        createProjectCheck(`make-${name}`, `make ${name}`, `${file} ${name}`),
      ),
      warnings: [],
    };
  });
}

/**
 * Names left of a rule's colon: `lint` and `test` of `lint test: build`. Recipes begin with a tab,
 * assignments have `=` after the colon.
 */
function parseTargets(text: string): ReadonlySet<string> {
  const targets = new Set<string>();
  for (const line of text.replaceAll("\\\n", " ").split("\n")) {
    const rule = /^([^\t#=:][^#=:]*)::?(?![:=])/.exec(line)?.[1];
    for (const target of rule?.trim().split(/\s+/) ?? []) targets.add(target);
  }

  return targets;
}
