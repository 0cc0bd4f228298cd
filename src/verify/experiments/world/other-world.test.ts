import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wrapInOtherWorld, type WorldFact } from "./other-world.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "world-"));
  writeFileSync(join(folder, "package.json"), "{}\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (command: string, different?: readonly WorldFact[]): string =>
  execFileSync("/bin/sh", ["-c", wrapInOtherWorld(command, different)], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], LANG: "C.UTF-8", TZ: "UTC", TMPDIR: folder },
  }).trim();

describe("another world", () => {
  it("has another time zone, language, number of processors and user for Node", () => {
    const asked = `const os = require("os"); console.log([Intl.DateTimeFormat().resolvedOptions().timeZone, (1.5).toLocaleString(), os.userInfo().uid, process.getuid(), os.cpus().length === os.availableParallelism()].join(" "))`;
    expect(run(`node -e '${asked}'`)).toBe("Pacific/Kiritimati 1,5 65534 65534 true");
    const usual = Number(execFileSync("node", ["-p", "os.cpus().length"], { encoding: "utf8" }));
    expect(Number(run("node -p 'os.cpus().length'"))).not.toBe(usual);
  });

  it("has them for modules that import single names", () => {
    writeFileSync(
      join(folder, "a.mjs"),
      `import { availableParallelism, cpus } from "node:os";\nconsole.log(availableParallelism() === cpus().length);\n`,
    );
    expect(run("node a.mjs")).toBe("true");
  });

  it("is different in one thing alone, if asked", () => {
    const asked = `console.log([process.env.TZ, (1.5).toLocaleString(), process.env.USER, process.env.PYTHONHASHSEED, process.env.NODE_OPTIONS].join(" "))`;
    expect(run(`node -e '${asked}'`, ["time zone"])).toBe("Pacific/Kiritimati 1.5");
    expect(run(`node -e '${asked}'`, ["hash seed"])).toBe("UTC 1.5  4242");
  });

  it("gives programs whose output a command reads a file to write to, with their exit code", () => {
    const kind = `node -p 'require("fs").fstatSync(1).isFIFO()'`;
    expect(run(`echo "$(${kind})"`)).toBe("false");
    expect(run(`${kind} | cat`)).toBe("false");
    expect(run(`echo "$(node -e 'process.exit(3)' || echo $?)"`)).toBe("3");
  });

  it("leaves the command's own words as they are", () => {
    const command = "cat <<'X'\n$a 'b' \"c\"\nX";
    expect(wrapInOtherWorld(command).endsWith(`\n${command}`)).toBe(true);
    expect(run(command)).toBe("$a 'b' \"c\"");
  });
});
