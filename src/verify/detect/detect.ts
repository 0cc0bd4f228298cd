// detect: finds the project's own checks in its manifests. It reads text and returns data; nothing
// is run here.
//
// Invariant:
//   D1. A broken manifest loses its own checks and is named in a warning; the others still count.

import type { Check } from "../../contracts/evidence.ts";
import { detectCargo } from "./detect-cargo.ts";
import { detectGo } from "./detect-go.ts";
import { detectMake } from "./detect-make.ts";
import { detectDeno } from "./detect-deno.ts";
import { detectJava } from "./detect-java.ts";
import { detectNode } from "./detect-node.ts";
import { detectPython } from "./detect-python.ts";
import type { DetectedChecks, Tree } from "./manifest.ts";
import { toCommandKey } from "../same-command.ts";

export type DetectConfig = {
  readonly commands?: readonly string[] | undefined;
  readonly detect?: boolean | undefined;
};

const detectors = [
  detectNode,
  detectDeno,
  detectPython,
  detectCargo,
  detectGo,
  detectJava,
  detectMake,
];

/**
 * The checks of a tree: the config's first, then those of the manifests unless the config turns
 * that off. Each command once.
 */
export function detectChecks(tree: Tree, config: DetectConfig = {}): DetectedChecks {
  const configChecks = (config.commands ?? []).map((command, index): Check => ({
    id: `project:config-${index + 1}`,
    kind: "project",
    title: command,
    command,
    source: `config checks.commands[${index}]`,
  }));

  const detections = config.detect === false ? [] : detectors.map((detector) => detector(tree)); // D1
  const checkByCommand = new Map<string, Check>();

  for (const check of [...configChecks, ...detections.flatMap(({ checks }) => checks)]) {
    const key = toCommandKey(check.command);
    if (!checkByCommand.has(key)) checkByCommand.set(key, check);
  }

  return {
    checks: [...checkByCommand.values()],
    warnings: detections.flatMap(({ warnings }) => warnings),
  };
}
