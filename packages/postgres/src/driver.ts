/**
 * What the library needs of a `pg` pool, typed by its structure: this package does not depend on the driver, and the
 * host passes the pool that it already has.
 */
export interface PgPool {
  query(query: PgQuery): Promise<PgResult>;
  connect(): Promise<PgClient>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Heard of before the promise that `connect` has given. */
  on(event: 'connect', listener: (client: PgClient) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'connect', listener: (client: PgClient) => void): unknown;
  end(): Promise<unknown>;
  readonly options?: { readonly max?: number };
}

/** A client of a {@link PgPool}, for one who has taken it out. */
export interface PgClient {
  query(query: PgQuery): Promise<PgResult>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: PgNotification) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** Lets the process end although the connection is open. */
  unref?(): void;
  /** Gives the client back; with an error or true it is thrown away. */
  release(error?: Error | boolean): unknown;
}

export interface PgNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

export interface PgQuery {
  readonly text: string;
  readonly values?: unknown[];
  /** Reads the values of the answer, in place of the parsers that the host may have set for its whole process. */
  readonly types?: { readonly getTypeParser: () => (value: string) => unknown };
}

export interface PgResult {
  readonly rows: unknown[];
  readonly rowCount: number | null;
}
