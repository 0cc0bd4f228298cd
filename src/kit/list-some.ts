// list-some: shortens a list of names for one sentence.

const shownMaxDefault = 3;

/** The first `shownMax` names and the number of the others: `a, b and 3 more`. */
export function listSome(names: readonly string[], shownMax = shownMaxDefault): string {
  const shownNames = names.slice(0, shownMax).join(", ");
  return names.length > shownMax ? `${shownNames} and ${names.length - shownMax} more` : shownNames;
}
