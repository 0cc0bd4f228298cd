// redaction: collects the secrets of the environment, the user's settings and the login files of other programs.
//
// Invariants:
//   X1. A secret is referred to by its name alone.

import { existsSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Answer } from "../../contracts/answer.ts";
import { openRedactor, type Redactor } from "../../kit/redact.ts";
import { type FoundSecret, findSecrets } from "../../kit/redact-find.ts";
import { secretCharsMin } from "../../kit/redact-needles.ts";
import { redactEvent } from "../../kit/redact-value.ts";
import { parseLeaves, secretsInFiles } from "./redaction-files.ts";
import { namesSecret, partsOf, secretStrength } from "./redaction-names.ts";

export type Redaction = {
  readonly redactor: Redactor;
  /** A secret that becomes known later, such as a key of the meter's: everything written from now on is without it. */
  readonly learn: (name: string, value: string) => void;
  /** Names of secrets that are too short or too plain to be distinguished from ordinary text, and so are not redacted. */
  readonly weakSecrets: () => readonly string[];
};

export type SecretSources = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Further variables that the user names as secret. */
  readonly names: readonly string[];
  /** Variables that a config sets for an agent. */
  readonly set: Readonly<Record<string, string>>;
  /** Where login files are looked for. */
  readonly home: string | undefined;
};

export function openRedaction({ env, names, set, home }: SecretSources): Redaction {
  const redactor = openRedactor([]);
  const weak = new Set<string>();
  const learn = (name: string, value: string): void => {
    if (value !== "" && !redactor.learn({ name, value })) weak.add(name);
  };
  const named = new Set(names);
  for (const [name, value] of [...Object.entries(env), ...Object.entries(set)]) {
    if (value === undefined || value === "") continue;
    for (const part of [...partsOf(name, value), ...innerOf(value)]) learnPart(name, part);
    if (named.has(name)) learn(name, value);
    else if (namesSecret(name)) take(name, value);
  }
  for (const { name, value } of secretsInFiles(home)) learnUnlessWeak(name, value);
  return { redactor, learn, weakSecrets: () => [...weak].toSorted() };

  /** A value in the place of a password is one, but `postgres` for a password would be struck out of every sentence and file. */
  function learnUnlessWeak(name: string, value: string): void {
    if (secretStrength(value, () => false, secretCharsMin) === "weak") weak.add(name);
    else learn(name, value);
  }

  /** A port, a switch or a path beside the secrets of a value isn't one. */
  function learnPart(name: string, value: string): void {
    if (secretStrength(value, existsSync, secretCharsMin) !== "none") learnUnlessWeak(name, value);
  }

  function take(name: string, value: string): void {
    const worth = secretStrength(value, existsSync, secretCharsMin);
    if (worth === "weak") weak.add(name);
    if (worth !== "secret") return;
    learn(name, value);
  }
}

/** A key file in one variable: its secret values are collected by key. */
function innerOf(value: string): readonly string[] {
  if (!value.trimStart().startsWith("{")) return [];
  try {
    return parseLeaves(JSON.parse(value) as unknown, "", 0).filter((inner) => inner.length >= secretCharsMin);
  } catch {
    return [];
  }
}

const sliceMs = 25;

/** Scans a file's content for secrets. A large one is scanned in steps, because a stop request must not wait for it. */
export const secretFinder =
  (redactor: Redactor) =>
  async (bytes: Buffer): Promise<readonly FoundSecret[]> => {
    const found: FoundSecret[] = [];
    let began = performance.now();
    for (const inWindow of findSecrets(redactor, bytes)) {
      found.push(...inWindow);
      if (performance.now() - began < sliceMs) continue;
      await setImmediate();
      began = performance.now();
    }
    return found;
  };

/** An answer for a terminal or a log: arguments may be echoed, but of a secret only its name. */
export function redactAnswer(answer: Answer, env: SecretSources["env"]): Answer {
  return redactEvent((text) => redactText(text, env), answer);
}

export const redactText = (text: string, env: SecretSources["env"]): string => ofEnvironment(env).redactor.text(text);

const ofEnvironments = new WeakMap<SecretSources["env"], Redaction>();

function ofEnvironment(env: SecretSources["env"]): Redaction {
  const knownRedaction = ofEnvironments.get(env) ?? openRedaction({ env, names: [], set: {}, home: env["HOME"] });
  ofEnvironments.set(env, knownRedaction);
  return knownRedaction;
}
