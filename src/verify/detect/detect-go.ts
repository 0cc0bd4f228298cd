// detect-go: detects the checks of Go projects.

import {
  type DetectedChecks,
  createProjectCheck,
  type Tree,
  detectFromManifest,
  toWarning,
} from "./manifest.ts";

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
