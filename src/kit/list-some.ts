// list-some: shortens a list of names for one sentence.

/** The first `shownMax` names and the number of the others: `a, b and 3 more`. */
export function listSome(names: readonly string[], shownMax: number): string {
  const shownNames = names.slice(0, shownMax).join(", ");
  return names.length > shownMax ? `${shownNames} and ${names.length - shownMax} more` : shownNames;
}
