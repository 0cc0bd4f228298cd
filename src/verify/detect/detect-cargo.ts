// detect-cargo: detects the checks of Cargo projects.

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
