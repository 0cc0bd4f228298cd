// Loaded before the product: the wall clock of this process is off by CLOCK_SHIFT_MS. Monotonic time is left alone, as the kernel would.
const shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? "0");
const RealDate = Date;
const now = () => RealDate.now() + shiftMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
});
