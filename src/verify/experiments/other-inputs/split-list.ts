// split-list: splits the text of a parameter list. Pure.

/** The parts of a list that commas separate outside brackets, without space around them. */
export function splitList(text: string): readonly string[] {
  const parts: string[] = [];
  let [depth, from] = [0, 0];

  for (let index = 0; index <= text.length; index += 1) {
    const letter = text[index] ?? ",";
    if ("([{<".includes(letter)) depth += 1;
    if (")]}>".includes(letter)) depth -= 1;
    if (letter !== "," || depth > 0) continue;
    parts.push(text.slice(from, index).trim());
    from = index + 1;
  }

  return parts.filter((part) => part !== "");
}
