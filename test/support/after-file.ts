// after-file: what a test file leaves to be done at its end. A worker serves many files and loads a
// helper once, so a hook of the helper's own would run for the first of them only; each-file.ts is
// set up anew for each.

const todo: (() => void | Promise<void>)[] = [];

/** Done when the file's tests are over, in this order. */
export const afterFile = (work: () => void | Promise<void>): void => void todo.push(work);

export async function endFile(): Promise<void> {
  for (const work of todo.splice(0)) await work();
}
