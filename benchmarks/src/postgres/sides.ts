/** What to do, and how often; the answer comes when it is done. */
export interface Task {
  readonly side: Side;
  readonly operation: Operation;
  readonly calls: number;
}

/** The engine; the same where it neither hears of other nodes' changes nor looks for them; the same transactions by hand. */
export const SIDES = ['engine', 'unfollowing', 'driver'] as const;

export type Side = (typeof SIDES)[number];

export type Operation = 'create a flag' | 'switch a flag on or off' | 'read a flag' | 'report metrics';

/** Where a side has its tables. */
export function schemaOf(schema: string, side: Side): string {
  return side === 'engine' ? schema : `${schema}_${side}`;
}
