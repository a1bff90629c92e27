import { batch, signal as createSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ACTIONS, type ActionName, type Replies } from './actions.js';
import { type ApiError, type CallOptions, call } from './call.js';

/** The state of a query: its last result, and the error of the last request. */
export interface QueryState<T> {
  readonly data: T | undefined;
  readonly revision: number | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
}

/** A read whose result the page caches: one request, or several that give one result. */
export interface Query<T> {
  /** The action that it calls. An invalidation names actions. */
  readonly action: ActionName;
  /** Queries with the same action and parameters share one result. */
  readonly parameters: unknown;
  readonly read: (options: ReadOptions<T>) => Promise<{ readonly data: T; readonly revision?: number | undefined }>;
  /** Reads only these flags again, in place of everything. */
  readonly readFlags?: (known: T, flags: readonly string[], signal: AbortSignal) => Promise<T>;
}

export interface ReadOptions<T> {
  readonly signal: AbortSignal;
  /** Shows a part of the result before the rest arrives, unless an earlier result is shown. */
  readonly show: (part: T) => void;
}

interface Resource<T> {
  readonly state: Signal<QueryState<T>>;
  readonly action: ActionName;
  readonly canReadFlags: boolean;
  /** @param flags the flags that have changed; undefined: anything may have changed */
  readonly load: (flags?: readonly string[]) => Promise<void>;
  /** The last read. */
  running: Promise<void> | undefined;
  /** Aborts the running request, because no component uses its result. */
  readonly abort: () => void;
  users: number;
  isStale: boolean;
}

/** The one cache of the page. */
const resources = new Map<string, Resource<unknown>>();
/** The number of unused results to keep for the browser's Back button. */
const MAX_UNUSED = 50;

const IDLE: QueryState<never> = { data: undefined, revision: undefined, error: undefined, isLoading: false };

/** Reads an action's reply and keeps it current. With `undefined` as options it waits. */
export function useResource<A extends ActionName>(action: A, options: CallOptions | undefined): QueryState<Replies[A]> {
  return useQuery(options && requestOf(action, options));
}

/** Reads a query and keeps its result current. With `undefined` it waits. */
export function useQuery<T>(query: Query<T> | undefined): QueryState<T> {
  const resource = query && resourceOf(query);
  useEffect(() => {
    if (resource === undefined) return;
    resource.users++;
    if (resource.isStale) void resource.load();
    return () => {
      resource.users--;
      if (resource.users === 0) resource.abort();
      removeUnused();
    };
  }, [resource]);
  return resource?.state.value ?? IDLE;
}

/** A result that may be older than its query. */
export interface Latest<T> extends QueryState<T> {
  /** Whether the data is the result of the former query. */
  readonly isFormer: boolean;
  /** Whether the data is the result of this query, and no newer one is being read. */
  readonly isCurrent: boolean;
}

/** Like `useQuery`, and shows the result of the former query until the new one has its own. */
export function useLatest<T>(query: Query<T> | undefined): Latest<T> {
  const loaded = useQuery(query);
  const latest = useRef<T | undefined>(undefined);
  if (query === undefined) latest.current = undefined;
  else if (loaded.data !== undefined || loaded.error) latest.current = loaded.data;
  return {
    ...loaded,
    data: latest.current,
    isFormer: loaded.data === undefined && latest.current !== undefined,
    isCurrent: loaded.data !== undefined && !loaded.isLoading,
  };
}

/** Returns the cached reply of an action, outside of components. Reads it if it is missing or out of date. */
export function lookUp<A extends ActionName>(action: A, options: CallOptions): QueryState<Replies[A]> {
  const resource = resourceOf(requestOf(action, options));
  // The last use is unknown outside of components, so the reply stays in use.
  resource.users ||= 1;
  if (resource.isStale) queueMicrotask(() => resource.isStale && void resource.load());
  return resource.state.value;
}

/** Returns an action's reply, from the cache while it is current. Rejects with the `ApiError`. */
export async function fetchResource<A extends ActionName>(action: A, options: CallOptions): Promise<Replies[A]> {
  const resource = resourceOf(requestOf(action, options));
  if (resource.isStale) void resource.load();
  await resource.running;
  const { data, error } = resource.state.peek();
  if (data === undefined) throw error;
  return data;
}

/** The query of one request. */
export function requestOf<A extends ActionName>(action: A, options: CallOptions): Query<Replies[A]> {
  return { action, parameters: options, read: ({ signal }) => call(action, { ...options, signal }) };
}

function resourceOf<T>(query: Query<T>): Resource<T> {
  const key = JSON.stringify([query.action, query.parameters]);
  const known = resources.get(key) as Resource<T> | undefined;
  if (known !== undefined) return known;
  const resource = createResource(query);
  resources.set(key, resource as Resource<unknown>);
  return resource;
}

function createResource<T>({ action, read, readFlags }: Query<T>): Resource<T> {
  const state = createSignal<QueryState<T>>({ ...IDLE, isLoading: true });
  let latest = new AbortController();
  let isComplete = false;

  async function readNow(signal: AbortSignal, flags: readonly string[] | undefined) {
    const { data, revision } = state.peek();
    if (flags && readFlags && isComplete && data !== undefined)
      return { data: await readFlags(data, flags, signal), revision };
    const show = (part: T) => {
      if (!isComplete && !signal.aborted) state.value = { ...IDLE, data: part, isLoading: true };
    };
    return read({ signal, show });
  }

  const resource: Resource<T> = {
    state,
    action,
    canReadFlags: readFlags !== undefined,
    users: 0,
    isStale: true,
    running: undefined,
    load(flags) {
      // The aborted read may have included other flags, so this one reads everything.
      const changed = state.peek().isLoading ? undefined : flags;
      latest.abort();
      latest = new AbortController();
      const { signal } = latest;
      resource.isStale = false;
      state.value = { ...state.peek(), isLoading: true };
      resource.running = readNow(signal, changed).then(
        ({ data, revision }) => {
          if (signal.aborted) return;
          isComplete = true;
          state.value = { data, revision, error: undefined, isLoading: false };
        },
        (error: ApiError) => {
          if (signal.aborted) return;
          const failure = Object.assign(error, { retry: () => resource.load() });
          state.value = { ...state.peek(), error: failure, isLoading: false };
        },
      );
      return resource.running;
    },
    abort() {
      if (!state.peek().isLoading) return;
      latest.abort();
      resource.isStale = true;
    },
  };
  return resource;
}

/**
 * Invalidates all replies after a change. Reloads visible ones at once, and the others on demand. Resolves when the
 * changed flags have been read.
 *
 * @param flags the flags that have changed; undefined: anything may have changed
 */
export async function invalidateAfterChange(flags?: readonly string[]): Promise<void> {
  await reload(({ action }) => ACTIONS[action][2] !== 'unreported', flags);
}

/** Aborts the reads of some actions that are running. They are read again on demand, or after the next invalidation. */
export function abortReads(...actions: readonly ActionName[]): void {
  for (const resource of resources.values()) if (actions.includes(resource.action)) resource.abort();
}

/** Reads the replies of some actions again. */
export function invalidate(...actions: readonly ActionName[]): void {
  void reload(({ action }) => actions.includes(action));
}

async function reload(isAffected: (resource: Resource<unknown>) => boolean, flags?: readonly string[]): Promise<void> {
  const reading: Promise<void>[] = [];
  batch(() => {
    for (const resource of resources.values()) {
      if (!isAffected(resource)) continue;
      resource.isStale = true;
      if (resource.users === 0) continue;
      void resource.load(flags);
      if (flags && resource.canReadFlags) reading.push(readNewest(resource));
    }
  });
  await Promise.all(reading);
}

/** Waits for the newest read: an event of the change may start another one, which aborts the first. */
async function readNewest(resource: Resource<unknown>): Promise<void> {
  for (let read: Promise<void> | undefined; read !== resource.running; ) {
    read = resource.running;
    await read;
  }
}

function removeUnused(): void {
  const unused = [...resources].filter(([, { users }]) => users === 0);
  for (const [key] of unused.slice(0, Math.max(0, unused.length - MAX_UNUSED))) resources.delete(key);
}

/** Deletes the cached replies of a caller whose access has ended. */
export function forgetReplies(): void {
  for (const [key, { action }] of resources) if (action !== 'getSession') resources.delete(key);
}
