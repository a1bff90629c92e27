import { API } from '../settings.js';
import { ACTIONS, type ActionName, type Replies } from './actions.js';
import { authorization, onUnauthenticated } from './credentials.js';

export interface CallOptions {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** The id of a change, a UUID: a repeated request with it gets the first reply. */
  readonly key?: string | undefined;
  /** Why, for the history. */
  readonly reason?: string | undefined;
  /** Why the change does not wait for the approval that it needs. */
  readonly bypass?: string | undefined;
  readonly signal?: AbortSignal;
}

/** A reply: its body, and the revision of the document that its entity tag names. */
export interface Reply<T> {
  readonly data: T;
  readonly revision: number | undefined;
  /** The query of the next page; undefined on the last one. */
  readonly next: URLSearchParams | undefined;
}

export interface Issue {
  /** A JSON Pointer into the body. */
  readonly path?: string;
  readonly message: string;
}

/** An error reply of the API. Status 0: the server did not reply. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Repeats the read that failed. */
  retry?: () => unknown;
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: readonly Issue[] = [],
  ) {
    super(message);
  }
}

/**
 * Sends the request of an action.
 *
 * @throws ApiError when the API refuses it or cannot be reached
 */
export async function call<A extends ActionName>(action: A, options: CallOptions = {}): Promise<Reply<Replies[A]>> {
  const response = await send(addressOf(action, options), ACTIONS[action][0], options);
  if (!response.ok) throw await refusalOf(response);
  const data = response.status === 204 ? undefined : await response.json().catch(() => undefined);
  return { data, revision: revisionOf(response.headers.get('etag')), next: nextPage(response.headers.get('link')) };
}

/**
 * Downloads the reply of an action as a file. The browser keeps the data, and writes them to its disk as it needs.
 *
 * @throws ApiError when the API refuses it, cannot be reached, or ends early
 */
export async function download(action: ActionName, name: string, options: CallOptions = {}): Promise<void> {
  const response = await send(addressOf(action, options), ACTIONS[action][0], options);
  if (!response.ok) throw await refusalOf(response);
  const data = await response.blob().catch(() => {
    throw new ApiError(0, 'unreachable', 'The server ended the download early.');
  });
  const address = URL.createObjectURL(data);
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

/** Returns the full address of an action, also for `curl`. */
export function addressOf(action: ActionName, { params = {}, query = {} }: CallOptions = {}): URL {
  const path = ACTIONS[action][1].replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ''));
  const address = new URL(path.slice(1), API);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  return address;
}

/** Sends a request with the user's credentials. */
export async function send(
  address: URL,
  method: string,
  {
    body,
    key,
    reason,
    bypass,
    signal,
    headers = {},
  }: CallOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const token = authorization();
  try {
    const response = await fetch(address, {
      method,
      headers: {
        ...headers,
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(reason && { 'x-change-reason': encodeURIComponent(reason) }),
        ...(bypass && { 'x-bypass-approval': encodeURIComponent(bypass) }),
        ...(token !== undefined && { authorization: token }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (response.status === 401) onUnauthenticated();
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'unreachable', 'The server cannot be reached. What you see may be out of date.');
  }
}

async function refusalOf(response: Response): Promise<ApiError> {
  const { status } = response;
  const body = await response.json().catch(() => undefined);
  if (Array.isArray(body)) return new ApiError(status, 'invalid_input', body.map(({ msg }) => msg).join(' '));
  const { code = `http_${status}`, message = `The server replied ${status}.`, details = [] } = body ?? {};
  return new ApiError(status, code, message, details);
}

function revisionOf(tag: string | null): number | undefined {
  const revision = /^(?:W\/)?"(\d{1,15})-/.exec(tag ?? '')?.[1];
  return revision === undefined ? undefined : Number(revision);
}

function nextPage(link: string | null): URLSearchParams | undefined {
  const target = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(link ?? '')?.[1];
  return target === undefined ? undefined : new URL(target, API).searchParams;
}
