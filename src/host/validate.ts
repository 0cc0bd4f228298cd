import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { Answer } from "../contracts/answer.ts";
import { Flow } from "../contracts/flow.ts";
import { Script } from "../contracts/script.ts";
import { lintPlan } from "../flows/documents/plan-lint.ts";
import { readPlan } from "../flows/documents/plan.ts";
import { readPlanningConfig } from "../flows/documents/planning-config.ts";
import { readRoadmap } from "../flows/documents/roadmap.ts";
import { lintFlow } from "../flows/lint.ts";
import { loadFlow } from "../flows/load.ts";
import { verifyJournal } from "../journal/read.ts";
import type { Finding } from "../kit/finding.ts";
import { documentBytesMax, isRefused, readLocated } from "../kit/located.ts";
import { readConfigFile } from "./config-file.ts";
import { lintRegistry } from "./functions/registry.ts";
import type { Place } from "./place.ts";
import { answered, reply } from "./reply.ts";
import { readDocument } from "./roadmap-list.ts";

type Violation = { readonly line: number; readonly rule: string; readonly message: string; readonly severity: string };
type Validated = { readonly path: string; readonly format: string; readonly valid: boolean; readonly violations: readonly Violation[] };

/** Recognises files by what is in them, and lists every violation with file, line and rule. Changes nothing. */
export function validate(place: Place, input: { readonly paths: readonly string[] }): Promise<Answer> {
  return answered(async () => {
    const files: Validated[] = [];
    for (const path of input.paths) files.push(await validated(resolve(place.cwd, path), path));
    const page = files.flatMap(({ path, format, valid, violations }) => [
      `${valid ? "✓" : "✗"} ${path}: ${format}${valid ? "" : `, ${violations.length} ${violations.length === 1 ? "violation" : "violations"}`}`,
      ...violations.map(({ line, rule, message }) => `  ${path}:${line}: ${message} [${rule}]`),
    ]);
    const bad = files.filter(({ valid }) => !valid);
    const code = bad.length === 0 ? "ok" : "file_invalid";
    const message =
      bad.length === 0
        ? `${files.length} ${files.length === 1 ? "file is" : "files are"} valid.`
        : `${bad.length} of ${files.length} files are not valid.`;
    return reply(code, { message, page, data: { files } });
  });
}

async function validated(path: string, shown: string): Promise<Validated> {
  const found = (format: string, findings: readonly Violation[]): Validated => ({
    path: shown,
    format,
    valid: !findings.some(({ severity }) => severity === "error"),
    violations: findings,
  });
  if (!existsSync(path)) return found("missing", [violation(1, "exists", "there is no such file")]);
  if (statSync(path).isDirectory()) {
    const inside = ["journal.jsonl", "flow.yaml"].map((name) => join(path, name)).find((one) => existsSync(one));
    return inside === undefined
      ? found("folder", [violation(1, "file", "a folder is neither a run nor a flow")])
      : validated(inside, join(shown, relative(path, inside)));
  }
  const format = recognised(path);
  switch (format) {
    case "journal": {
      const { ok, damaged_line, reason } = verifyJournal(dirname(path));
      return found("journal", ok ? [] : [violation(damaged_line ?? 1, "chain", reason ?? "damaged")]);
    }
    case "flow": {
      const place = /^(.*)\/\.autopilot\/flows\/([^/]+)\/flow\.yaml$/.exec(path);
      if (place === null) return found("flow", located(path, Flow)); // elsewhere it has no prompts beside it, so only its shape can be judged
      const loaded = await loadFlow(place[1] ?? "", place[2] ?? "");
      return found(
        "flow",
        (loaded.kind === "invalid" ? loaded.findings : loaded.kind === "loaded" ? lintFlow({ ...loaded, registry: lintRegistry }) : []).map(
          ofFinding,
        ),
      );
    }
    case "config":
      return found("config", configFindings(path).map(ofFinding));
    case "script":
      return found("script", located(path, Script));
    case "roadmap":
    case "plan":
    case "planning config":
      return found(format, documentFindings(path, format).map(ofFinding));
    case "unknown":
      return found("unknown", [
        violation(1, "format", "not recognised: expected a journal, a flow, a config, an agent script, a roadmap or a plan"),
      ]);
  }
}

/** The documents of a roadmap, by the readers that a run of it goes through. Whose plan it is is not known here, so only its own requirements count. */
function documentFindings(path: string, format: "roadmap" | "plan" | "planning config"): readonly Finding[] {
  const read = readDocument(dirname(path), basename(path));
  if (read === null) return [];
  if ("findings" in read) return read.findings;
  if (format === "roadmap") return readRoadmap(path, read.text).findings;
  if (format === "plan") {
    const { plan, findings } = readPlan(path, read.text);
    return [...findings, ...lintPlan(path, plan, { requirements: [] })].sort((a, b) => a.line - b.line);
  }
  const config = readPlanningConfig(path, read.text);
  return "findings" in config ? config.findings : [];
}

type Format = "journal" | "flow" | "config" | "script" | "roadmap" | "plan" | "planning config" | "unknown";

/** By content first; the name only breaks a tie. */
function recognised(path: string): Format {
  const head = headOf(path);
  if (/^\{"seq":\d+,"(journal|epoch)":/.test(head) || basename(path) === "journal.jsonl") return "journal";
  if (/^[ \t]*<task\s[^>]*\bid\s*=/m.test(head) || /(^|-)PLAN\.md$/.test(basename(path))) return "plan";
  if (/^ {0,3}###\s+(\*\*)?Phase\s+\d|^\s*[-*+]\s+\[.\]\s+\*\*Phase\s+\d/m.test(head) || basename(path) === "ROADMAP.md") return "roadmap";
  if (basename(path) === "config.json" && basename(dirname(path)) === ".planning") return "planning config";
  if (/^\s*(\{\s*)?"?turns"?\s*:/m.test(head)) return "script";
  if (/^\s*(\{\s*)?"?flow"?\s*:\s*"?[a-z]/m.test(head) || basename(path) === "flow.yaml") return "flow";
  if (
    /^config\.ya?ml$/.test(basename(path)) ||
    /^(version|agent|agents|roles|checks|limits|isolation|network|dry_run|protect|prices)\s*:/m.test(head)
  )
    return "config";
  return "unknown";
}

/** A roadmap may tell a long story before its first phase. */
const headBytes = 65_536;

function headOf(path: string): string {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(headBytes);
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0)).toString("utf8");
  } finally {
    closeSync(fd);
  }
}

/** By the same reader that a run's config goes through, so that both find the same. */
function configFindings(path: string): readonly Finding[] {
  const read = readConfigFile(path);
  return "findings" in read ? read.findings : [];
}

function located(path: string, schema: typeof Script | typeof Flow): Violation[] {
  const size = statSync(path).size;
  if (size > documentBytesMax) return [violation(1, "size", `is ${size} bytes; at most ${documentBytesMax} are read`)];
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(size);
    const read = readLocated(path, bytes.subarray(0, readSync(fd, bytes, 0, size, 0)), schema);
    return isRefused(read) ? read.findings.map(ofFinding) : [];
  } finally {
    closeSync(fd);
  }
}

const violation = (line: number, rule: string, message: string): Violation => ({ line, rule, message, severity: "error" });
const ofFinding = ({ line, rule, message, severity }: Finding): Violation => ({ line, rule, message, severity });
