import { batch, signal as createSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ActionName, Replies } from './actions.js';
import { type ApiError, type CallOptions, call } from './call.js';

/** What the page knows of one reply: the last one that arrived, and what became of the last request. */
export interface Loaded<T> {
  readonly data: T | undefined;
  readonly revision: number | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
}

interface Resource<T> {
  readonly state: { value: Loaded<T> };
  readonly load: () => Promise<void>;
  /** Ends the running request, whose reply nobody will see. */
  readonly abort: () => void;
  users: number;
  isStale: boolean;
}

const resources = new Map<string, Resource<unknown>>();
/** Unused replies that are kept for the way back. */
const KEPT = 50;

/** Reads an action's reply and keeps it current. With `undefined` as options it waits. */
export function useResource<A extends ActionName>(action: A, options: CallOptions | undefined): Loaded<Replies[A]> {
  const key = options === undefined ? '' : keyOf(action, options);
  const resource = options === undefined ? undefined : resourceOf<A>(key, action, options);
  useEffect(() => {
    if (resource === undefined) return;
    resource.users++;
    if (resource.isStale) void resource.load();
    return () => {
      resource.users--;
      if (resource.users === 0) resource.abort();
      removeUnused();
    };
  }, [key]);
  return resource?.state.value ?? IDLE;
}

const IDLE: Loaded<never> = { data: undefined, revision: undefined, error: undefined, isLoading: false };

function keyOf(action: ActionName, { params = {}, query = {}, body }: CallOptions): string {
  return JSON.stringify([action, params, query, body]);
}

function resourceOf<A extends ActionName>(key: string, action: A, options: CallOptions): Resource<Replies[A]> {
  const known = resources.get(key) as Resource<Replies[A]> | undefined;
  if (known !== undefined) return known;
  const state = createSignal<Loaded<Replies[A]>>({ ...IDLE, isLoading: true });
  let latest = new AbortController();
  const resource: Resource<Replies[A]> = {
    state,
    users: 0,
    isStale: true,
    async load() {
      latest.abort();
      latest = new AbortController();
      const { signal } = latest;
      resource.isStale = false;
      state.value = { ...state.peek(), isLoading: true };
      try {
        const { data, revision } = await call(action, { ...options, signal });
        if (!signal.aborted) state.value = { data, revision, error: undefined, isLoading: false };
      } catch (error) {
        if (signal.aborted) return;
        const failure = Object.assign(error as ApiError, { retry: resource.load });
        state.value = { ...state.peek(), error: failure, isLoading: false };
      }
    },
    abort() {
      if (!state.peek().isLoading) return;
      latest.abort();
      resource.isStale = true;
    },
  };
  resources.set(key, resource as Resource<unknown>);
  return resource;
}

/** Reads again what is visible, and the rest when it is needed. */
export function invalidate(isAffected: (action: ActionName, options: CallOptions) => boolean = () => true): void {
  batch(() => {
    for (const [key, resource] of resources) {
      const [action, params, query, body] = JSON.parse(key);
      if (!isAffected(action, { params, query, body })) continue;
      resource.isStale = true;
      if (resource.users > 0) void resource.load();
    }
  });
}

function removeUnused(): void {
  const unused = [...resources].filter(([, { users }]) => users === 0);
  for (const [key] of unused.slice(0, Math.max(0, unused.length - KEPT))) resources.delete(key);
}
