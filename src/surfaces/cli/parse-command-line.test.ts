import { describe, expect, test } from "vitest";
import { commands } from "./catalog.ts";
import { parseCommandLine } from "./parse-command-line.ts";
import type { FlagSpec } from "./spec.ts";

const read = (...argv: string[]) => {
  const parsed = parseCommandLine(argv, commands);
  return "misuse" in parsed
    ? parsed.misuse
    : { command: parsed.command.name, words: parsed.input.words };
};
const goal = (...words: string[]) => ({ command: "go", words });

test("no words, and words that name no command, mean go", () => {
  expect(read()).toEqual(goal());
  expect(read("fix the login test")).toEqual(goal("fix the login test"));
  expect(read("fix", "the", "login", "test")).toEqual(goal("fix", "the", "login", "test"));
  expect(read("--json", "-C", "/tmp", "--scope", "src/**", "fix it")).toEqual(goal("fix it"));
});

test("a slash command is a command", () => {
  expect(read("/autopilot", "status")).toEqual({ command: "status", words: [] });
  expect(read("/autopilot")).toEqual(goal());
  expect(read("--json", "/autopilot", "fix", "it")).toEqual(goal("fix", "it"));
});

test("help, status, report, doctor, pause, resume and stop go to their own command, with or without the slash", () => {
  for (const command of ["help", "status", "report", "doctor", "pause", "resume", "stop"]) {
    expect(read(command)).toEqual({ command, words: [] });
    expect(read("/autopilot", command, "--json")).toEqual({ command, words: [] });
  }
});

test("global flags stand before or after the command", () => {
  for (const argv of [
    ["--json", "--run", "run-1", "status"],
    ["status", "--run=run-1", "--json"],
    ["-C.", "status", "--run", "run-1", "--json"],
  ]) {
    const parsed = parseCommandLine(argv, commands);
    expect(
      "misuse" in parsed
        ? parsed.misuse
        : [parsed.command.name, parsed.input.run, parsed.globals.json],
    ).toEqual(["status", "run-1", true]);
  }
});

test("commands of two words", () => {
  expect(read("budget")).toEqual({ command: "budget", words: [] });
  expect(read("budget", "raise", "tokens=+100k")).toEqual({
    command: "budget raise",
    words: ["tokens=+100k"],
  });

  expect(read("flow", "lint")).toEqual({ command: "flow lint", words: [] });
  expect(read("agents", "try", "scripted")).toEqual({ command: "agents try", words: ["scripted"] });
});

test("one word alone is no goal, however far from a command; several words, or `go`, are", () => {
  expect(read("statsu")).toBe("There is no command statsu. Did you mean status?");
  expect(read("$ARGUMENTS")).not.toContain("no command");
  expect(read("resum")).toBe("There is no command resum. Did you mean resume?");
  expect(read("refactor")).toBe("There is no command refactor.");
  expect(read("cancel")).toBe("There is no command cancel. Did you mean stop?");
  expect(read("version")).toBe("There is no command version. Did you mean --version?");
  expect(read("Ünwort")).toBe("There is no command Ünwort.");
  expect(read("fix it")).toEqual(goal("fix it"));
  expect(read("statsu", "bar")).toEqual(goal("statsu", "bar"));
  expect(read("Statsu")).toBe("There is no command Statsu. Did you mean status?");
  expect(read("--", "statsu")).toEqual(goal("statsu"));
  expect(read("go", "statsu")).toEqual(goal("statsu"));
  expect(read("--yes", "status")).toBe("Put the command first: autopilot status …");
});

test("after -- everything is words", () => {
  expect(read("--", "stop", "--json")).toEqual(goal("stop", "--json"));
  expect(read("go", "--yes", "--", "--force", "it")).toEqual(goal("--force", "it"));
});

test("names kept for later are refused, not taken for a goal", () => {
  expect(read("hub", "all")).toBe("`hub` is not part of this version.");
  expect(read("--json", "hub")).toBe("`hub` is not part of this version.");
  expect(read("go", "portfolio", "all")).toEqual(goal("portfolio", "all"));
});

const wrongs: readonly (readonly [readonly string[], string])[] = [
  [["status", "--jsn"], "Unknown flag --jsn. Did you mean --json?"],
  [["go", "--max-cycle", "3"], "Unknown flag --max-cycle. Did you mean --max-cycles?"],
  [["go", "-x"], "Unknown flag -x."],
  [["go", "-hV"], "Unknown flag -hV."],
  [["go", "--max-cycles"], "--max-cycles needs a value."],
  [["go", "--goal", "--json"], "--goal needs a value; if it is --json, write --goal=--json."],
  [["go", "--goal="], "--goal needs a value."],
  [["go", "--max-cycles", "0"], "--max-cycles is a whole number of at least 1, not 0."],
  [["go", "--max-cycles", "-1"], "--max-cycles is a whole number of at least 1, not -1."],
  [["go", "--max-cycles", "1e3"], "--max-cycles is a whole number of at least 1, not 1e3."],
  [
    ["go", "--max-cycles", "1000000000"],
    "--max-cycles is a whole number of at most nine digits, not 1000000000.",
  ],
  [["go", "--max-cycles=2.5"], "--max-cycles is a whole number of at least 1, not 2.5."],
  [["dashboard", "--port", "70000"], "--port is a whole number from 1 to 65535, not 70000."],
  [
    ["start", "x", "--risk-level", "hig"],
    "--risk-level is one of low, medium, high, not hig. Did you mean high?",
  ],
  [["start", "x", "--option", "depth"], "--option is NAME=VALUE, not depth."],
  [["go", "--goal", "a", "--goal", "b"], "--goal is given twice."],
  [["pause", "--now=yes"], "--now takes no value."],
  [["log", "--jsonl", "--json"], "--jsonl and --json do not go together."],
  [["ack"], "autopilot ack needs ID: the preview's id"],
  [["stop", "the", "flaky", "test"], "autopilot stop takes no words, but 3 came: the flaky test"],
  [["flow", "lnt"], "autopilot flow takes no words, but 1 came: lnt. Did you mean lint?"],
  [["ack", "a", "b"], "autopilot ack takes at most 1, but 2 came: a b"],
  [["completions", "tcsh"], "SHELL is one of bash, zsh, fish, not tcsh."],
  [
    ["doctor", "--run", "run-1"],
    "autopilot doctor is not about one run, so --run means nothing here.",
  ],
];
for (const [argv, says] of wrongs) {
  test(`autopilot ${argv.join(" ")}: ${says}`, () => {
    expect(read(...argv)).toBe(says);
  });
}

test("help is given for a command line that is otherwise wrong", () => {
  expect(read("ack", "--help")).toEqual({ command: "ack", words: [] });
});

test("every spec can be parsed: names are unique, a word that may be missing is never before one that must not", () => {
  expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
  for (const { flags, arguments: words, name } of commands) {
    expect(new Set(flags.map((flag) => flag.name)).size, name).toBe(flags.length);
    expect(
      words
        .slice(0, -1)
        .some(({ isRepeatable, isOptional }) => isRepeatable === true || isOptional === true),
      name,
    ).toBe(false);

    for (const flag of flags) {
      expect(flag.kind === "enum", `${name} --${flag.name}`).toBe(flag.values !== undefined);
    }
  }
});

describe("a wrong value for any flag of any command is a misuse", () => {
  const wrongFor = ({ kind, min = 0, form }: FlagSpec): readonly string[] => {
    if (kind === "number") return ["many", "-1", "1.5", "1e3", "", String(min - 1), "9999999999"];
    if (kind === "enum") return ["no-such-word", "", "NONE "];
    return form === undefined ? [""] : ["no such form", ""];
  };

  const cases = commands.flatMap((command) =>
    command.flags.map((flag) => [command.name, flag] as const),
  );
  test.each(cases.map(([command, flag]) => [command, flag.name, flag] as const))(
    "%s --%s",
    (command, name, flag) => {
      const values = flag.kind === "flag" ? ["yes"] : wrongFor(flag);
      for (const value of values) {
        expect(
          parseCommandLine([...command.split(" "), `--${name}=${value}`], commands),
        ).toHaveProperty("misuse");
      }
    },
  );

  test("there are such flags of every kind", () => {
    expect(new Set(cases.map(([, { kind }]) => kind))).toEqual(
      new Set(["flag", "text", "number", "enum"]),
    );
  });
});
