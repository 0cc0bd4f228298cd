// mutate-work: changes the work's own functions to return something else (mutations.ts).

import { isProgramText, findProtectionRow } from "../../protected/kinds.ts";
import { readChanged, type ChangeFiles, type ChangedFile } from "./question-context.ts";
import { mutateFunctions, type MutatedFunctions } from "./mutations.ts";

/**
 * The work's own functions, as its tests call them, changed to return something else; null if there
 * are none.
 */
export async function mutateWork(
  files: Pick<ChangeFiles, "differences" | "lab">,
  nonce: string,
): Promise<MutatedFunctions | null> {
  const texts = await readChanged(files, isProgramText);
  const isOfTests = ({ path }: ChangedFile): boolean => findProtectionRow(path)?.kind === "test";
  const isInside = ({ path }: ChangedFile): boolean =>
    findProtectionRow(path)?.part === "rust_source";

  return mutateFunctions(
    texts.filter((file) => !isOfTests(file) || isInside(file)),
    texts.filter(isOfTests),
    nonce,
  );
}
