import { stringify } from "yaml";
import type { Answer } from "../../contracts/answer.ts";
import { explore } from "../../engine/explore.ts";
import { lintFlow } from "../../flows/lint.ts";
import { stepsEverywhere } from "../../flows/lists.ts";
import { loadFlow, namesOfFlows, type LoadedFlow } from "../../flows/load.ts";
import type { Finding } from "../../kit/finding.ts";
import { registryFor } from "./called-flows.ts";
import { findHome } from "../../project/runs/home.ts";
import type { Place } from "../../project/place.ts";
import { answered, refuse, reply } from "../../project/reply.ts";

const rootOf = (place: Place): string => findHome(place.cwd)?.root ?? place.cwd;

/** Every flow that can be run here. */
export function list(place: Place, _input: object): Promise<Answer> {
  return answered(async () => {
    const flows = await Promise.all(
      (await namesOfFlows(rootOf(place))).map(async (name) => {
        const loaded = await loadFlow(rootOf(place), name);
        return {
          name,
          about: loaded.kind === "loaded" ? (loaded.flow.about ?? "") : `cannot be read; autopilot flow lint ${name} says why`,
          source: loaded.kind === "missing" ? "" : loaded.source,
        };
      }),
    );
    return reply("ok", {
      message: `${flows.length} flows.`,
      page: flows.map(({ name, about, source }) => `${name.padEnd(16)} ${about}  (${source})`),
      data: { flows },
    });
  });
}

export function show(place: Place, input: { readonly name?: string | undefined }): Promise<Answer> {
  return answered(async () => {
    const { flow, prompts, hash, source } = await loadedFlow(place, input.name ?? "objective");
    return reply("ok", {
      message: `Flow ${flow.flow}.`,
      page: [`# ${source}`, ...stringify(flow).split("\n")],
      data: { flow, prompts, hash, source },
    });
  });
}

/** Everything wrong with a flow, by file and line; then every path of it is walked. */
export function lint(place: Place, input: { readonly name?: string | undefined }): Promise<Answer> {
  return answered(async () => {
    const names = input.name === undefined ? await namesOfFlows(rootOf(place)) : [input.name];
    const findings: Finding[] = [];
    const warnings: string[] = [];
    const walked: string[] = [];
    for (const name of names) {
      const loaded = await loadFlow(rootOf(place), name);
      if (loaded.kind === "missing") return refuse("flow_missing", { message: loaded.message });
      if (loaded.kind === "invalid") {
        findings.push(...loaded.findings);
        continue;
      }
      // Whoever names a built-in flow wants it walked; looking at all of them is about one's own.
      const { found, states } = await walkLoaded(place, loaded, input.name === undefined ? "own" : "always");
      findings.push(...found);
      warnings.push(...(await warningsOf(place, loaded)));
      if (found.length === 0)
        walked.push(states === null ? `${name}: built in, walked when it was built` : `${name}: ${states} states walked`);
    }
    const page = [...findings.map(findingLine), ...walked];
    if (findings.length > 0) {
      const message = findings.length === 1 ? "1 thing is wrong." : `${findings.length} things are wrong.`;
      const remediation = ["mend the lines named above, then lint again", "autopilot help flow lint"];
      return reply("flow_invalid", { message, page, warnings, remediation, data: { findings } });
    }
    const message = `${names.length === 1 ? `Flow ${names[0]} is` : `${names.length} flows are`} fine.`;
    return reply("ok", { message, page: [...page, message], warnings, data: { findings: [] } });
  });
}

const findingLine = ({ file, line, message, rule }: Finding): string => `${file}:${line}: ${message} (${rule})`;

/** What is odd about a flow and keeps nobody from running it. */
const warningsOf = async (place: Place, loaded: LoadedFlow): Promise<readonly string[]> =>
  lintFlow({ ...loaded, registry: await registryFor(rootOf(place), loaded.flow) })
    .filter(({ severity }) => severity === "warning")
    .map(findingLine);

/** A flow that may run: found, well-formed, nothing lint or the walk through all its paths objects to. */
export async function loadedFlow(place: Place, name: string): Promise<LoadedFlow> {
  const loaded = await loadFlow(rootOf(place), name);
  if (loaded.kind === "missing") return refuse("flow_missing", { message: loaded.message });
  const findings = loaded.kind === "invalid" ? loaded.findings : await lintLoaded(place, loaded);
  if (loaded.kind === "invalid" || findings.length > 0) {
    return refuse("flow_invalid", {
      message: `Flow ${name} cannot run: ${findings.map(findingLine).join("; ")}`,
      data: { findings },
    });
  }
  return loaded;
}

/** Errors of lint, and then what a walk along every path of the flow finds; the built-in flows were walked when they were built. */
async function lintLoaded(place: Place, loaded: LoadedFlow): Promise<readonly Finding[]> {
  return (await walkLoaded(place, loaded, "own")).found;
}

/** `states`: how many were looked at, once; null where the flow was not walked. */
async function walkLoaded(
  place: Place,
  loaded: LoadedFlow,
  walk: "always" | "own",
): Promise<{ readonly found: readonly Finding[]; readonly states: number | null }> {
  const registry = await registryFor(rootOf(place), loaded.flow);
  const errors = lintFlow({ ...loaded, registry }).filter(({ severity }) => severity === "error");
  if (errors.length > 0 || (walk === "own" && loaded.source.startsWith("built-in:"))) return { found: errors, states: null };
  const explored = explore(loaded.flow);
  const found = explored.findings.map(({ phase, step, message }) => {
    const at = stepsEverywhere(loaded.flow).find(({ step: one }) => one.id === step);
    const place = at === undefined ? { line: 1, column: 1 } : loaded.positions.placeOf(at.path);
    return {
      file: loaded.source,
      ...place,
      path: step === null ? phase : `${phase}/${step}`,
      rule: "explore",
      message,
      severity: "error" as const,
    };
  });
  return { found, states: explored.states };
}
