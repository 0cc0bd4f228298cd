// error-branches: finds out whether a branch ends in an error that whoever meets it is told of. Such
// a branch cannot give a wrong answer, and few tests ask for it. Goes by words of the languages: a
// list. Pure.

import { findOutsideBrackets } from "../source-text/brackets.ts";

/** How a statement begins that ends in an error. A message alone is none: what follows may be wrong. */
const errorStatement =
  /^\s*(?:else\s+)?(?:throw\b|raise\b|panic!?\s*\(|unreachable!|todo!|unimplemented!|bail!|ensure!|Err\(|return\s+(?:Err\(|Promise\.reject\b|reject\(|(?:[\w.]+\s*,\s*)*(?:err\b|\w*Err\b|fmt\.Errorf|errors\.\w)|-1\b|NULL\b)|reject\(|next\(\s*(?:new\s|err)|(?:process|sys|os|std::process|System)(?:\.|::)_?exit\b|_?exit\s*\(|abort\s*\(|process\.exitCode\s*=|log\.Fatal|die\b|croak\b|parser\.error\b)/;

const message =
  /^\s*(?:console\.(?:error|warn)\b|process\.stderr\b|sys\.stderr\b|print\([^\n]*file=|fprintf\(\s*stderr|perror\(|eprintln!|System\.err\b|(?:log|logger|logging|slog)\.(?:error|warn\w*|exception|critical)\b)/;
/** `return 2;` behind a message: the exit code of a program. */
const exitCodeReturned = /^\s*return\s+[1-9]\d*\s*$/;

/** `code`: the code of a branch without comments and strings, and without the braces around it. */
export function endsInError(code: string): boolean {
  let hasMessage = false;
  for (let from = 0; from < code.length;) {
    const to = findOutsideBrackets(
      code,
      from,
      code.length,
      (letter) => letter === ";" || letter === "\n",
    );
    const statement = code.slice(from, to);
    if (errorStatement.test(statement) || (hasMessage && exitCodeReturned.test(statement))) {
      return true;
    }

    hasMessage ||= message.test(statement);
    from = to + 1;
  }

  return false;
}
