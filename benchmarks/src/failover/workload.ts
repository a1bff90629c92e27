/** What all nodes of a round share. Each pair of flags is only changed together. */
export const PAIRS: readonly (readonly [string, string])[] = [
  ['one-a', 'one-b'],
  ['two-a', 'two-b'],
  ['three-a', 'three-b'],
];
export const FLAGS: readonly string[] = PAIRS.flat();

/** Where a node stores flags. */
export type NodeStorage =
  | {
      readonly kind: 'postgres';
      readonly connectionString: string;
      readonly schema: string;
      readonly listen?: string;
    }
  | { readonly kind: 'sqlite'; readonly path: string };

export interface NodeOptions {
  readonly name: string;
  readonly storage: NodeStorage;
  /** The file of its log. */
  readonly log: string;
  readonly seed: number;
  /** The position that its subscriber starts after. */
  readonly after: string;
  /** Whether the clock of the engine jumps. */
  readonly hasJumpingClock: boolean;
}

/** Nanoseconds of the monotonic clock, which all processes of the machine share. */
export function monotonic(): number {
  return Number(process.hrtime.bigint());
}
