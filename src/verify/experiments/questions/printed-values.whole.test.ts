import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { comparePrinted } from "./printed-values.ts";

const hasRust = spawnSync("rustc", ["--version"]).status === 0;
const types =
  "use std::collections::HashMap;\n#[derive(Debug)]\npub struct Money(i64);\nimpl PartialEq for Money {\n    fn eq(&self, other: &Self) -> bool { self.0 / 50 == other.0 / 50 }\n}\n#[derive(Debug, PartialEq)]\npub struct Bill { all: Vec<Money>, rate: f64, names: HashMap<u8, u8> }\n#[derive(Debug, PartialEq)]\npub struct New(Money);\nfn names(from: Vec<u8>) -> HashMap<u8, u8> { from.into_iter().map(|one| (one, one)).collect() }\n";

/** The names of the tests that fail. */
function failing(tests: readonly (readonly [name: string, body: string])[], edition: string) {
  const folder = mkdtempSync(join(tmpdir(), "printed-"));
  const written = tests.map(([name, body]) => `#[test]\nfn ${name}() { ${body} }\n`).join("");
  const text = comparePrinted(
    `${types}${written}`,
    { owners: ["Money"], known: ["Money", "Bill"], added: ["New"] },
    { nonce: "n0", compares: true },
  );
  try {
    writeFileSync(join(folder, "a.rs"), text ?? "");
    const flags = ["--test", `--edition=${edition}`, "-Adead_code", "-o", join(folder, "program")];
    execFileSync("rustc", [...flags, join(folder, "a.rs")], { stdio: "pipe" });
    const { stdout } = spawnSync(join(folder, "program"), { encoding: "utf8" });
    return [...stdout.matchAll(/^test (\w+) \.\.\. FAILED$/gm)]
      .map(([, name = ""]) => name)
      .toSorted();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.skipIf(!hasRust).each([["2015"], ["2021"]])(
  "what is equal also has to print alike (edition %s; needs rustc)",
  (edition) => {
    test("one that only an equality forgives fails", () =>
      expect(
        failing(
          [
            ["itself", "assert_eq!(Money(100), Money(101));"],
            ["optional", 'assert_eq!(Some(Money(100)), Some(Money(101)), "of {}", 1);'],
            ["listed", "assert_eq!(vec![Money(100)], [Money(101)]);"],
            [
              "inside",
              "assert_eq!(Bill { all: vec![Money(1)], rate: 0.0, names: names(vec![]) }, Bill { all: vec![Money(2)], rate: 0.0, names: names(vec![]) });",
            ],
          ],
          edition,
        ),
      ).toEqual(["inside", "itself", "listed", "optional"]));

    test("and nothing else", () =>
      expect(
        failing(
          [
            ["itself", "assert_eq!(Money(100), Money(100),);"],
            ["text", 'assert_eq!("a".to_string(), "a"); assert_eq!(*"a", *"a");'],
            ["bytes", 'assert_eq!(b"a", &[97]);'],
            ["added", "assert_eq!(New(Money(100)), New(Money(101)));"],
            [
              "unordered",
              "assert_eq!(Bill { all: vec![], rate: 0.0, names: names((0..99).collect()) }, Bill { all: vec![], rate: -0.0, names: names((0..99).rev().collect()) });",
            ],
          ],
          edition,
        ),
      ).toEqual([]));
  },
);
