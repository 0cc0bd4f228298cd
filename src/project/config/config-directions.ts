// config-directions: for every config key, what a repository's config file may do with it. Anyone
// who can write to the repository writes that file, so it may only make a run stricter than the
// user's own settings.
//
// Invariants:
//   D1. Every key has a direction: the table's type is made from the schema's, so a key without one
//       does not compile.
//   D2. A rule compares with the user's own file and the defaults, never with what another rule let
//       through.

import { budgetProfiles } from "../../contracts/budget-profiles.ts";
import { mayRepositorySet } from "../../contracts/repository-variables.ts";
import type { Config } from "../../contracts/config.ts";
import { isAtLeastAsStrong, onlyDetects } from "../../contracts/isolation-levels.ts";
import { riskLevels } from "../../contracts/objective.ts";
import { dependencyNames } from "../../workspace/layers/copy-packages.ts";
import { agentDirections, whyPriceRefused } from "./config-directions-agents.ts";
import { limitDirections } from "./limit-directions.ts";
import { configDefaults } from "../../contracts/config-defaults.ts";
import { isThreshold, thresholdDefaults } from "../../contracts/tunable-limits.ts";
import { costConstantNames } from "./cost-constants.ts";
import { findLooserDimensions } from "./flow-budget.ts";
import { parseBudget } from "./parse-budget.ts";
import {
  neutral,
  type DirectionNode,
  type DirectionRule,
  tighten,
  userOnly,
} from "./config-rule.ts";

/** Refuses a value above the user's, or above the default if the user has none. */
const notAbove = (defaultValue: number, why: string): DirectionRule<number> =>
  tighten((value, userValue) => (value > (userValue ?? defaultValue) ? why : null)); // D2

/**
 * Refuses a value that comes before the user's in `order`, which lists the values from loose to
 * strict.
 */
const noLooserThan = <Word extends string>(
  order: readonly Word[],
  defaultValue: Word,
  why: string,
): DirectionRule<Word> =>
  tighten(
    (value, userValue) =>
      order.indexOf(value) < order.indexOf(userValue ?? defaultValue) ? why : null, // D2
  );

/** Refuses entries that are not in the user's list. */
const onlyFrom = <Item>(
  defaultValue: readonly Item[],
  why: (more: readonly Item[]) => string,
): DirectionRule<Item[]> =>
  tighten((value, userValue) => {
    const addedItems = value.filter((item) => !(userValue ?? defaultValue).includes(item)); // D2
    return addedItems.length > 0 ? why(addedItems) : null;
  });

const isException = (glob: string): boolean => glob.startsWith("!");
/**
 * Globs that exclude files from the protection (`!test/**`) and that the user's list doesn't have.
 */
const findNewExceptions = (
  value: readonly string[],
  userValue: readonly string[] = [],
): readonly string[] => value.filter((glob) => isException(glob) && !userValue.includes(glob));

const takesMoreOfMachine = "it would let processes take more of your machine";

// D1
export const configDirections: DirectionNode<Config> = {
  version: neutral,
  // The preview shows the agent and the sandbox holds it; what an agent is, and may do, has
  // separate rules.
  agent: neutral,
  agents: { each: agentDirections },
  roles: { each: neutral },
  checks: {
    commands: neutral, // they are added to the user's
    detect: tighten((value, userValue) =>
      !value && userValue !== false
        ? "it would keep the project's own checks from being run"
        : null,
    ),
    timeout_minutes: notAbove(
      configDefaults.checks.timeout_minutes,
      "it would let a check run longer",
    ),
    dependencies: onlyFrom(
      dependencyNames as readonly string[],
      (more) => `it would copy ${more.join(", ")} into the sandbox`,
    ),
    repeat: tighten((value, userValue) =>
      value < (userValue ?? configDefaults.checks.repeat)
        ? "it would look less often for flaky checks"
        : null,
    ),
    canary: noLooserThan(
      ["off", "final", "always"],
      configDefaults.checks.canary,
      "it would not find out whether checks can fail",
    ),
    canary_timeout: tighten((value, userValue) =>
      value < (userValue ?? configDefaults.checks.canary_timeout)
        ? "it would give experiments on checks less time"
        : null,
    ),
    quarantine: tighten((value, userValue = []) =>
      value.some(
        ({ check, until }) =>
          !userValue.some((entry) => entry.check === check && entry.until >= until),
      )
        ? "it would keep checks from counting"
        : null,
    ),
    restore: tighten((value) => (value === "copy" ? null : "it would give a step the network")),
    env: {
      each: tighten((value, userValue, { name, userConfig }) => {
        if (value === userValue) return null;
        if (userValue !== undefined) return "you set it yourself";
        if (mayRepositorySet(name, userConfig.checks?.env_from_repository)) return null;

        return "it could choose or steer the tools that judge; checks.env_from_repository in your own config allows a name";
      }),
    },
    env_from_repository: userOnly("what a repository may set is yours to say"),
  },
  limits: {
    each: tighten((value, userValue, { name }) => {
      if (costConstantNames.includes(name)) {
        return value === userValue ? null : "it would change what a run is estimated at";
      }

      return isLoosened(name, value, userValue) ? "it would raise a cap" : null;
    }),
  },
  isolation: tighten((value, userValue = configDefaults.isolation) => {
    if (isAtLeastAsStrong(value, userValue)) return null;
    return onlyDetects(value)
      ? `${value} does not hold the agent`
      : `${value} may hold less than your ${userValue}`;
  }),
  network: {
    checks: tighten((value, userValue) =>
      value && userValue !== true ? "it would give checks the network" : null,
    ),
    agents: onlyFrom<string>([], (more) => `it would give agents ${more.join(", ")}`),
  },
  dry_run: noLooserThan(
    ["auto", "required"],
    configDefaults.dry_run,
    "it would start runs without showing them first",
  ),
  protect: tighten(
    (value, userValue) => {
      const added = findNewExceptions(value, userValue);
      return added.length === 0 ? null : `it would take the protection from ${added.join(", ")}`;
    },
    (value, userValue) => {
      const allowedGlobs = value.filter(
        (glob) => !findNewExceptions(value, userValue).includes(glob),
      );
      return allowedGlobs.length > 0 ? allowedGlobs : undefined;
    },
  ),
  prices: {
    each: tighten((value, _userValue, { name, userConfig }) =>
      whyPriceRefused(name, value, userConfig),
    ),
  },
  redact: neutral, // it is added to the user's
  box: {
    processes: notAbove(configDefaults.box.processes, takesMoreOfMachine),
    memory_mb: notAbove(configDefaults.box.memory_mb, takesMoreOfMachine),
    disk_mb: notAbove(configDefaults.box.disk_mb, takesMoreOfMachine),
  },
  on_limit: noLooserThan(
    ["resume", "ask", "never"],
    configDefaults.on_limit,
    "it would go on by itself where you want to be asked",
  ),
  land: {
    minimum: noLooserThan(
      ["verified_with_gaps", "verified"],
      configDefaults.land.minimum,
      "it would land work with gaps in its proof",
    ),
    squash: neutral, // one commit or several, for the same change
    message: neutral, // what they are called
  },
  roadmap: {
    commit_pages: tighten((value, userValue) =>
      value && userValue === false ? "you keep these pages out of your history" : null,
    ),
  },
  disk_quota: tighten((value, userValue) =>
    value === userValue ? null : "it would decide which of your runs are deleted",
  ),
  notify: userOnly("what your machine sends, and runs to send it, is yours to say"),
  otel: {
    export: userOnly("what your machine sends is yours to say"),
    endpoint: userOnly("where your traces go is yours to say"),
    genai: userOnly("what your machine sends is yours to say"),
  },
  with: neutral, // steps of the flow, within the same budget and sandbox, and shown in the preview
  max_budget: tighten((value, userValue) => {
    const requested = parseBudget(value);
    const allowed =
      userValue === undefined ? { budget: budgetProfiles.balanced } : parseBudget(userValue);
    const looserNames =
      "budget" in requested && "budget" in allowed
        ? findLooserDimensions(requested.budget, allowed.budget)
        : [];

    return looserNames.length > 0 ? `it would allow more ${looserNames.join(", ")}` : null;
  }),
  completion_mode: neutral, // both end a run only when every check holds
  risk_level: noLooserThan(
    riskLevels,
    configDefaults.risk_level,
    "it would lower the confidence a turn needs",
  ),
  handoff_mode: noLooserThan(
    ["auto", "manual"],
    configDefaults.handoff_mode,
    "it would let an agent decide where a person should",
  ),
  approval_policy: tighten((value, userValue = configDefaults.approval_policy) =>
    userValue === configDefaults.approval_policy || value === userValue
      ? null
      : "it would do without the approval you ask for",
  ),
};

/**
 * Whether a limit allows more than the user's, or the default. An unknown name is a flow's option.
 */
export function isLoosened(name: string, value: number, userValue: number | undefined): boolean {
  const threshold = isThreshold(name) ? name : null;
  const allowed = userValue ?? (threshold === null ? undefined : thresholdDefaults[threshold]);
  if (allowed === undefined) return false;
  const looser = threshold === null ? "more" : limitDirections[threshold];
  return looser === "less" ? value < allowed : value > allowed;
}
