// house: the law as data. `architecture.test.ts` reads it; docs/ARCHITECTURE.md explains it.
// A row that turns out wrong is changed here together with a record in docs/decisions/, never
// worked around.

const pure = ["kit", "contracts", "ports", "core", "journal", "flows", "documents", "insight"];
const adapters = ["engine", "agents", "meter", "workspace", "verify", "views", "project"];
const parts = [...pure, ...adapters, "playbooks/contract"];
const playbooks = ["playbooks/roadmap", "playbooks/quality", "playbooks/staged"];
const aboveOneRun = [...parts, "playbooks/registry", "fleet", "forge", "runner"];
const forCommands = [...aboveOneRun, "portfolio", "commands"];

/**
 * The folders of src/, and whom each may import besides itself. A file belongs to the longest of
 * these names that its path begins with. No playbook imports another, and only the registry and the
 * commands of that playbook name one; `validate` knows every format.
 */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  kit: [],
  contracts: ["kit"],
  ports: ["kit", "contracts", "journal"],
  core: ["kit", "contracts"],
  journal: ["kit", "contracts"],
  flows: ["kit", "contracts"],
  documents: ["kit", "contracts"],
  insight: ["kit", "contracts"],
  engine: ["kit", "contracts", "core", "journal", "flows", "ports"],
  agents: ["kit", "contracts", "ports"],
  meter: ["kit", "contracts", "ports"],
  workspace: ["kit", "contracts", "ports"],
  verify: ["kit", "contracts", "ports"],
  forge: ["kit", "contracts", "core", "agents", "workspace"],
  views: ["kit", "contracts", "core", "documents", "insight"],
  project: [
    "kit",
    "contracts",
    "core",
    "journal",
    "ports",
    "insight",
    "agents",
    "meter",
    "workspace",
    "views",
  ],
  fleet: ["kit", "contracts", "core", "journal", "ports", "workspace", "project"],
  "playbooks/contract": [...pure, ...adapters],
  "playbooks/roadmap": parts,
  "playbooks/quality": parts,
  "playbooks/staged": parts,
  "playbooks/registry": [...parts, ...playbooks],
  runner: [...parts, "playbooks/registry", "fleet", "forge"],
  portfolio: aboveOneRun,
  calibration: aboveOneRun,
  commands: [...aboveOneRun, "portfolio", "calibration"],
  "commands/roadmap": [...forCommands, "playbooks/roadmap"],
  "commands/quality": [...forCommands, "playbooks/quality"],
  "commands/staged": [...forCommands, "playbooks/staged"],
  "commands/validate": [...forCommands, ...playbooks],
  "commands/mcp": [...forCommands, "commands/roadmap", "commands/staged", "commands/validate"],
  surfaces: [
    "kit",
    "contracts",
    "views",
    "project",
    "commands",
    "commands/roadmap",
    "commands/quality",
    "commands/staged",
    "commands/validate",
    "commands/mcp",
  ],
};

/** How many source files may lie side by side. Tests beside them are not counted. */
export const filesInFolderMax = 40;

/** Folders whose folders may not import each other: no surface another. */
export const apartFolders: readonly string[] = ["surfaces"];

/**
 * The command line starts the other surfaces: each by one file, loaded when its command is given.
 */
export const surfaceEntries: readonly string[] = [
  "src/surfaces/dashboard/serve.ts",
  "src/surfaces/mcp/serve.ts",
];

/** Packages, and the folders that may import them. `node:` is allowed outside the pure folders. */
export const mayUse: Readonly<Record<string, readonly string[]>> = {
  valibot: [
    "kit",
    "contracts",
    "journal",
    "flows",
    "engine",
    "agents",
    "workspace",
    "verify",
    "forge",
    "project",
    "playbooks",
    "runner",
    "portfolio",
    "calibration",
    "commands",
  ],
  "@valibot/to-json-schema": [
    "contracts",
    "flows",
    "agents",
    "project",
    "playbooks",
    "runner",
    "portfolio",
    "calibration",
    "commands",
  ],
  yaml: [
    "kit",
    "flows",
    "agents",
    "verify",
    "project",
    "playbooks",
    "runner",
    "portfolio",
    "calibration",
    "commands",
  ],
  "smol-toml": [
    "kit",
    "verify",
    "project",
    "playbooks",
    "runner",
    "portfolio",
    "calibration",
    "commands",
  ],
  picomatch: [
    "kit",
    "workspace",
    "verify",
    "project",
    "playbooks",
    "runner",
    "portfolio",
    "calibration",
    "commands",
  ],
  "fs-native-extensions": [
    "journal",
    "workspace",
    "project",
    "playbooks",
    "runner",
    "portfolio",
    "calibration",
    "commands",
  ],
  "@agentclientprotocol/sdk": ["agents"],
  pg: ["fleet"],
  preact: ["views/web", "surfaces/dashboard/client"],
};

/** Folders that touch nothing outside: no disk, no clock, no dice, no waiting. */
export const pureFolders: readonly string[] = [
  "kit",
  "contracts",
  "core",
  "documents",
  "insight",
  "views",
  "playbooks/roadmap/documents",
  "playbooks/roadmap/insight",
  "playbooks/roadmap/views",
  "playbooks/quality/views",
  "playbooks/staged/views",
  "portfolio/planner",
  "fleet/worker",
  "portfolio/views",
  "calibration/cycle",
];
/**
 * What a pure folder may not name. A property of that name (`usage.process`) is something else and
 * allowed.
 */
export const impureNames: readonly string[] = [
  "Date",
  "process",
  "performance",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "fetch",
  "crypto",
  "globalThis",
  "require",
  "console",
];
/** The folder that holds promises only: interfaces and types, nothing that runs. */
export const typesOnlyFolders: readonly string[] = ["ports"];

export const linesMax = { source: 400, test: 1000 } as const;

/** Words that say nothing, as a part of a file's name, and what to do instead. */
export const emptyFileWords: Readonly<Record<string, string>> = {
  util: "name it after what it exports",
  utils: "name it after what it exports",
  helper: "put it into the file that calls it",
  helpers: "put it into the files that call it",
  common: "name what is common to whom",
  misc: "split it",
  types: "the schema or type stands where it is made",
  manager: "say what it does",
  service: "say what it does",
  handler: "name it after the action",
};

/**
 * Words at a name's end that say nothing about what it does. `packageManager` is what the thing is
 * called.
 */
export const emptyEndings: readonly string[] = [
  "manager",
  "service",
  "handler",
  "util",
  "utils",
  "helper",
  "helpers",
];
export const properNames: readonly string[] = [
  "packageManager",
  "PackageManager",
  "package_manager",
];

/**
 * Words that may not be part of a declared name, and the word of this house. See docs/GLOSSARY.md.
 */
export const wordsNotOurs: Readonly<Record<string, string>> = {
  dag: "flow",
  ticket: "task",
  adapter: "playbook, or the name of the port it serves",
};

/** Folders that must know no flow, step or role by name. */
export const namelessFolders: readonly string[] = ["core", "engine", "ports"];
/**
 * Where the language's own words are made: a step that a flow happens to call like one of them does
 * not make it a secret.
 */
export const vocabularyOf: readonly string[] = ["src/contracts/", "src/core/next-action.ts"];
/**
 * Words of the language that are also a flow's name: they may stand only as a type, or compared
 * with something of these names.
 */
export const onlyBeside: Readonly<Record<string, readonly string[]>> = {
  objective: ["completion_mode", "mode"],
};
/**
 * Names of steps in fixtures that are ordinary words; each with the sense in which the folders
 * above use it.
 */
export const ordinaryWords: Readonly<Record<string, string>> = {
  do: "the key of a decision",
  merge: "a way of landing",
};
