// campaign-deal: what a campaign plays, by its seed: projects with tasks that depend on each other,
// fail, ask, conflict in text or only together.
//
// Every agent of it is a shell script that looks at what is there, so that it does the same however
// often it is killed and begun again.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { taskResult } from "../support/task-result.ts";
import { dice } from "../support/dice.ts";

export type Kind = "plain" | "fails_once" | "fails" | "asks" | "textual" | "semantic";
export type DealtTask = {
  readonly key: string;
  readonly project: string;
  readonly kind: Kind;
  readonly after: readonly string[];
  /** Where it must end: what depends on a task that fails for good stays ready. */
  readonly ends: "done" | "needs_adjustment" | "ready";
};

/** What keeps a branch green: no two halves of a pair without a peace between them. */
export const checkScript = `for a in pair-*-a.txt; do
  [ -f "$a" ] || continue
  k=\${a#pair-}; k=\${k%-a.txt}
  [ -f "pair-$k-b.txt" ] || continue
  [ -f "peace-$k-a.txt" ] || [ -f "peace-$k-b.txt" ] || { echo "pair $k is at war"; exit 1; }
done
`;
export const sharedFile = (key: string): string => `shared-${key}.txt`;
export const colleagueName = (key: string): string => `colleague on ${key}`;

/** Files that a project's repository begins with. */
export const filesOf = (
  tasks: readonly DealtTask[],
  project: string,
): Readonly<Record<string, string>> => ({
  "check.sh": checkScript,
  ...Object.fromEntries(
    tasks
      .filter((task) => task.project === project && task.kind === "textual")
      .map(({ key }) => [sharedFile(key), "base\n"]),
  ),
});

const kindFor = (die: number): Kind =>
  die < 5
    ? "fails"
    : die < 10
      ? "fails_once"
      : die < 15
        ? "asks"
        : die < 20
          ? "textual"
          : die < 25
            ? "semantic"
            : "plain";

/**
 * One in ten fails, half of them for good; one in twenty asks; one in twenty conflicts in its text,
 * one in twenty only with another.
 */
export function deal(
  seed: number,
  size: { readonly projects: number; readonly tasks: number },
  kinds: readonly Kind[] = [],
): readonly DealtTask[] {
  const roll = dice(seed);
  const tasks: DealtTask[] = [];

  for (let p = 0; p < size.projects; p++) {
    const project = `P${p}`;
    const own: DealtTask[] = [];
    for (let t = 0; own.length < size.tasks; t++) {
      const kind = kinds[tasks.length + own.length] ?? kindFor(roll(100));
      const after = own.length > 0 && roll(100) < 30 ? [own[roll(own.length)]?.key ?? ""] : [];
      const isHeld = own.some((one) => after.includes(one.key) && one.ends !== "done");
      const ends = isHeld ? "ready" : kind === "fails" ? "needs_adjustment" : "done";
      const key = `p${p}t${t}`;

      if (kind === "semantic") {
        if (own.length + 2 > size.tasks) continue;
        own.push(
          { key: `${key}-a`, project, kind, after, ends },
          { key: `${key}-b`, project, kind, after, ends },
        );
      } else {
        own.push({ key, project, kind, after, ends });
      }
    }

    tasks.push(...own);
  }

  return tasks;
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** What the agent of a task does, as a shell script; what it may change; what proves it. */
function workOf(
  task: DealtTask,
  notes: string,
): { script: string; touches: readonly string[]; proof: string } {
  const { key, kind } = task;
  const made = `${key}.txt`;
  const writes = `printf 'made ${key}\\n' > ${made}`;
  const after = task.after.map((one) => `test -f ${one}.txt && `).join("");

  const plain = {
    script: writes,
    touches: [made],
    proof: `${after}test -f ${made} && sh check.sh`,
  };

  if (kind === "fails") return { ...plain, script: "true" };
  if (kind === "fails_once") {
    const first = quoted(join(notes, `${key}.first`));
    return {
      ...plain,
      script: `test -f ${first} || echo "$AUTOPILOT_RUN" > ${first}\ntest "$(cat ${first})" = "$AUTOPILOT_RUN" || ${writes}`,
    };
  }

  if (kind === "semantic") {
    const [pair, half] = [key.slice(0, -2), key.slice(-1)];
    const other = half === "a" ? "b" : "a";
    const script = `${writes}\nprintf '${key}\\n' > pair-${pair}-${half}.txt\ntest ! -f pair-${pair}-${other}.txt || printf 'peace\\n' > peace-${pair}-${half}.txt`;

    return {
      script,
      touches: [made, `pair-${pair}-${half}.txt`, `peace-${pair}-${half}.txt`],
      proof: `${after}test -f ${made} && test -f pair-${pair}-${half}.txt && sh check.sh`,
    };
  }

  if (kind === "textual") {
    const file = sharedFile(key);
    return {
      script: [
        writes,
        `if grep -q theirs ${file}; then printf 'theirs\\nmine\\n' > ${file}; else printf 'mine\\n' > ${file}; fi`,
        `sh ${quoted(join(notes, `${key}.colleague.sh`))}`,
      ].join("\n"),
      touches: [made, file],
      proof: `${after}test -f ${made} && grep -q mine ${file} && sh check.sh`,
    };
  }

  return plain;
}

/**
 * Somebody else commits to the same file while the task is worked on: once, past every working
 * tree.
 */
const colleague = (
  key: string,
  notes: string,
  repository: string,
): string => `mkdir ${quoted(join(notes, `${key}.met`))} 2>/dev/null || exit 0
cd ${quoted(repository)} || exit 0
unset GIT_DIR GIT_WORK_TREE
export GIT_AUTHOR_NAME=C GIT_AUTHOR_EMAIL=c@example.invalid GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.invalid
for try in 1 2 3 4 5 6 7 8 9; do
  tip=$(git rev-parse refs/heads/main) || exit 0
  export GIT_INDEX_FILE=${quoted(join(notes, `${key}.index`))}
  git read-tree "$tip" && blob=$(printf 'theirs\\n' | git hash-object -w --stdin) || continue
  git update-index --cacheinfo "100644,$blob,${sharedFile(key)}" || continue
  commit=$(git commit-tree "$(git write-tree)" -p "$tip" -m ${quoted(colleagueName(key))}) || continue
  git update-ref refs/heads/main "$commit" "$tip" && exit 0
done
`;

/** Writes the agents' scripts, and gives the list that `portfolio import` takes. */
export function layOut(
  tasks: readonly DealtTask[],
  folder: string,
  repositories: Readonly<Record<string, string>>,
): object {
  const notes = join(folder, "notes");
  mkdirSync(notes, { recursive: true });

  const projects = Object.entries(repositories).map(([name, repo]) => ({
    name,
    repo,
    slots: 4,
    objective: "work",
  }));

  const rows = tasks.map((task) => {
    const repository = repositories[task.project] ?? "";
    const { script, touches, proof } = workOf(task, notes);

    if (task.kind === "textual") {
      writeFileSync(
        join(notes, `${task.key}.colleague.sh`),
        colleague(task.key, notes, repository),
      );
    }

    writeFileSync(join(notes, `${task.key}.sh`), `${script}\n`);
    const work = {
      repeat: 0,
      do: [
        { run: `sh ${quoted(join(notes, `${task.key}.sh`))}` },
        { say: "finished <promise>DONE</promise>" },
      ],
    };

    const asks = { when: { step: "execute" }, do: [{ ask: `How should ${task.key} be?` }] };
    const turns = [
      { when: { step: "report" }, repeat: 0, returns: taskResult },
      ...(task.kind === "asks" ? [asks] : []),
      work,
    ];

    const agent = join(notes, `${task.key}.agent.json`);
    writeFileSync(agent, JSON.stringify({ turns }));
    return {
      key: task.key,
      project: task.project,
      objective: `make ${task.key}`,
      accept: [`${task.key} :: ${proof}`],
      after: task.after,
      touches,
      agent: `scripted:${agent}`,
    };
  });

  return { projects, tasks: rows };
}
