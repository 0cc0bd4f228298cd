// quantity: reads and writes amounts as people write them: `250k`, `1.5M`, `45`.

const suffixes: Readonly<Record<string, number>> = {
  "": 1,
  k: 1_000,
  K: 1_000,
  m: 1_000_000,
  M: 1_000_000,
};
const amountMax = 1e12;

/**
 * The amount, or null if the text is none. Only plain decimals: no hexadecimal, no exponent, no
 * sign.
 */
export function readQuantity(text: string): number | null {
  const match = /^(\d{1,15}(?:\.\d{1,9})?)([kKmM]?)$/.exec(text.trim().replaceAll("_", ""));
  const [digits, suffix] = [match?.[1], match?.[2]];
  if (digits === undefined || suffix === undefined) return null;
  // Rounded to nine places, so that 0.7M is 700000 and not 699999.9999999999.
  const amount = Math.round(Number(digits) * (suffixes[suffix] ?? 1) * 1e9) / 1e9;

  return Number.isFinite(amount) && amount <= amountMax ? amount : null;
}

/**
 * A sum without the rounding errors of binary fractions: 0.4 and 0.8 are 1.2, not
 * 1.2000000000000002.
 */
export const exactSum = (...amounts: readonly number[]): number =>
  Math.round(amounts.reduce((sum, amount) => sum + amount, 0) * 1e9) / 1e9;

/** The amount with the largest suffix that keeps it exact: 250000 is `250k`. */
export function quantityText(amount: number): string {
  if (amount >= 1_000_000 && amount % 100_000 === 0) return `${amount / 1_000_000}M`;
  if (amount >= 1_000 && amount % 100 === 0) return `${amount / 1_000}k`;
  return String(amount);
}
