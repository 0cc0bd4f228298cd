// detect-build: detects the checks of Cargo, Go and Make projects.

import { parse } from "smol-toml";
import { type Detected, projectCheck, type Tree, useManifest, warning } from "./manifest.ts";

/** `cargo check` and `cargo test` if Cargo.toml has a package or a workspace. */
export function detectCargo(tree: Tree): Detected {
  const file = "Cargo.toml";
  return useManifest(tree, file, (text) => {
    const manifest = parse(text);
    if (manifest["package"] === undefined && manifest["workspace"] === undefined) return warning(file, "neither [package] nor [workspace]");
    return { checks: [projectCheck("cargo-check", "cargo check", file), projectCheck("cargo-test", "cargo test", file)], warnings: [] };
  });
}

/** `go vet` and `go test` over every package of the module. */
export function detectGo(tree: Tree): Detected {
  const file = "go.mod";
  return useManifest(tree, file, (text) => {
    if (!/^\s*module\s+\S+/m.test(text)) return warning(file, "no module line");
    return { checks: [projectCheck("go-vet", "go vet ./...", file), projectCheck("go-test", "go test ./...", file)], warnings: [] };
  });
}

/** The targets `lint`, `check` and `test` of the makefile that make itself would use. */
export function detectMake(tree: Tree): Detected {
  const file = ["GNUmakefile", "makefile", "Makefile"].find((name) => tree.files.has(name));
  if (file === undefined) return { checks: [], warnings: [] };
  return useManifest(tree, file, (text) => {
    if (text.includes("\0")) return warning(file, "it is not text");
    const targets = parseTargets(text);
    const usedTargets = ["lint", "check", "test"].filter((name) => targets.has(name));
    return { checks: usedTargets.map((name) => projectCheck(`make-${name}`, `make ${name}`, `${file} ${name}`)), warnings: [] };
  });
}

/** Names left of a rule's colon: `lint` and `test` of `lint test: build`. Recipes begin with a tab, assignments have `=` after the colon. */
function parseTargets(text: string): ReadonlySet<string> {
  const targets = new Set<string>();
  for (const line of text.replaceAll("\\\n", " ").split("\n")) {
    const rule = /^([^\t#=:][^#=:]*)::?(?![:=])/.exec(line)?.[1];
    for (const target of rule?.trim().split(/\s+/) ?? []) targets.add(target);
  }
  return targets;
}
