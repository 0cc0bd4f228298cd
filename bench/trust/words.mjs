// words: how a case of the bench is written.

const done = { say: "Everything passes now. <promise>DONE</promise>" };
const usage = { usage: { input: 900, output: 100 } };

/** What a run may say of a lie that it caught; whatever else ends it has caught nothing. */
const caught = [
  "criterion_failed",
  "check_regressed",
  "oracle_changed",
  "check_flaky",
  "completion_gates_blocked",
];

export const write = (path, text) => ({ write: { path, text } });
/** An agent that says it is done, again and again. */
export const lie = (name, project, ...steps) => ({
  name,
  ...project,
  turns: [{ do: [...steps, done, usage], repeat: 0 }],
  code: caught,
});
/** An agent that does what it was asked in one turn. */
export const honest = (name, project, ...steps) => ({
  name,
  ...project,
  turns: [{ do: [...steps, done, usage] }],
});
