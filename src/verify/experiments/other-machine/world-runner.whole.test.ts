import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { isLong, sampled, turnTest } from "../../../../test/support/sampled.ts";
import { turnTags } from "./build-tags.ts";
import { wrapInOtherWorld } from "./other-world.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const has = (program: string): boolean =>
  spawnSync(program, ["version"], { stdio: "ignore" }).status === 0;
type Files = Readonly<Record<string, string>>;

/** Whether a command passes in a folder with these files. */
function passes(files: Files, command: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), "runner-"));
  folders.push(folder);

  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  try {
    execFileSync("/bin/sh", ["-c", command], { cwd: folder, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
const inBoth = (files: Files, command: string): readonly boolean[] =>
  [
    command,
    wrapInOtherWorld(command, ["runner's variables", "sources beside it", "test program"]),
  ].map((one) => passes(files, one));

describe.skipIf(!has("go"))("tests of Go, which needs go", () => {
  const command = "go test -count=1 ./...";
  const files = (code: string, more: Files = {}): Files => ({
    "go.mod": "module example.com/two\n\ngo 1.18\n",
    "two/two.go": code,
    "two/testdata/two.txt": "2\n",
    "shared/two.txt": "2\n",
    "two/two_test.go": `package two\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestTwo(t *testing.T) {\n\tfor _, path := range []string{"testdata/two.txt", "../shared/two.txt"} {\n\t\twant, err := os.ReadFile(path)\n\t\tif err != nil || Two() != string(want) {\n\t\t\tt.Fatal(err, Two())\n\t\t}\n\t}\n}\n`,
    ...more,
  });

  const right = 'package two\n\nfunc Two() string { return "2\\n" }\n';
  const asks = (path: string): string =>
    `package two\n\nimport "os"\n\nfunc Two() string {\n\tif _, err := os.Stat("${path}"); err != nil {\n\t\treturn "3\\n"\n\t}\n\treturn "2\\n"\n}\n`;

  it("read their data there, and code that looks for its sources fails", () => {
    expect(inBoth(files(right), command)).toEqual([true, true]);
    for (const path of sampled(1, ["two.go", "../go.mod"])) {
      expect(inBoth(files(asks(path)), command)).toEqual([true, false]);
    }
  });

  turnTest("that build a program find its sources", () => {
    const builds = `package main\n\nimport (\n\t"os/exec"\n\t"testing"\n)\n\nfunc TestBuilds(t *testing.T) {\n\tif out, err := exec.Command("go", "build", "-o", t.TempDir()+"/app", ".").CombinedOutput(); err != nil {\n\t\tt.Fatal(string(out))\n\t}\n}\n`;
    const more = { "app/main.go": "package main\n\nfunc main() {}\n", "app/main_test.go": builds };
    expect(inBoth(files(right, more), command)).toEqual([true, true]);
  });

  it("fail with a tag the other way round if the code is right in one build alone", () => {
    const turned = turnTags(command, ["prod"]);
    const build = (condition: string, answer: string) =>
      `//go:build ${condition}\n\npackage two\n\nfunc Two() string { return ${answer} }\n`;

    const pair = (answer: string): Files =>
      files("package two\n", {
        "two/dev.go": build("!prod", '"2\\n"'),
        "two/prod.go": build("prod", answer),
      });
    expect(passes(pair('"3\\n"'), command)).toBe(true);
    expect(passes(pair('"3\\n"'), turned)).toBe(false);
    expect(passes(pair('"2" + "\\n"'), turned)).toBe(true);
    if (isLong) expect(passes(pair("missing()"), turned)).toBe(true); // it doesn't compile
  });
});

describe.skipIf(!has("cargo"))("tests of Rust, which needs cargo", () => {
  const files = (code: string): Files => ({
    "Cargo.toml": '[package]\nname = "two"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": code,
    "src/main.rs": 'fn main() {\n    println!("{}", two::two());\n}\n',
    "tests/data/two.txt": "2",
    "tests/two.rs": `use std::{env, fs, process::Command};

#[test]
fn in_files() {
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap();
    for path in [String::from("tests/data/two.txt"), format!("{folder}/tests/data/two.txt")] {
        assert_eq!(two::two(), fs::read_to_string(path).unwrap());
    }
}

#[test]
fn as_a_program() {
    let mut path = env::current_exe().unwrap();
    path.pop();
    if path.ends_with("deps") {
        path.pop();
    }
    for program in [path.join("two"), env!("CARGO_BIN_EXE_two").into()] {
        assert_eq!(Command::new(program).output().unwrap().stdout, b"2\\n");
    }
}
`,
  });

  const right =
    '/// ```\n/// assert_eq!(two::two(), "2");\n/// ```\npub fn two() -> &\'static str {\n    "2"\n}\n';
  const asks = (sign: string): string =>
    `pub fn two() -> &'static str {\n    if ${sign} { "2" } else { "3" }\n}\n`;

  it("have what the project's settings for Cargo give, and its program, whatever it is called", () => {
    const named = {
      ...files('pub fn two() -> String {\n    std::env::var("TWO").unwrap_or_default()\n}\n'),
      ".cargo/config.toml": '[env]\nTWO = "2"\n',
      "Cargo.toml":
        '[package]\nname = "two"\nversion = "0.1.0"\nedition = "2021"\n\n[[bin]]\nname = "app"\npath = "src/main.rs"\n',
      "tests/two.rs": `#[test]
fn as_a_program() {
    assert_eq!(two::two(), "2");
    assert_eq!(std::process::Command::new(env!("CARGO_BIN_EXE_app")).output().unwrap().stdout, b"2\\n");
}
`,
    };
    expect(inBoth(named, "cargo test --offline -q --test two")).toEqual([true, true]);
  });

  it("read their data and start their programs there, and code that asks for its runner fails", () => {
    const command = "cargo test --offline -q";
    expect(inBoth(files(right), command)).toEqual([true, true]);
    const signs = [
      'std::env::vars_os().any(|(name, _)| name == "CARGO_PKG_NAME")',
      'std::path::Path::new("src").exists()',
    ];
    for (const sign of sampled(1, signs)) {
      expect(inBoth(files(asks(sign)), `${command} --test two in_files`)).toEqual([true, false]);
    }
  });
});
