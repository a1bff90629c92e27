import type { Manner } from './manners.js';

/** The role of the users of many admin tokens. */
export type Role = 'viewer' | 'editor';

/** One request of the table, or several that are measured together. */
export interface BudgetRow {
  readonly name: string;
  /** Each request has another admin token, of a user with this role. */
  readonly role?: Role;
  /** How the client behaves. Default: it sends one request, and reads the whole answer at once. */
  readonly manner?: Manner;
  /** The bodies are sent as brotli. */
  readonly isPacked?: true;
  /** Requests of several kinds, which take turns. The route is that of the first one. */
  readonly mix?: readonly MixedRequest[];
  /** With its parameters and query; the route's path with `PARAMETERS` when absent. */
  readonly path?: string | ((round: number) => string);
  /** Created when it is sent, because all bodies together are large. */
  readonly body?: (round: number) => string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The number of repetitions. Default: 1. */
  readonly times?: number;
  /** Sent with an admin token that has no permission. */
  readonly isStranger?: boolean;
  /**
   * All are sent at once, each with an admin token of its own. The gate may answer some of them 503 `overloaded` with
   * `Retry-After`.
   */
  readonly isAtOnce?: true;
  /** All are sent at once, with one token, or with those of a role. */
  readonly isTogether?: true;
  /** Takes many seconds: only the full form sends it. */
  readonly isLong?: true;
  /** Must succeed: a refused row would measure nothing. */
  readonly isGranted?: boolean;
  /** Sent before it, with the admin token; their results are ignored. */
  readonly before?: readonly Preparation[];
  readonly after?: readonly Preparation[];
  /** Advances the clock by this many milliseconds before it. */
  readonly advance?: number;
}

/** A request of a mixed row. */
export interface MixedRequest extends Pick<BudgetRow, 'role' | 'body' | 'headers'> {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string | ((round: number) => string);
  /** Default: that of the row. */
  readonly kind?: 'client' | 'frontend';
}

export interface Preparation {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: () => string;
}

/** The default parameters of paths. */
const PARAMETERS: Readonly<Record<string, string>> = {
  projectId: 'default',
  featureName: 'flag-00010',
  environment: 'production',
  strategyId: '00000000-0000-4000-8000-000000000010',
  parentName: 'flag-00021',
  userId: '3',
  roleId: '5',
  segmentId: '1',
  appName: 'service-0',
  token: 'unknown',
  key: 'largest',
  name: 'flexibleRollout',
};

/** Fills the parameters of a route's path. */
export function pathOf(path: string, parameters: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => parameters[name] ?? PARAMETERS[name] ?? 'unknown');
}

/** The numbers of requests that come together. */
const TOGETHER = [24, 64] as const;
/** The short form sends the smaller number only. */
export const together = (row: BudgetRow): readonly BudgetRow[] =>
  TOGETHER.map((times) => ({
    ...row,
    name: `${times} together: ${row.name}`,
    times,
    isTogether: true,
    ...(times > 24 && { isLong: true }),
  }));
