/**
 * The value for this run of the fault tests: `full` under `npm run test:faults`, else `short`.
 *
 * @example
 * const ROUNDS = extent({ short: 5, full: 100 });
 */
export function extent<T>({ short, full }: { readonly short: T; readonly full: T }): T {
  return process.env.FLAGS_FAULTS === 'full' ? full : short;
}
