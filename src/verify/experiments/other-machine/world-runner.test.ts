import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { wrapInOtherWorld, type WorldFact } from "./other-world.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
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
