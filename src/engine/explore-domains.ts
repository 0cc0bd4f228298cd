// explore-domains: the possible outcomes of a step, as far as rows read them: for each fact the values its readers name, and one other.

import type { Flow, Option, Row, Scalar, Step, Want, When } from "../contracts/flow.ts";

export type Values = Readonly<Record<string, Scalar>>;
export type KnownValues = { readonly facts: Values; readonly says: Values };
export type Domains = Readonly<Record<string, Readonly<Record<string, readonly Scalar[]>>>>;

const togetherMax = 64;
const countMax = 1;
const retryMax = 1;

/** The flow with its numbers made small: which paths exist does not depend on how often each may be taken. */
export function withSmallBounds(flow: Flow): Flow {
  const step = (rule: Step): Step => ({
    ...rule,
    ...(rule.retry === undefined ? {} : { retry: Math.min(retryMax, rule.retry) }),
    ...(rule.tasks === undefined
      ? {}
      : {
          tasks: {
            ...rule.tasks,
            parallel: 1,
            each: rule.tasks.each.map(step),
            ...(rule.tasks.wave === undefined ? {} : { wave: rule.tasks.wave.map(step) }),
          },
        }),
  });
  const steps = (rules: readonly Step[] | undefined): Step[] | undefined => rules?.map(step);
  const phases = <P extends { steps: Step[] }>(list: readonly P[]): P[] =>
    list.map((phase) => ({ ...phase, steps: phase.steps.map(step) }));
  const counts = Object.entries(flow.counts ?? {}).map(
    ([name, count]) =>
      [name, { ...count, at_most: typeof count.at_most === "number" ? Math.min(countMax, count.at_most) : count.at_most }] as const,
  );
  const retry = flow.defaults?.step?.retry;
  return {
    ...flow,
    counts: Object.fromEntries(counts),
    reopen: { failed_phase: 0 }, // A second visit takes the same paths as the first.
    ...(retry === undefined ? {} : { defaults: { step: { ...flow.defaults?.step, retry: Math.min(retryMax, retry) } } }),
    phases: Array.isArray(flow.phases) ? phases(flow.phases) : { ...flow.phases, parallel: 1 },
    ...(flow.before === undefined ? {} : { before: phases(flow.before) }),
    ...(flow.after === undefined ? {} : { after: phases(flow.after) }),
    ...(flow.steps === undefined ? {} : { steps: steps(flow.steps) }),
    ...(flow.closing === undefined ? {} : { closing: steps(flow.closing) }),
  };
}

/** The options worth exploring: the defaults, each one changed, and every flag inverted at once. */
export function optionSets(flow: Flow): readonly Values[] {
  const text = JSON.stringify(flow);
  const options = Object.entries(flow.options ?? {}).filter(([name]) => text.includes(`"option.${name}"`)); // An option that no row reads changes no path.
  const base: Values = Object.fromEntries(options.map(([name, option]) => [name, standing(option)]));
  const others = options.flatMap(([name, option]) => alternatives(option).map((value) => ({ ...base, [name]: value })));
  const turned = {
    ...base,
    ...Object.fromEntries(options.filter(([, { type }]) => type === "flag").map(([name, option]) => [name, standing(option) !== true])),
  };
  const sets = [base, ...others, turned].map((set) => JSON.stringify(set));
  return [...new Set(sets)].map((set) => JSON.parse(set) as Values);
}

function standing({ type, default: given }: Option): Scalar {
  if (type === "count") return typeof given === "number" ? Math.min(countMax, given) : 0;
  return given ?? (type === "flag" ? false : type === "number" ? 0 : "");
}

function alternatives(option: Option): readonly Scalar[] {
  if (option.type === "flag") return [standing(option) !== true];
  if (option.type === "word") return (option.one_of ?? []).filter((word) => word !== standing(option));
  return option.type === "count" && standing(option) === 0 ? [1] : [];
}

/** Per step, the facts that some row reads, with their values. */
export function flowDomains(flow: Flow, options: Values): Domains {
  const found: Record<string, Record<string, Scalar[]>> = {};
  for (const when of findWhens(flow)) {
    for (const [name, want] of Object.entries(when)) {
      const [head = "", ...rest] = name.split(".");
      if (head === "option" || head === "count") continue;
      const [step = "", ...fact] = head === "before" ? rest.slice(1) : [head, ...rest];
      if (fact.length === 0) continue;
      const values = ((found[step] ??= {})[fact.join(".")] ??= []);
      for (const value of valuesOf(want, options)) if (!values.includes(value)) values.push(value);
    }
  }
  return found;
}

/** Everything a step may report: each combination of its facts' values once. */
export function knownFrom(step: Step, domains: Domains): readonly KnownValues[] {
  let reported: readonly Values[] = [{}];
  for (const [fact, values] of Object.entries(domains[step.id] ?? {})) {
    if (fact === "answer" || step.tasks !== undefined) continue;
    reported = reported.flatMap((values_) => values.map((value) => ({ ...values_, [fact]: value }))).slice(0, togetherMax);
  }
  const split = reported.map((values): KnownValues => {
    const entries = Object.entries(values);
    const isSaid = (name: string): boolean => name.startsWith("says.");
    return {
      says: Object.fromEntries(entries.filter(([name]) => isSaid(name)).map(([name, value]) => [name.slice("says.".length), value])),
      facts: Object.fromEntries(entries.filter(([name]) => !isSaid(name))),
    };
  });
  const maySayNothing =
    step.agent !== undefined &&
    (step.returns === undefined || step.returns_optional === true) &&
    split.some(({ says }) => Object.keys(says).length > 0);
  return maySayNothing ? [...split, { says: {}, facts: split[0]?.facts ?? {} }] : split;
}

function valuesOf(want: Want, options: Values): readonly Scalar[] {
  if (Array.isArray(want)) return [...want, "something else"];
  if (typeof want === "boolean") return [true, false];
  if (typeof want === "number") return [want, want + 1];
  if (typeof want === "string") return [want, "something else"];
  const bound = "below" in want ? want.below : want.min;
  const number = typeof bound === "number" ? bound : Number(options[bound.slice("option.".length)] ?? 0);
  return [number, number - Math.max(0.1, Math.abs(number) / 10)];
}

/** Every condition in the flow. */
function findWhens(flow: Flow): readonly When[] {
  const ofRow = ({ when }: Pick<Row, "when">): When[] => (when === undefined ? [] : [when]);
  const ofRule = ({ only_if, unless }: Pick<Step, "only_if" | "unless">): When[] => [
    ...(only_if === undefined ? [] : [only_if]),
    ...(unless ?? []),
  ];
  const ofStep = (step: Step): When[] => [
    ...ofRule(step),
    ...(step.then ?? []).flatMap(ofRow),
    ...(step.otherwise ?? []).flatMap(ofRow),
    ...(step.human?.preset ?? []).flatMap(ofRow),
    ...(step.tasks?.each ?? []).flatMap(ofStep),
    ...(step.tasks?.wave ?? []).flatMap(ofStep),
  ];
  const phases = [...(flow.before ?? []), ...(Array.isArray(flow.phases) ? flow.phases : []), ...(flow.after ?? [])];
  return [
    ...phases.flatMap((phase) => [...ofRule(phase), ...phase.steps.flatMap(ofStep)]),
    ...[...(flow.steps ?? []), ...(flow.closing ?? [])].flatMap(ofStep),
    ...(flow.when_step_fails ?? []).flatMap(ofRow),
    ...(flow.when_phase_fails ?? []).flatMap(ofRow),
    ...Object.values(flow.counts ?? {}).flatMap(({ spent }) => ofRow(spent)),
  ];
}
