// The law of the house, held against the repository. Each rule is also shown a small break of
// itself and must catch it: a rule that finds nothing because it looks nowhere would otherwise pass
// for ever.

import { describe, expect, test } from "vitest";
import { linesMax } from "./house.ts";
import {
  crowdedFoldersIn,
  implementationsInPortsIn,
  foreignPackagesIn,
  ringsIn,
  strangersIn,
  trespassesIn,
} from "./imports.ts";
import { strayInvariantsIn } from "./invariants.ts";
import {
  badFileNamesIn,
  badNamesIn,
  filledReplacementsIn,
  folderDeletionsIn,
  goneNamesIn,
  longFilesIn,
  machinePathsIn,
  purposelessIn,
  putOffIn,
  registriesIn,
  silencedTestsIn,
} from "./manners.ts";
import { namesInFlows, namesKnownIn, stainsIn } from "./purity.ts";
import { isProduct, readRepository, type SourceFile, workPlaces } from "./source.ts";

type Rule = {
  readonly says: string;
  readonly find: (files: readonly SourceFile[]) => readonly string[];
  /** Small repositories that break the rule, each of which it must catch. */
  readonly breaks: readonly (readonly SourceFile[])[];
};

const file = (path: string, text: string): SourceFile => ({ path, text });
const examplePlace = ["", "somebody", "checkout"].join("/");
const flowNames = (files: readonly SourceFile[]): Set<string> => namesInFlows(files);

const rules: readonly Rule[] = [
  {
    says: "every file of src/ lies in a folder of the table",
    find: strangersIn,
    breaks: [[file("src/lobby/a.ts", "export {};")], [file("src/a.ts", "export {};")]],
  },
  {
    says: "every import goes where the table allows",
    find: trespassesIn,
    breaks: [
      [file("src/core/a.ts", 'import { b } from "../journal/b.ts";')],
      [file("src/core/a.ts", 'import type { B } from "../engine/b.ts";')],
      [file("src/agents/a.ts", 'export const a = () => import("../workspace/b.ts");')],
      [file("src/core/a.ts", 'export type A = import("../commands/b.ts").B;')],
      [file("src/kit/a.ts", 'export * from "../contracts/b.ts";')],
      [file("src/surfaces/cli/a.ts", 'import { b } from "../server/b.ts";')],
      [file("src/surfaces/cli/a.ts", 'import { b } from "../../engine/b.ts";')],
      [file("src/playbooks/roadmap/steps/a.ts", 'import { b } from "../../quality/files/b.ts";')],
      [file("src/runner/a.ts", 'import { b } from "../playbooks/staged/files/b.ts";')],
      [file("src/commands/a.ts", 'import { b } from "../playbooks/roadmap/files/b.ts";')],
      [file("src/views/a.ts", 'import { b } from "../playbooks/roadmap/views/b.ts";')],
      [file("src/project/a.ts", 'import { b } from "../runner/b.ts";')],
      [file("src/commands/a.ts", 'import { b } from "../../test/b.ts";')],
    ],
  },
  {
    says: "every source file begins with its name and its purpose",
    find: purposelessIn,
    breaks: [
      [file("src/core/a.ts", "export {};")],
      [file("src/core/a.ts", "/** Adds. */\nexport {};")],
      [file("src/core/a.ts", "// b: adds.\nexport {};")],
    ],
  },
  {
    says: "no folder holds more files side by side than one can look over",
    find: crowdedFoldersIn,
    breaks: [Array.from({ length: 41 }, (_, at) => file(`src/core/a${at}.ts`, "export {};"))],
  },
  {
    says: "packages are used only where the law names them",
    find: foreignPackagesIn,
    breaks: [
      [file("src/core/a.ts", 'import * as v from "valibot";')],
      [file("src/commands/a.ts", 'import left from "left-pad";')],
      [file("src/kit/a.ts", 'import { b } from "./b";')],
    ],
  },
  {
    says: "no file imports itself by any way, not even for types",
    find: ringsIn,
    breaks: [
      [
        file("src/core/a.ts", 'import type { B } from "./b.ts";'),
        file("src/core/b.ts", 'import type { C } from "./c.ts";'),
        file("src/core/c.ts", 'import type { A } from "./a.ts";'),
      ],
      [file("src/core/a.ts", 'export type A = import("./a.ts").A;')],
    ],
  },
  {
    says: "ports hold promises only",
    find: implementationsInPortsIn,
    breaks: [
      [file("src/ports/a.ts", "export const a = 1;")],
      [file("src/ports/a.ts", 'import { b } from "../kit/b.ts"; export type A = typeof b;')],
    ],
  },
  {
    says: "pure folders touch nothing outside",
    find: stainsIn,
    breaks: [
      [file("src/core/a.ts", 'import { readFileSync } from "node:fs";')],
      [file("src/views/a.ts", "export const a = () => new Date();")],
      [file("src/contracts/a.ts", "export const a = process.env;")],
      [file("src/insight/a.ts", "export const a = Math.random();")],
      [file("src/core/a.ts", "export const a = async (b: Promise<void>) => { await b; };")],
      [file("src/core/a.ts", "export const a = (b: () => void) => setTimeout(b, 1);")],
      [file("src/core/a.ts", 'export const a = () => fetch("x");')],
      [file("src/kit/a.ts", "export const a = performance.now();")],
    ],
  },
  {
    says: "the engine's rooms know no flow, step or role by name",
    find: (files) => namesKnownIn(files, flowNames(files)),
    breaks: [
      [
        file(
          "src/flows/catalog/x/flow.yaml",
          "flow: tidy\nsteps:\n  - { id: sweep, agent: cleaner }\n",
        ),
        file("src/core/a.ts", 'export const a = (step: string) => step === "sweep";'),
      ],
      [
        file(
          "test/fixtures/flows/x.yaml",
          "flow: tidy\nsteps:\n  - id: sweep\n    agent: cleaner\n",
        ),
        file("src/engine/a.ts", "export const a = `cleaner`;"),
      ],
      [
        file("src/flows/catalog/x/flow.yaml", "flow: objective\n"),
        file("src/core/a.ts", 'export const a = (flow: string) => flow === "objective";'),
      ],
    ],
  },
  {
    says: "invariants are numbered in order, and a comment cites only those its file defines or names the file of",
    find: strayInvariantsIn,
    breaks: [
      [
        file(
          "src/core/a.ts",
          "// a: adds.\n//\n//   A2. It adds.\n//   A1. It is quick.\n\nexport {};",
        ),
      ],
      [file("src/core/a.ts", "// a: adds.\n//\n//   A1. It adds.\n\nexport {}; // A2")],
      [
        file(
          "src/core/a.ts",
          "// a: adds.\n// Invariants B1 and on: core/b.ts.\n\n/** B2. */\nexport {};",
        ),
        file("src/core/b.ts", "// b: is.\n//   B1. It is.\n"),
      ],
    ],
  },
  {
    says: "no file is too long to read",
    find: longFilesIn,
    breaks: [[file("src/core/a.ts", "export {};\n".repeat(linesMax.source + 1))]],
  },
  {
    says: "a file's name says what it exports",
    find: badFileNamesIn,
    breaks: [
      "index",
      "utils",
      "string-helpers",
      "common",
      "types",
      "run-manager",
      "service",
      "event-handler",
      "camelCase",
    ].map((name) => [file(`src/core/${name}.ts`, "export {};")]),
  },
  {
    says: "names use the words of the house",
    find: badNamesIn,
    breaks: [
      "const dagOf = 1;",
      "const stringUtils = 1;",
      "class RunManager {}",
      "function ticketOf() {}",
      "type A = { ticket_id: string };",
      "const f = (errorHandler: () => void) => errorHandler;",
    ].map((text) => [file("src/core/a.ts", text)]),
  },
  {
    says: "a comment cites no name that is gone",
    find: goneNamesIn,
    breaks: [
      [file("src/core/a.ts", "/** `isLeast`: one of several. */\nexport const isMinimum = true;")],
      [
        file(
          "src/core/a.ts",
          "export const isMinimum = true; // as `isLeast`, and not `isMinimum`",
        ),
      ],
    ],
  },
  {
    says: "no test is silenced without a word",
    find: silencedTestsIn,
    breaks: ["test.only('a', () => {});", "describe.skip('a', () => {});", "it.todo('a');"].map(
      (text) => [file("src/core/a.test.ts", text)],
    ),
  },
  {
    says: "a computed replacement is given by a function, so that nothing in it is filled in",
    find: filledReplacementsIn,
    breaks: [
      'text.replace("NAME", name);',
      "text.replaceAll(/a/g, `${name}_1`);",
      'text.trim().replace("NAME", JSON.stringify(path));',
    ].map((text) => [file("src/core/a.ts", text)]),
  },
  {
    says: "nothing is put off in a comment",
    find: putOffIn,
    breaks: [[file("src/core/a.ts", `// ${["TO", "DO"].join("")} later`)]],
  },
  {
    says: "nothing names a place on somebody's machine",
    find: (files) => machinePathsIn(files, [...workPlaces(), examplePlace]),
    breaks: [
      [file("docs/a.md", `see ${examplePlace}/src`)],
      [file("docs/a.md", ["see ", "home", "bob", "x"].join("/"))],
    ],
  },
  {
    says: "whole folders are deleted in one place",
    find: folderDeletionsIn,
    breaks: [
      "rmSync(folder, { recursive: true, force: true });",
      "await rm(join(a, b), { force: true, recursive: true });",
    ].map((text) => [file("src/runner/a.ts", text)]),
  },
  {
    says: "the lock file names no registry",
    find: registriesIn,
    breaks: [[file("package-lock.json", '{ "resolved": "https://registry.example/a.tgz" }')]],
  },
];

const files = readRepository();

describe("the law of the house", () => {
  test("there is something to judge", () => {
    expect(files.filter(isProduct).length).toBeGreaterThan(20);
  });

  for (const { says, find, breaks } of rules) {
    test(says, () => {
      expect(find(files)).toEqual([]);
    });

    test(`${says}: a break of it is caught`, () => {
      expect(breaks.map((example) => find(example).length > 0)).toEqual(breaks.map(() => true));
    });
  }

  test("a property, a comment or a completion mode is no break", () => {
    const innocent = [
      file("src/flows/catalog/x/flow.yaml", "flow: objective\n"),
      file(
        "src/core/a.ts",
        '// a: await Date\nexport const a = (o: { process: number; completion_mode: string }) => o.completion_mode === "objective" && o.process > 0;',
      ),
    ];

    expect(rules.flatMap(({ find }) => find(innocent))).toEqual([]);
  });
});
