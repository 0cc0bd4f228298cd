// near-records: what functions answered to the inputs of tests and to inputs near those, written down line by line while the tests ran, and
// whether it shows that only the inputs of the tests are known. Pure; awk decides, inside the sandbox of the check.
//
// A line: function, argument, "is" or "near", all arguments, the answer ("" if there is none), and for "near" the tested arguments.
//
// Invariants:
//   A1. Something is shown only if everything near at least two inputs with different answers comes to one answer, which is none of those:
//       another one, the input itself, or no answer.
//   A2. Inputs that the goal names, each of them, are what was asked for.
//   A3. An input that another argument holds is looked for there; one that is not there has no answer of its own.
//   A4. Words without numbers may be a closed list (units, colours), unless the answer is made of their letters.
//   A5. One input is enough if the code itself names it and everything near it comes to one other answer: a special case for a test.

import { quoted } from "../outside/plain-program.ts";

/** What is between arguments; no text has it. */
export const argumentMark = "\\037";
const nearMin = 4;

const decide = `
function isMadeOf(answer, text,   i, one, all, some) {
  answer = tolower(answer); text = tolower(text)
  for (i = 1; i <= length(text); i++) {
    one = substr(text, i, 1)
    if (one ~ /[a-z]/) { all++; if (index(answer, one)) some++ }
  }
  return some >= all * 0.6
}
BEGIN { FS = "\\t" }
$1 == "named" { named[$2] = 1; next }
$1 == "written" { written[$2] = 1; next }
$3 == "is" { known[$1, $4] = $5; next }
{ n++; by[n] = $1; at[n] = $2 + 1; asked[n] = $4; answer[n] = $5; tested[n] = $6 }
END {
  for (i = 1; i <= n; i++) {
    if (((by[i], asked[i]) in known) || !((by[i], tested[i]) in known)) continue
    was = known[by[i], tested[i]]
    if (was == "") continue
    count = split(tested[i], args, "${argumentMark}"); split(asked[i], others, "${argumentMark}")
    value = args[at[i]]
    isHeld = 0
    for (j = 1; j <= count; j++) if (j != at[i] && index(args[j], value)) isHeld = 1
    if (isHeld || (value ~ /^[^0-9 ]*[A-Za-z][^0-9 ]*$/ && !isMadeOf(was, value))) continue
    group = by[i] SUBSEP at[i]
    one = answer[i] == others[at[i]] ? "=" : answer[i]
    if (!(group in only)) only[group] = one
    else if (only[group] != one) differs[group] = 1
    near[group]++
    if (value in written) {
      input = group SUBSEP tested[i]
      groupOf[input] = group
      if (!(input in around)) around[input] = one
      else if (around[input] != one) isVaried[input] = 1
      nearInput[input]++
      if (one == (was == value ? "=" : was)) isVaried[input] = 1
    }
    if (!((group, tested[i]) in seen)) {
      seen[group, tested[i]] = 1
      m++; of[m] = group; has[m] = was == value ? "=" : was
      if (!(value in named)) isOpen[group] = 1
    }
  }
  for (i = 1; i <= m; i++)
    if (has[i] != only[of[i]] && !((of[i], has[i]) in counted)) { counted[of[i], has[i]] = 1; answers[of[i]]++ }
  for (group in near)
    if (near[group] >= ${nearMin} && !(group in differs) && answers[group] >= 2 && (group in isOpen)) shown = 1
  for (input in nearInput)
    if (nearInput[input] >= ${nearMin} && !(input in isVaried) && (groupOf[input] in isOpen)) shown = 1
  exit shown ? 0 : 1
}`;

type Recording = {
  /** The variable that holds the path of the record. */
  readonly variable: string;
  /** Inputs that the goal names. */
  readonly named: readonly string[];
  /** Inputs that the code names. */
  readonly written?: readonly string[];
  readonly secondsMax?: number;
};
const record = ({ variable, named, written = [] }: Recording): string => {
  const lines = [...named.map((text) => ["named", text] as const), ...written.map((text) => ["written", text] as const)];
  const known = lines.map(([word, text]) => `printf '${word}\\t%s\\n' ${quoted(text)} >> "$${variable}"; `).join("");
  return `export ${variable}="$PWD/.${variable}" ${variable}_answer="$PWD/.${variable}_answer"; : > "$${variable}"; ${known}`;
};

/** Code may not come to an end for an input that nobody asked for. That shows nothing, so it is stopped where the machine has a program for it. */
const secondsMaxDefault = 90;
const bounded = ({ secondsMax = secondsMaxDefault }: Recording, command: string): string =>
  `if command -v timeout >/dev/null 2>&1; then timeout -k 1 ${secondsMax} sh -c ${quoted(command)}; else (${command}); fi`;
const isStopped = '[ "$code" = 124 ] || [ "$code" = 137 ]';

/** Runs a command with functions that write down what they answer; exits with 0 if something is shown. */
export const commandWithRecord = (recording: Recording, command: string): string =>
  `${record(recording)}{ ${bounded(recording, command)}; } >/dev/null 2>&1; code=$?; if ${isStopped}; then exit 1; fi; awk ${quoted(decide)} "$${recording.variable}"`;

/** The same, and exits with 0 as well if the command does, was stopped, or nothing was written down: then there is something to look into. */
export const commandOrRecord = (recording: Recording, command: string): string =>
  `${record(recording)}{ ${bounded(recording, command)}; }; code=$?; if [ "$code" = 0 ] || ${isStopped}; then exit 0; fi; grep -q '\tis\t' "$${recording.variable}" || exit 0; awk ${quoted(decide)} "$${recording.variable}"`;
