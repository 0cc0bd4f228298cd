// redaction: collects the secrets of the environment, the user's settings and the login files of
// other programs. kit/redact.ts replaces them in a text; redacted-journal.ts, redacted-live-events.ts
// and context-redaction.ts write through it.
//
// Invariants:
//   X1. A secret is referred to by its name alone.

import { existsSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { openRedactor, type Redactor } from "../../kit/redact.ts";
import { type FoundSecret, findSecrets } from "../../kit/redact-find.ts";
import { secretCharsMin } from "../../kit/redact-needles.ts";
import { redactEvent } from "../../kit/redact-value.ts";
import { findSecretLeaves, readLoginFiles } from "./redaction-files.ts";
import { isSecretName, findSecretParts, judgeSecret } from "./redaction-names.ts";

export type Redaction = {
  readonly redactor: Redactor;
  /**
   * A secret that becomes known later, such as a key of the meter's: everything written from now on
   * is without it.
   */
  readonly learn: (name: string, value: string) => void;
  /**
   * Names of secrets that are too short or too plain to be distinguished from ordinary text, and so
   * are not redacted.
   */
  readonly weakSecrets: () => readonly string[];
};

export type SecretSources = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Further variables that the user names as secret. */
  readonly names: readonly string[];
  /** Variables that a config sets for an agent. */
  readonly agentEnv: Readonly<Record<string, string>>;
  /** Where login files are looked for. */
  readonly home: string | undefined;
};

export function openRedaction({ env, names, agentEnv, home }: SecretSources): Redaction {
  const redactor = openRedactor([]);
  const weakNames = new Set<string>();
  const learn = (name: string, value: string): void => {
    if (value !== "" && !redactor.learn({ name, value })) weakNames.add(name);
  };

  const userNames = new Set(names);
  for (const [name, value] of [...Object.entries(env), ...Object.entries(agentEnv)]) {
    if (value === undefined || value === "") continue;
    for (const part of [...findSecretParts(name, value), ...findKeyFileSecrets(value)]) {
      learnPart(name, part);
    }

    if (userNames.has(name)) learn(name, value);
    else if (isSecretName(name)) learnIfSecret(name, value);
  }

  for (const { name, value } of readLoginFiles(home)) learnUnlessWeak(name, value);
  return { redactor, learn, weakSecrets: () => [...weakNames].toSorted() };

  /**
   * A weak password, such as `postgres`, is not learned: it would be struck out of every sentence
   * and file.
   */
  function learnUnlessWeak(name: string, value: string): void {
    if (judgeSecret(value, () => false, secretCharsMin) === "weak") weakNames.add(name);
    else learn(name, value);
  }

  /** A port, a switch or a path inside a value isn't a secret. */
  function learnPart(name: string, value: string): void {
    if (judgeSecret(value, existsSync, secretCharsMin) !== "none") learnUnlessWeak(name, value);
  }

  function learnIfSecret(name: string, value: string): void {
    const strength = judgeSecret(value, existsSync, secretCharsMin);
    if (strength === "weak") weakNames.add(name);
    if (strength === "secret") learn(name, value);
  }
}

/** The secrets in a variable that holds a whole key file, as JSON. */
function findKeyFileSecrets(value: string): readonly string[] {
  if (!value.trimStart().startsWith("{")) return [];
  try {
    return findSecretLeaves(JSON.parse(value) as unknown, "", 0).filter(
      (inner) => inner.length >= secretCharsMin,
    );
  } catch {
    return [];
  }
}

/** The longest that scanning goes on before others get their turn. */
const sliceMs = 25;

/**
 * Scans a file's content for secrets. A large one is scanned in steps, because a stop request must
 * not wait for it.
 */
export const openSecretFinder =
  (redactor: Redactor) =>
  async (bytes: Buffer): Promise<readonly FoundSecret[]> => {
    const secrets: FoundSecret[] = [];
    let sliceStart = performance.now();

    for (const windowSecrets of findSecrets(redactor, bytes)) {
      secrets.push(...windowSecrets);
      if (performance.now() - sliceStart < sliceMs) continue;
      await setImmediate();
      sliceStart = performance.now();
    }

    return secrets;
  };

/** A response for a terminal or a log: arguments may be echoed, but of a secret only its name. */
export function redactResponse(
  response: CommandResponse,
  env: SecretSources["env"],
): CommandResponse {
  return redactEvent((text) => redactText(text, env), response);
}

export const redactText = (text: string, env: SecretSources["env"]): string =>
  getEnvironmentRedaction(env).redactor.text(text);

const environmentRedactions = new WeakMap<SecretSources["env"], Redaction>();

function getEnvironmentRedaction(env: SecretSources["env"]): Redaction {
  const redaction =
    environmentRedactions.get(env) ??
    openRedaction({ env, names: [], agentEnv: {}, home: env["HOME"] });
  environmentRedactions.set(env, redaction);
  return redaction;
}
