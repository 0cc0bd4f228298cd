// tutorial-page: docs/TUTORIAL.md taken apart into what a reader does, in the order in which they
// do it: save a file, type a command.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { autopilot, compiled, program } from "../support/autopilot.ts";

export type Save = {
  readonly do: "save";
  readonly path: string;
  readonly text: string;
  readonly line: number;
};
export type Type = {
  readonly do: "type";
  readonly command: string;
  readonly answer: readonly string[];
  readonly exit: number;
  readonly line: number;
};
export type Doing = Save | Type;

export const page = readFileSync(resolve(import.meta.dirname, "../../docs/TUTORIAL.md"), "utf8");

type Block = {
  readonly language: string;
  readonly lines: readonly string[];
  readonly before: string;
  readonly line: number;
};

/** Every fenced block with the paragraph before it. */
function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { language: string; lines: string[]; line: number } | null = null;
  let before = "";

  for (const [at, line] of text.split("\n").entries()) {
    if (line.startsWith("```")) {
      if (open === null) {
        open = { language: line.slice(3).trim(), lines: [], line: at + 1 };
      } else {
        blocks.push({ ...open, before });
        open = null;
        before = "";
      }
    } else if (open !== null) {
      open.lines.push(line);
    } else if (line.trim() !== "") {
      before = line;
    }
  }

  return blocks;
}

/**
 * What the reader does. A block that is neither saved nor typed is only inspected, and must say so
 * by following neither form.
 */
export function doingsIn(text: string): readonly Doing[] {
  return blocksOf(text).flatMap(({ language, lines, before, line }): readonly Doing[] => {
    if (language === "console") return typedIn(lines, line);
    const path = /[Ss]ave this as `([^`]+)`:$/.exec(before)?.[1];
    return path === undefined ? [] : [{ do: "save", path, text: `${lines.join("\n")}\n`, line }];
  });
}

function typedIn(lines: readonly string[], from: number): readonly Type[] {
  const typed: { command: string; answer: string[]; exit: number; line: number }[] = [];
  for (const [at, line] of lines.entries()) {
    const last = typed.at(-1);
    const exit = /^\[exit (\d+)\]$/.exec(line)?.[1];

    if (line.startsWith("$ ")) {
      typed.push({ command: line.slice(2), answer: [], exit: 0, line: from + at + 1 });
    } else if (last === undefined) {
      throw new Error(`line ${from + at + 1} of the page answers no command`);
    } else if (exit !== undefined) {
      last.exit = Number(exit);
    } else if (line.trim() !== "") {
      last.answer.push(line.trim());
    }
  }

  return typed.map((one) => ({ do: "type", ...one }));
}

type Typed = { readonly shown: string; readonly code: number | null };

/**
 * A reader: someone with a shell, the installed program, and their own agent, which here is the
 * embedded one.
 */
export class Reader {
  #cwd: string;
  readonly #env: Record<string, string>;

  constructor(folder: string) {
    this.#cwd = join(folder, "work");
    const [bin, home] = [join(folder, "bin"), join(folder, "home")];
    for (const one of [this.#cwd, bin, home]) mkdirSync(one, { recursive: true });
    writeFileSync(
      join(bin, "autopilot"),
      `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`,
    );

    chmodSync(join(bin, "autopilot"), 0o755);
    const agent = join(folder, "own-agent.json");
    this.#env = {
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      HOME: home,
      USER: "reader",
      LANG: "C.UTF-8",
      GIT_CONFIG_NOSYSTEM: "1",
      AUTOPILOT_ISOLATION: "clone",
      AUTOPILOT_ON_LIMIT: "never",
      AUTOPILOT_AGENT: `scripted:${agent}`,
      ...compiled,
    };

    this.ownAgent = agent;
  }

  /** Where the script of the reader's own agent lies. */
  readonly ownAgent: string;

  get folder(): string {
    return this.#cwd;
  }

  save({ path, text }: Save): void {
    const file = join(this.#cwd, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /**
   * What the terminal shows, and how the command ended. A command of the program alone needs no
   * process of its own, only its words.
   */
  async type(command: string): Promise<Typed> {
    if (!/^autopilot [^|&;$<>]*$/.test(command)) return this.#inShell(command);
    const { shown } = this.#inShell(command.replace("autopilot", String.raw`printf '%s\0'`));
    const { code, out, err } = await autopilot(this.#cwd, shown.split("\0").slice(0, -1), {
      env: this.#env,
    });

    return { shown: `${err}\n${out}`, code };
  }

  #inShell(command: string): Typed {
    const where = join(this.#env["HOME"] ?? "", "where");
    const { stdout, status } = spawnSync(
      "bash",
      ["-c", `exec 2>&1\n${command}\ncode=$?\npwd > "${where}"\nexit $code`],
      {
        cwd: this.#cwd,
        env: this.#env,
        encoding: "utf8",
      },
    );

    this.#cwd = readFileSync(where, "utf8").trim();
    return { shown: stdout, code: status };
  }
}

/**
 * The first line of an answer that was not shown, in order; null if all were. `…` stands for
 * anything.
 */
export function missingIn(shown: string, answer: readonly string[]): string | null {
  const lines = shown.split("\n").map((line) => line.trim());
  let at = 0;

  for (const wanted of answer) {
    const pattern = new RegExp(`(?:^|\\s)${wanted.split("…").map(literal).join(".*")}$`);
    const found = lines.findIndex((line, n) => n >= at && pattern.test(line));
    if (found < 0) return wanted;
    at = found + 1;
  }

  return null;
}

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
