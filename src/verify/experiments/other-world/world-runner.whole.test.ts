import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { isLong, sampled, turnTest } from "../../../../test/support/sampled.ts";
import { turnTags } from "../other-build/build-tags.ts";
import { wrapInOtherWorld, type WorldFact } from "./wrap-in-other-world.ts";

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

const runner = ["runner's variables", "sources beside it", "test program"] as const;

type Seen = {
  readonly files: readonly string[];
  readonly variables: readonly string[];
  readonly program: string;
  readonly code: string;
};

/**
 * What a test program sees that a stand-in for `go` or `cargo` starts, with a variable of its own,
 * in the folder of a package.
 */
function start(
  different: readonly WorldFact[],
  { program = "bin/pkg.test", test = "package pkg", manifest = "go.mod" } = {},
): Seen {
  const folder = mkdtempSync(join(tmpdir(), "runner-"));
  folders.push(folder);

  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    chmodSync(join(folder, path), 0o755);
  };
  write(`work/${manifest}`, '[package]\nname = "pkg"\n');
  write("work/pkg/pkg.go", "package pkg\n");
  write("work/pkg/pkg_test.go", test);
  write("work/pkg/pkg.rs", "fn f() {}\n");
  write("work/pkg/notes.txt", "data\n");
  write("work/pkg/testdata/a.go", "package a\n");
  write("work/shared/x.json", "{}\n");
  write("tools/rustc", "#!/bin/sh\necho host: any-machine\n");
  write(
    program,
    '#!/bin/sh\nls . ../shared testdata\necho ---\nenv | sed "s/=.*//"\necho ---\necho "$0"\nexit 7\n',
  );

  const runnerOf = "$(echo $GOFLAGS | sed 's/.*-exec=//')";
  write(
    "tools/go",
    `#!/bin/sh\ncd pkg && CARGO_PKG_NAME=pkg TOOL_SETS=1 "${runnerOf}" "${join(folder, program)}" -test.v; echo "--- $?"\n`,
  );

  const said = execFileSync("/bin/sh", ["-c", wrapInOtherWorld("GIVEN=1 go test", different)], {
    cwd: join(folder, "work"),
    encoding: "utf8",
    env: { PATH: `${join(folder, "tools")}:${process.env["PATH"]}`, TMPDIR: folder, HOME: folder },
  });
  const [files = "", variables = "", name = "", code = ""] = said.split(/---\s/);
  return {
    files: files.trim().split(/\s+/),
    variables: variables.trim().split("\n"),
    program: name.trim(),
    code: code.trim(),
  };
}

describe.skipIf(!existsSync("/proc/self/environ"))(
  "a test program in another world (Linux)",
  () => {
    it("sees no variables of its runner, but those of the command", () => {
      const { variables, code } = start(["runner's variables"]);
      expect(variables).toContain("GIVEN");
      expect(variables).toContain("HOME");
      expect(variables.filter((name) => /TOOL_SETS|CARGO_|GOFLAGS/.test(name))).toEqual([]);
      expect(code).toBe("7");
    });

    it("sees variables that a test names", () => {
      const { variables } = start(["runner's variables"], {
        test: 'package pkg\nvar name = os.Getenv("CARGO_PKG_NAME")\n',
      });
      expect(variables).toContain("CARGO_PKG_NAME");
      expect(variables).not.toContain("TOOL_SETS");
    });

    it("finds the package's data and not its sources", () => {
      const { files } = start(["sources beside it"]);
      expect(files).toEqual(expect.arrayContaining(["notes.txt", "x.json", "a.go", "pkg.rs"]));
      expect(files).not.toContain("pkg.go");
      expect(files).not.toContain("pkg_test.go");
    });

    it("finds everything if a test speaks of sources", () => {
      for (const words of [
        'os.ReadFile("pkg.go")',
        'exec.Command("go", "build")',
        "find(`go.mod`)",
      ]) {
        expect(
          start(["sources beside it"], { test: `package pkg\nvar x = ${words}\n` }).files,
        ).toContain("pkg.go");
      }
    });

    it("of Rust finds no sources of Rust, and programs beside it", () => {
      const { files, program } = start(runner, {
        program: "work/target/debug/deps/pkg-1",
        manifest: "Cargo.toml",
      });
      expect(files).toContain("pkg.go");
      expect(files).not.toContain("pkg.rs");
      expect(program).toMatch(/\/x\/app$/);
    });

    it("has another name and place", () => {
      expect(start(["test program"]).program).toMatch(/\/x\/app$/);
      expect(start(["test program"]).files).toContain("pkg.go");
      expect(start(["sources beside it"]).program).toMatch(/\/bin\/pkg\.test$/);
    });

    it("that is no test is started as usual", () => {
      const { files, variables, program } = start(runner, { program: "bin/gen" });
      expect(files).toContain("pkg.go");
      expect(variables).toContain("TOOL_SETS");
      expect(program).toMatch(/\/bin\/gen$/);
    });
  },
);
