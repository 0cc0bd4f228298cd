// explore-domains: computes the possible outcomes of a step, as far as flow rows read them: for
// each fact the values that rows compare it with, and one other value.

import type { Flow, Option, Row, Scalar, Step, Want, When } from "../contracts/flow.ts";

export type ScalarsByName = Readonly<Record<string, Scalar>>;
export type StepReport = { readonly facts: ScalarsByName; readonly says: ScalarsByName };
/** By the step's id, and then by the fact's name: the values worth exploring. */
export type Domains = Readonly<Record<string, Readonly<Record<string, readonly Scalar[]>>>>;

const combinationsMax = 64;
const countMax = 1;
const retryMax = 1;

/**
 * The flow with its counts and retries made small: which paths exist does not depend on how often
 * each may be taken.
 */
export function withSmallBounds(flow: Flow): Flow {
  const boundPhases = <P extends { steps: Step[] }>(phases: readonly P[]): P[] =>
    phases.map((phase) => ({ ...phase, steps: phase.steps.map(boundStep) }));
  const counts = Object.entries(flow.counts ?? {}).map(
    ([name, count]) =>
      [
        name,
        {
          ...count,
          at_most:
            typeof count.at_most === "number" ? Math.min(countMax, count.at_most) : count.at_most,
        },
      ] as const,
  );

  const retry = flow.defaults?.step?.retry;
  return {
    ...flow,
    counts: Object.fromEntries(counts),
    reopen: { failed_phase: 0 }, // A second visit takes the same paths as the first.
    ...(retry === undefined
      ? {}
      : { defaults: { step: { ...flow.defaults?.step, retry: Math.min(retryMax, retry) } } }),
    phases: Array.isArray(flow.phases) ? boundPhases(flow.phases) : { ...flow.phases, parallel: 1 },
    ...(flow.before === undefined ? {} : { before: boundPhases(flow.before) }),
    ...(flow.after === undefined ? {} : { after: boundPhases(flow.after) }),
    ...(flow.steps === undefined ? {} : { steps: flow.steps.map(boundStep) }),
    ...(flow.closing === undefined ? {} : { closing: flow.closing.map(boundStep) }),
  };
}

function boundStep(step: Step): Step {
  const { retry, tasks } = step;
  return {
    ...step,
    ...(retry === undefined ? {} : { retry: Math.min(retryMax, retry) }),
    ...(tasks === undefined ? {} : { tasks: boundTasks(tasks) }),
  };
}

const boundTasks = (tasks: NonNullable<Step["tasks"]>): NonNullable<Step["tasks"]> => ({
  ...tasks,
  parallel: 1,
  each: tasks.each.map(boundStep),
  ...(tasks.wave === undefined ? {} : { wave: tasks.wave.map(boundStep) }),
});

/** The options worth exploring: the defaults, each one changed, and every flag inverted at once. */
export function listOptionSets(flow: Flow): readonly ScalarsByName[] {
  const text = JSON.stringify(flow);
  const options = Object.entries(flow.options ?? {}).filter(([name]) =>
    text.includes(`"option.${name}"`),
  ); // An option that no row reads changes no path.
  const base: ScalarsByName = Object.fromEntries(
    options.map(([name, option]) => [name, defaultValue(option)]),
  );

  const singleChanges = options.flatMap(([name, option]) =>
    alternatives(option).map((value) => ({ ...base, [name]: value })),
  );

  const flagsInverted = {
    ...base,
    ...Object.fromEntries(
      options
        .filter(([, { type }]) => type === "flag")
        .map(([name, option]) => [name, defaultValue(option) !== true]),
    ),
  };
  const sets = [base, ...singleChanges, flagsInverted].map((set) => JSON.stringify(set));
  return [...new Set(sets)].map((set) => JSON.parse(set) as ScalarsByName);
}

function defaultValue({ type, default: declared }: Option): Scalar {
  if (type === "count") return typeof declared === "number" ? Math.min(countMax, declared) : 0;
  return declared ?? emptyValues[type];
}

const emptyValues = { flag: false, number: 0, word: "" } as const;

function alternatives(option: Option): readonly Scalar[] {
  if (option.type === "flag") return [defaultValue(option) !== true];
  if (option.type === "word") {
    return (option.one_of ?? []).filter((word) => word !== defaultValue(option));
  }

  return option.type === "count" && defaultValue(option) === 0 ? [1] : [];
}

/** Per step, the facts that some row reads, with their values. */
export function findDomains(flow: Flow, options: ScalarsByName): Domains {
  const domains: Record<string, Record<string, Scalar[]>> = {};
  for (const when of findWhens(flow)) {
    for (const [name, want] of Object.entries(when)) {
      const [head = "", ...rest] = name.split(".");
      if (head === "option" || head === "count") continue;
      const [step = "", ...fact] = head === "before" ? rest.slice(1) : [head, ...rest]; // before.<phase>.<step>.<fact>
      if (fact.length === 0) continue;
      const values = ((domains[step] ??= {})[fact.join(".")] ??= []);

      for (const value of listValues(want, options)) {
        if (!values.includes(value)) values.push(value);
      }
    }
  }

  return domains;
}

/**
 * What a step may report: the combinations of its facts' values, each once. `isCut`: there are more
 * than `combinationsMax`, which are left out.
 */
export function listPossibleReports(
  step: Step,
  domains: Domains,
): { readonly reports: readonly StepReport[]; readonly isCut: boolean } {
  let combinations: readonly ScalarsByName[] = [{}];
  let isCut = false;

  for (const [fact, values] of Object.entries(domains[step.id] ?? {})) {
    if (fact === "answer" || step.tasks !== undefined) continue;
    const combined = combinations.flatMap((combination) =>
      values.map((value) => ({ ...combination, [fact]: value })),
    );
    isCut ||= combined.length > combinationsMax;
    combinations = combined.slice(0, combinationsMax);
  }

  const reports = combinations.map((values): StepReport => {
    const entries = Object.entries(values);
    const isReturn = (name: string): boolean => name.startsWith("says.");
    return {
      says: Object.fromEntries(
        entries
          .filter(([name]) => isReturn(name))
          .map(([name, value]) => [name.slice("says.".length), value]),
      ),
      facts: Object.fromEntries(entries.filter(([name]) => !isReturn(name))),
    };
  });
  const maySayNothing =
    step.agent !== undefined &&
    (step.returns === undefined || step.returns_optional === true) &&
    reports.some(({ says }) => Object.keys(says).length > 0);
  const silentReports = maySayNothing ? [{ says: {}, facts: reports[0]?.facts ?? {} }] : [];

  return { reports: [...reports, ...silentReports], isCut };
}

function listValues(want: Want, options: ScalarsByName): readonly Scalar[] {
  if (Array.isArray(want)) return [...want, "something else"];
  if (typeof want === "boolean") return [true, false];
  if (typeof want === "number") return [want, want + 1];
  if (typeof want === "string") return [want, "something else"];
  const bound = "below" in want ? want.below : want.min;
  const number =
    typeof bound === "number" ? bound : Number(options[bound.slice("option.".length)] ?? 0);

  return [number, number - Math.max(0.1, Math.abs(number) / 10)]; // the bound itself, and a value below it
}

/** Every condition in the flow. */
function findWhens(flow: Flow): readonly When[] {
  const whensOfRow = ({ when }: Pick<Row, "when">): When[] => (when === undefined ? [] : [when]);
  const whensOfRule = ({ only_if, unless }: Pick<Step, "only_if" | "unless">): When[] => [
    ...(only_if === undefined ? [] : [only_if]),
    ...(unless ?? []),
  ];

  const whensOfStep = (step: Step): When[] => [
    ...whensOfRule(step),
    ...(step.then ?? []).flatMap(whensOfRow),
    ...(step.otherwise ?? []).flatMap(whensOfRow),
    ...(step.human?.preset ?? []).flatMap(whensOfRow),
    ...(step.tasks?.each ?? []).flatMap(whensOfStep),
    ...(step.tasks?.wave ?? []).flatMap(whensOfStep),
  ];

  const phases = [
    ...(flow.before ?? []),
    ...(Array.isArray(flow.phases) ? flow.phases : []),
    ...(flow.after ?? []),
  ];
  return [
    ...phases.flatMap((phase) => [...whensOfRule(phase), ...phase.steps.flatMap(whensOfStep)]),
    ...[...(flow.steps ?? []), ...(flow.closing ?? [])].flatMap(whensOfStep),
    ...(flow.when_step_fails ?? []).flatMap(whensOfRow),
    ...(flow.when_phase_fails ?? []).flatMap(whensOfRow),
    ...Object.values(flow.counts ?? {}).flatMap(({ spent }) => whensOfRow(spent)),
  ];
}
