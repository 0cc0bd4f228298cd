// house: the law as data. `../architecture.test.ts` reads it; docs/ARCHITECTURE.md explains it.
// A row that turns out wrong is changed here together with a record in docs/decisions/, never worked around.

const everything = [
  "kit",
  "contracts",
  "journal",
  "core",
  "flows",
  "ports",
  "engine",
  "agents",
  "meter",
  "workspace",
  "verify",
  "insight",
  "portfolio",
  "faces",
];

/** The rooms of src/, and whom each may import besides itself. */
export const mayEnter: Readonly<Record<string, readonly string[]>> = {
  kit: [],
  contracts: ["kit"],
  core: ["kit", "contracts"],
  journal: ["kit", "contracts"],
  flows: ["kit", "contracts"],
  ports: ["kit", "contracts"],
  insight: ["kit", "contracts"],
  engine: ["kit", "contracts", "core", "journal", "flows", "ports"],
  agents: ["kit", "contracts", "ports"],
  meter: ["kit", "contracts", "ports"],
  workspace: ["kit", "contracts", "ports"],
  verify: ["kit", "contracts", "ports"],
  portfolio: ["kit", "contracts", "core", "ports"],
  faces: ["kit", "contracts", "core", "insight"],
  host: everything,
  surfaces: ["kit", "contracts", "faces", "host"],
};

/** Rooms whose folders may not import each other: no surface another. */
export const apartRooms: readonly string[] = ["surfaces"];

/** Packages, and the rooms that may import them. `node:` is allowed outside the pure rooms. */
export const mayUse: Readonly<Record<string, readonly string[]>> = {
  valibot: ["kit", "contracts", "journal", "flows", "engine", "agents", "workspace", "verify", "host"],
  "@valibot/to-json-schema": ["contracts", "flows", "agents", "host"],
  yaml: ["kit", "flows", "agents", "verify", "host"],
  "smol-toml": ["kit", "verify", "host"],
  picomatch: ["kit", "workspace", "verify", "host"],
  "fs-native-extensions": ["journal", "workspace", "host"],
  "@agentclientprotocol/sdk": ["agents"],
};

/** Rooms that touch nothing outside: no disk, no clock, no dice, no waiting. */
export const pureRooms: readonly string[] = ["kit", "contracts", "core", "faces", "insight"];
/** What a pure room may not name. A property of that name (`usage.process`) is something else and allowed. */
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
/** The room that holds promises only: interfaces and types, nothing that runs. */
export const typesOnlyRooms: readonly string[] = ["ports"];

export const linesMax = { source: 300, test: 700 } as const;

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
  handler: "name it after the deed",
};

/** Words at a name's end that say nothing about what it does. `packageManager` is what the thing is called. */
export const emptyEndings: readonly string[] = ["manager", "service", "handler", "util", "utils", "helper", "helpers"];
export const properNames: readonly string[] = ["packageManager", "PackageManager", "package_manager"];

/** Words that may not be part of a declared name, and the word of this house. See docs/WORDS.md. */
export const wordsNotOurs: Readonly<Record<string, string>> = {
  dag: "flow",
  ticket: "task",
  adapter: "face, or the name of the port it serves",
};

/** Rooms that must know no flow, step or role by name. */
export const namelessRooms: readonly string[] = ["core", "engine", "ports"];
/** Where the language's own words are made: a step that a flow happens to call like one of them does not make it a secret. */
export const vocabularyOf: readonly string[] = ["src/contracts/", "src/core/next.ts"];
/** Words of the language that are also a flow's name: they may stand only as a type, or compared with something of these names. */
export const onlyBeside: Readonly<Record<string, readonly string[]>> = { objective: ["completion_mode", "mode"] };
/** Names of steps in fixtures that are ordinary words; each with the sense in which the rooms above use it. */
export const ordinaryWords: Readonly<Record<string, string>> = { do: "the key of a decision", merge: "a way of landing" };
