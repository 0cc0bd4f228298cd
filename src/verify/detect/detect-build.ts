// detect-build: detects the checks of Cargo, Go and Make projects.

import { parse } from "smol-toml";
import {
  type DetectedChecks,
  createProjectCheck,
  type Tree,
  detectFromManifest,
  toWarning,
} from "./manifest.ts";

/** `cargo check` and `cargo test` if Cargo.toml has a package or a workspace. */
export function detectCargo(tree: Tree): DetectedChecks {
  const file = "Cargo.toml";
  return detectFromManifest(tree, file, (text) => {
    const manifest = parse(text);
    if (manifest["package"] === undefined && manifest["workspace"] === undefined) {
      return toWarning(file, "neither [package] nor [workspace]");
    }

    return {
      checks: [
        createProjectCheck("cargo-check", "cargo check", file),
        createProjectCheck("cargo-test", "cargo test", file),
      ],
      warnings: [],
    };
  });
}

/** `go vet` and `go test` over every package of the module. */
export function detectGo(tree: Tree): DetectedChecks {
  const file = "go.mod";
  return detectFromManifest(tree, file, (text) => {
    if (!/^\s*module\s+\S+/m.test(text)) return toWarning(file, "no module line");
    return {
      checks: [
        createProjectCheck("go-vet", "go vet ./...", file),
        createProjectCheck("go-test", "go test ./...", file),
      ],
      warnings: [],
    };
  });
}

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
