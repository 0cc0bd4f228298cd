// config: schema of the config files, the user's and a project's (.autopilot/config.yaml): who works,
// how work is proved and merged, what it may use, and who is notified.
//
// Beside it: defaults, config-defaults.ts; how far a project's file may go, project/config/
// config-directions.ts; the words for editors, commands/schemas/key-descriptions.ts.

import * as v from "valibot";
import { TunedLimits } from "./tunable-limits.ts";
import { approvalPolicies, completionModes, handoffModes, riskLevels } from "./objective.ts";
import { isolationLevels } from "./isolation-levels.ts";

const text = v.string();
/** A user's setting of an agent: a change to a shipped profile, or a new one. */
export const AgentOverride = v.strictObject({
  /**
   * The shipped profile this one starts from; without it, the one of the same name, else `custom`.
   */
  like: v.optional(text),
  /** Its command, word by word. */
  argv: v.optional(v.pipe(v.array(text), v.minLength(1))),
  env: v.optional(v.record(text, text)),
  /** Names of variables that it gets from the user's environment. */
  pass_env: v.optional(v.array(text)),
  /** By its provider's name. */
  model: v.optional(text),
  /**
   * `key`: through the meter, with a key of the user's. `own`: with the agent's own login, past the
   * meter.
   */
  login: v.optional(v.picklist(["key", "own"])),
  /** The variable of the user's environment that holds the key. */
  key_env: v.optional(text),
  /** Where the model provider is, for `login: key`. */
  upstream: v.optional(text),
  /** Further hosts this agent may reach. */
  hosts: v.optional(v.array(text)),
  /**
   * How much the agent may do without asking; its permission requests are answered by the runner's
   * rules.
   */
  mode: v.optional(v.picklist(["read", "edit", "full"])),
  /** What the usage that it reports counts (UsageMeaning, agents/profiles/profile.ts). */
  usage: v.optional(
    v.picklist(["turn", "lastCall", "cumulative", "quotaMeta", "chunkMeta", "none"]),
  ),
  /** How many runs of a portfolio it may work on at once. */
  max_parallel: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});
export type AgentOverride = v.InferOutput<typeof AgentOverride>;

const VariableName = v.pipe(text, v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of one variable"));
/**
 * `example.com`, `*.example.com`, `example.com:8443`, `[::1]:80`. What the meter could not parse
 * would silently allow nothing.
 */
const Host = v.pipe(
  text,
  v.regex(
    /^(?:\*\.(?:[\w-]+\.)+[\w-]+|[\w.-]+|\[[\dA-Fa-f:.]+\])(?::\d{1,5})?$|^[\dA-Fa-f:.]+$/,
    "a host, *.host or host:port, with no https:// before it and no path behind it",
  ),
);
/**
 * An agent's settings in a config file, checked more strictly. A run's recorded value is read as it
 * was written.
 */
const AgentSettings = v.strictObject({
  ...AgentOverride.entries,
  pass_env: v.optional(v.array(VariableName)),
  key_env: v.optional(VariableName),
  upstream: v.optional(
    v.pipe(
      text,
      v.regex(/^https?:\/\/[^\s/]+\S*$/, "an address that begins with http:// or https://"),
    ),
  ),
  hosts: v.optional(v.array(Host)),
});

const Price = v.pipe(v.number(), v.minValue(0));
/** What a million tokens of a model cost, in US dollars. */
export const ModelPrice = v.strictObject({
  input: Price,
  output: Price,
  /** Read from the provider's cache, and written to it. */
  cached: v.optional(Price),
  cache_write: v.optional(Price),
});
export type ModelPrice = v.InferOutput<typeof ModelPrice>;

const Whole = v.pipe(v.number(), v.integer(), v.minValue(1));
/** What the processes of one agent or check may take of the machine. */
export const BoxLimits = v.strictObject({
  processes: v.optional(Whole),
  memory_mb: v.optional(Whole),
  disk_mb: v.optional(Whole),
});
export type BoxLimits = v.InferOutput<typeof BoxLimits>;

/** A check known to be flaky, by its id or command, until the end of a day. */
export const Quarantine = v.strictObject({
  check: text,
  until: v.pipe(v.string(), v.isoDate()),
  reason: v.optional(text),
});
export type Quarantine = v.InferOutput<typeof Quarantine>;

/** What the subject of a landing's commit may have in braces: it is filled in. */
export const landPlaceholders = ["goal", "run", "verdict", "proof"] as const;
/** `{goal}` */
const landPlaceholderPattern = new RegExp(`\\{(?:${landPlaceholders.join("|")})\\}`, "g");
const LandMessage = v.pipe(
  text,
  v.check(
    (message) =>
      message.trim() !== "" && !/[{}]/.test(message.replaceAll(landPlaceholderPattern, "")),
    `text with ${landPlaceholders.map((word) => `{${word}}`).join(", ")} and no other braces`,
  ),
);

/** A run waits for the user, it ended, a limit is near or reached, something failed. */
export const noticeKinds = ["needs_you", "ended", "limit", "failed"] as const;
export type NoticeKind = (typeof noticeKinds)[number];
const WebAddress = v.pipe(
  text,
  v.regex(/^https?:\/\/[^\s/]+\S*$/, "an address that begins with http:// or https://"),
);
/** Where a secret is kept; it is in no config. */
const SecretPlace = v.union([
  v.strictObject({ env: VariableName }),
  v.strictObject({ file: text }),
]);
export type SecretPlace = v.InferOutput<typeof SecretPlace>;
/** Where notices go: a command of the user's, or an address that takes a POST. */
export const NotifyHook = v.pipe(
  v.strictObject({
    name: v.optional(
      v.pipe(text, v.regex(/^[\w.-]{1,40}$/, "a name of letters, digits, dots and hyphens")),
    ),
    /** Which notices it gets; without it, all. */
    on: v.optional(v.pipe(v.array(v.picklist(noticeKinds)), v.minLength(1))),
    /** The command, word by word. */
    run: v.optional(v.pipe(v.array(text), v.minLength(1))),
    webhook: v.optional(
      v.union(
        [WebAddress, SecretPlace],
        "an address that begins with http:// or https://, { env: NAME } or { file: PATH }",
      ),
    ),
    /** Signs what is sent to a webhook. */
    secret: v.optional(SecretPlace),
    /**
     * `slack`: the `{ "text": … }` format of Slack and similar services, with their markup escaped.
     */
    as: v.optional(v.picklist(["json", "slack"])),
    /** `brief`: no goal, question or path leaves the machine. */
    content: v.optional(v.picklist(["full", "brief"])),
  }),
  v.check(
    ({ run, webhook }) => (run === undefined) !== (webhook === undefined),
    "either run or webhook",
  ),
  v.check(
    ({ run, secret }) => run === undefined || secret === undefined,
    "secret beside webhook only: a command reads its own",
  ),
);
export type NotifyHook = v.InferOutput<typeof NotifyHook>;

/** Traces of runs, sent to a collector. OTEL_EXPORTER_OTLP_… variables set the rest. */
export const OtelSettings = v.strictObject({
  export: v.optional(v.boolean()),
  endpoint: v.optional(WebAddress),
  /** Whether names of the GenAI conventions are used, which are still in development. */
  genai: v.optional(v.picklist(["latest", "off"])),
});
export type OtelSettings = v.InferOutput<typeof OtelSettings>;

/** When a passing check is tried out: `checks.canary`. */
export const canaryModes = ["final", "always", "off"] as const;
/** What to do at a provider's limit: `on_limit`. */
export const limitPolicies = ["resume", "ask", "never"] as const;

/** Every key is optional; unknown keys are refused with their line. */
export const Config = v.strictObject({
  version: v.optional(v.literal(1)),
  /** Who works, if nothing else names an agent: its name, or `scripted:FILE`. */
  agent: v.optional(text),
  agents: v.optional(v.record(text, AgentSettings)),
  /** Which agent plays which role of a flow. */
  roles: v.optional(v.record(text, text)),
  checks: v.optional(
    v.strictObject({
      /** Further commands that must pass, besides those that are detected. */
      commands: v.optional(v.array(text)),
      /** Whether the project's own checks are looked for. */
      detect: v.optional(v.boolean()),
      timeout_minutes: v.optional(v.pipe(v.number(), v.minValue(0.01), v.maxValue(1440))),
      /** Folders of installed packages that checks and agents get a copy of. */
      dependencies: v.optional(v.array(text)),
      /**
       * How often at most a check is run on one tree to find out whether it is flaky; 1 turns it
       * off.
       */
      repeat: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3))),
      /**
       * When a passing check is tried out: once all have passed, always, or never.
       * `canary_timeout`: minutes for one check's trials.
       */
      canary: v.optional(v.picklist(canaryModes)),
      canary_timeout: v.optional(v.pipe(v.number(), v.minValue(0.01), v.maxValue(1440))),
      /**
       * Checks known to be flaky, by id or command: reported but not blocking, until the day named.
       */
      quarantine: v.optional(v.array(Quarantine)),
      /**
       * `copy`: what is installed beside the code. `lockfile`: restored by the project's own tool,
       * with the network for that step alone.
       */
      restore: v.optional(v.union([v.picklist(["copy", "lockfile"]), v.array(text)])),
      /**
       * Variables that checks get beside the few of the user's shell (verify/check-environment.ts).
       * HOME and TMPDIR stay private folders.
       */
      env: v.optional(v.record(VariableName, text)),
      /** Further names that a repository's config may set; a `*` at the end matches any suffix. */
      env_from_repository: v.optional(
        v.array(v.pipe(text, v.regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/))),
      ),
    }),
  ),
  limits: v.optional(TunedLimits),
  isolation: v.optional(v.picklist(isolationLevels)),
  /** Whether checks have the network, and which further hosts agents may reach. */
  network: v.optional(
    v.strictObject({ checks: v.optional(v.boolean()), agents: v.optional(v.array(Host)) }),
  ),
  /** `required`: a preview is confirmed before a run starts. `auto`: it is only shown. */
  dry_run: v.optional(v.picklist(["required", "auto"])),
  /** Globs of further files that judge the work; `!glob` takes one out. */
  protect: v.optional(v.array(text)),
  /** By model. */
  prices: v.optional(v.record(text, ModelPrice)),
  /** Further environment variables whose values are written nowhere. */
  redact: v.optional(v.array(text)),
  box: v.optional(BoxLimits),
  /** What to do when a provider's limit is used up: resume at the reset, ask, or only pause. */
  on_limit: v.optional(v.picklist(limitPolicies)),
  /** The verdict that work needs before it lands; unproved work lands only by a flag. */
  land: v.optional(
    v.strictObject({
      minimum: v.optional(v.picklist(["verified", "verified_with_gaps"])),
      squash: v.optional(v.boolean()),
      message: v.optional(LandMessage),
    }),
  ),
  /** Whether the runner's pages of landed phases are committed when a run ends. */
  roadmap: v.optional(v.strictObject({ commit_pages: v.optional(v.boolean()) })),
  /** Megabytes that all runs together may take; beyond it the oldest finished runs are deleted. */
  disk_quota: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** Who is notified of what. Read from the user's own file alone. */
  notify: v.optional(v.pipe(v.array(NotifyHook), v.maxLength(20))),
  otel: v.optional(OtelSettings),
  /**
   * Optional steps of staged flows that are done without asking: ui, refactor, security,
   * performance.
   */
  with: v.optional(v.array(text)),
  /** A profile's name, or limits: `tokens=250k,minutes=45,usd=3`. */
  max_budget: v.optional(text),
  /** What holds of every objective that does not say otherwise (objective.ts). */
  completion_mode: v.optional(v.picklist(completionModes)),
  risk_level: v.optional(v.picklist(riskLevels)),
  handoff_mode: v.optional(v.picklist(handoffModes)),
  approval_policy: v.optional(v.picklist(approvalPolicies)),
});
export type Config = v.InferOutput<typeof Config>;
