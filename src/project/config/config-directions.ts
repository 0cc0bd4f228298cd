// config-directions: for every config key, what a repository's config file may do with it. Anyone who can write to the repository writes
// that file, so it may only make a run stricter than the user's own settings.
//
// Invariants:
//   D1. Every key has a direction: the table's type is made from the schema's, so a key without one does not compile.
//   D2. A rule compares with the user's own file and the defaults, never with what another rule let through.

import { profiles } from "../../contracts/budget.ts";
import { mayRepositorySet } from "../../contracts/check-env.ts";
import type { Config } from "../../contracts/config.ts";
import { isAsStrong } from "../../contracts/isolation-order.ts";
import { riskLevels } from "../../contracts/objective.ts";
import { dependencyNames } from "../../workspace/layers/dependencies.ts";
import { defaultLimits } from "../../workspace/isolation/limits.ts";
import { agentDirections, whyCheaper } from "./config-directions-agents.ts";
import { limitDefaults } from "./config-defaults.ts";
import { costNames } from "./cost-constants.ts";
import { looserIn, readBudget } from "./objective-budget.ts";
import { neutral, type Node, type Rule, tighten, userOnly } from "./config-rule.ts";

/** Not above the user's value, or the default. */
const atMost = (standard: number, why: string): Rule<number> => tighten((said, own) => (said > (own ?? standard) ? why : null));

/** A later value in the list is stricter. */
const noLooserThan = <Word extends string>(order: readonly Word[], standard: Word, why: string): Rule<Word> =>
  tighten((said, own) => (order.indexOf(said) < order.indexOf(own ?? standard) ? why : null));

/** Only entries of the user's own list. */
const within = <Item>(standard: readonly Item[], why: (more: readonly Item[]) => string): Rule<Item[]> =>
  tighten((said, ownItems) => {
    const more = said.filter((item) => !(ownItems ?? standard).includes(item));
    return more.length > 0 ? why(more) : null;
  });

const isException = (glob: string): boolean => glob.startsWith("!");
const exceptions = (said: readonly string[], own: readonly string[] = []): readonly string[] =>
  said.filter((glob) => isException(glob) && !own.includes(glob));

const moreWork = "it would let processes take more of your machine";

// D1
export const configDirections: Node<Config> = {
  version: neutral,
  // The preview shows the agent and the sandbox holds it; what an agent is, and may do, has separate rules.
  agent: neutral,
  agents: { each: agentDirections },
  roles: { each: neutral },
  checks: {
    commands: neutral, // they are added to the user's
    detect: tighten((said, own) => (!said && own !== false ? "it would keep the project's own checks from being run" : null)),
    timeout_minutes: atMost(15, "it would let a check run longer"),
    dependencies: within(dependencyNames as readonly string[], (more) => `it would copy ${more.join(", ")} into the sandbox`),
    repeat: tighten((said, own) => (said < (own ?? 3) ? "it would look less often for flaky checks" : null)),
    canary: noLooserThan(["off", "final", "always"], "final", "it would not find out whether checks can fail"),
    canary_timeout: tighten((said, own) => (said < (own ?? 10) ? "it would give experiments on checks less time" : null)),
    quarantine: tighten((said, own = []) =>
      said.some(({ check, until }) => !own.some((mine) => mine.check === check && mine.until >= until))
        ? "it would keep checks from counting"
        : null,
    ),
    restore: tighten((said) => (said === "copy" ? null : "it would give a step the network")),
    env: {
      each: tighten((text, own, { name, own: { checks } }) => {
        if (text === own) return null;
        if (own !== undefined) return "you set it yourself";
        if (mayRepositorySet(name, checks?.env_from_repository)) return null;
        return "it could choose or steer the tools that judge; checks.env_from_repository in your own config allows a name";
      }),
    },
    env_from_repository: userOnly("what a repository may set is yours to say"),
  },
  limits: {
    each: tighten((said, own, { name }) => {
      if (costNames.includes(name)) return said === own ? null : "it would change what a run is estimated at";
      return isRaised(name, said, own) ? "it would raise a cap" : null;
    }),
  },
  isolation: tighten((said, own = "auto") => {
    if (isAsStrong(said, own)) return null;
    return said === "clone" || said === "none" ? `${said} does not hold the agent` : `${said} may hold less than your ${own}`;
  }),
  network: {
    checks: tighten((said, own) => (said && own !== true ? "it would give checks the network" : null)),
    agents: within<string>([], (more) => `it would give agents ${more.join(", ")}`),
  },
  dry_run: noLooserThan(["auto", "required"], "required", "it would start runs without showing them first"),
  protect: tighten(
    (said, own) => (exceptions(said, own).length === 0 ? null : `it would take the protection from ${exceptions(said, own).join(", ")}`),
    (said, own) => {
      const left = said.filter((glob) => !exceptions(said, own).includes(glob));
      return left.length > 0 ? left : undefined;
    },
  ),
  prices: { each: tighten((said, _own, { name, own }) => whyCheaper(name, said, own)) },
  redact: neutral, // it is added to the user's
  box: {
    processes: atMost(defaultLimits.processesMax, moreWork),
    memory_mb: atMost(defaultLimits.memoryBytesMax / 1024 ** 2, moreWork),
    disk_mb: atMost(defaultLimits.diskBytesMax / 1024 ** 2, moreWork),
  },
  on_limit: noLooserThan(["resume", "ask", "never"], "resume", "it would go on by itself where you want to be asked"),
  land: {
    minimum: noLooserThan(["verified_with_gaps", "verified"], "verified_with_gaps", "it would land work with gaps in its proof"),
    squash: neutral, // one commit or several, for the same change
    message: neutral, // what they are called
  },
  roadmap: { commit_pages: tighten((said, own) => (said && own === false ? "you keep these pages out of your history" : null)) },
  disk_quota: tighten((said, own) => (said === own ? null : "it would decide which of your runs are deleted")),
  notify: userOnly("what your machine sends, and runs to send it, is yours to say"),
  otel: {
    export: userOnly("what your machine sends is yours to say"),
    endpoint: userOnly("where your traces go is yours to say"),
    genai: userOnly("what your machine sends is yours to say"),
  },
  with: neutral, // steps of the flow, within the same budget and sandbox, and shown in the preview
  max_budget: tighten((text, own) => {
    const [asked, most] = [readBudget(text), own === undefined ? { budget: profiles.balanced } : readBudget(own)];
    const more = "budget" in asked && "budget" in most ? looserIn(asked.budget, most.budget) : [];
    return more.length > 0 ? `it would allow more ${more.join(", ")}` : null;
  }),
  completion_mode: neutral, // both end a run only when every check holds
  risk_level: noLooserThan(riskLevels, "medium", "it would lower the confidence a turn needs"),
  handoff_mode: noLooserThan(["auto", "manual"], "manual", "it would let an agent decide where a person should"),
  approval_policy: tighten((said, own = "none") =>
    own === "none" || said === own ? null : "it would do without the approval you ask for",
  ),
};

/** Whether a limit allows more than the user's own, or the default. An unknown name is a flow's option. */
export function isRaised(name: string, said: number, own: number | undefined): boolean {
  const known = Object.hasOwn(limitDefaults, name) ? limitDefaults[name] : undefined;
  const most = own ?? known?.value;
  return most !== undefined && (known?.looser === "less" ? said < most : said > most);
}
