import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { type Flags, type FlagsOptions, type FlagsStorage, isFlagsError, memoryStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { createFlagsApi, toFetchHandler } from '@flags/http';
import { postgresStorage } from '@flags/postgres';
import { CommandError, usageError } from './output.js';
import { describeRefusal } from './refusal-words.js';

/** The target of a command: a store that it opens itself, or a running server. */
export interface Connection {
  /** Sends a request to the admin API. Paths are relative to the mount path of the API. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
  /** The engine on the store; undefined for a running server. */
  readonly flags: Flags | undefined;
  /** The store or address, without a password. */
  readonly name: string;
  /** The text of the error when the server refuses the caller. */
  readonly refusal: string;
  close(): Promise<void>;
}

/** The options that select the target. */
export interface ConnectionOptions {
  /** A SQLite file, `:memory:`, `postgres://…`, or the address below which a server serves the API. */
  readonly store?: string | undefined;
  /** The API token for a running server. */
  readonly token?: string | undefined;
  /** The actor of changes in a store. Default: `cli:` and the name of the operating system's user. */
  readonly actor?: string | undefined;
  /** The environments of a store, which are configuration and not stored. Default: development and production. */
  readonly environments?: readonly string[] | undefined;
  /** Create a store that does not exist, or has no tables, when the first change is sent. */
  readonly creates?: boolean;
  /** The folder whose better-sqlite3 opens a SQLite file. Default: what `@flags/core` finds. */
  readonly driverFrom?: string | undefined;
  /** Gets the sentences of problems that evaluations of a store have, such as an unknown strategy. */
  readonly onNote?: (sentence: string) => void;
}

/** The header of changes. */
export const KEY = 'idempotency-key';
/** The origin of requests to a store of this process. It never leaves the process. */
const LOCAL_ORIGIN = 'http://localhost';
/** The time limit of a request with its whole reply, in milliseconds. */
export const TIMEOUT = 30_000;
/** The maximum size of a reply, in bytes. An export may be large, but an endless reply must not fill the memory. */
export const MAX_REPLY = 128 * 1024 * 1024;
/** In bytes. Only the limits of the engine apply to a local store. */
const LOCAL_BODY_LIMIT = 64 * 1024 * 1024;

export const isAddress = (store: string) => /^https?:\/\//i.test(store);
const isPostgres = (store: string) => /^postgres(ql)?:\/\//.test(store);

/**
 * Refuses a store that looks like an address of another kind: it would become the name of a new file. A single letter is
 * a drive of Windows.
 */
export function assertStore(store: string): void {
  const [, scheme, path = ''] = /^([a-z][a-z\d+.-]+):(.*)$/i.exec(store) ?? [];
  if (scheme === undefined || isPostgres(store) || isAddress(store) || existsSync(store)) return;
  const isOfFile = /^(file|sqlite3?|better-sqlite3)$/i.test(scheme);
  const [file = ''] = path
    .replace(/^\/\/(?=\/)/, '')
    .replace(/^\/\//, '')
    .split('?', 1);
  throw usageError(
    isOfFile && file !== ''
      ? `A store in a file is named by its path alone: --store ${file}`
      : `${scheme}: is not a kind of store. Name a file by its path, or postgres://…, or the address of a server.`,
  );
}

/**
 * Opens a store or a connection to a server.
 *
 * Every command sends requests to the admin API. For a store, the API runs in this process, so each command has one
 * implementation.
 *
 * @throws CommandError
 */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const { store } = options;
  if (store === undefined || store === '') {
    throw usageError(
      'Name a store or a server: --store FILE, --store postgres://…, --store https://…, or FLAGS_STORE.',
    );
  }
  return isAddress(store) ? connectToServer(store, options.token) : openStore(store, options);
}

/** Returns the address without trailing slashes. */
export function withoutTrailingSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === '/') end -= 1;
  return address.slice(0, end);
}

function connectToServer(address: string, token: string | undefined): Connection {
  if (!URL.canParse(address)) throw usageError(`${address} is not an address. Write it as http://127.0.0.1:4242.`);
  const url = new URL(address);
  // People paste the address of the admin page or of the API.
  const base = `${url.origin}${withoutTrailingSlashes(url.pathname).replace(/\/(ui|api\/admin)$/, '')}`;
  const authorization = token === undefined || token === '' ? undefined : { authorization: token };
  return {
    name: base,
    flags: undefined,
    refusal: authorization
      ? 'refuses the token. Give another admin token: --token or FLAGS_TOKEN.'
      : 'requires a token. Give an admin token: --token or FLAGS_TOKEN.',
    fetch: async (path, init = {}) => {
      const send = () => fetchInTime(`${base}${path}`, { ...init, headers: { ...init.headers, ...authorization } });
      try {
        return await send().catch((error: unknown) => {
          if (init.method === 'GET' && isClosed(error)) return send();
          throw error;
        });
      } catch (error) {
        throw new CommandError(`${base} cannot be reached (${reasonOf(error)}). Is the server running?`);
      }
    },
    close: async () => undefined,
  };
}

/** A server may close an idle connection in the moment in which a request is sent on it. */
function isClosed(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: unknown };
  return ['ECONNRESET', 'UND_ERR_SOCKET'].includes(String(Object(cause).code));
}

/** Sends a request to a server. The time also limits the reading of the body, unless the request has a signal of its own. */
export function fetchInTime(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, signal: init.signal ?? AbortSignal.timeout(TIMEOUT) });
}

/**
 * Reads the body of a reply.
 *
 * @throws CommandError if the body ends early, takes too long, or is too large
 */
export async function readBody({ body }: Response, server: string, limit = MAX_REPLY): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of body ?? []) {
      size += piece.length;
      if (size > limit) break;
      pieces.push(piece);
    }
  } catch (error) {
    throw new CommandError(
      `${server} ended its reply early (${reasonOf(error)}). Check whether the command took effect.`,
    );
  }
  if (size > limit) {
    const most = limit / 1024 / 1024;
    throw new CommandError(`${server} sends more than ${most} MiB, more than any command reads. Is it the flags API?`);
  }
  return Buffer.concat(pieces).toString('utf8');
}

async function openStore(store: string, options: ConnectionOptions): Promise<Connection> {
  const { onNote = () => undefined, creates = false } = options;
  const actor = { name: options.actor ?? `cli:${userName()}` };
  const settings = { ...READING, onProblem: ({ message }: { readonly message: string }) => onNote(message) };
  let state: 'exists' | 'missing' | 'created' = 'exists';
  let { flags, api, handle } = serve(await openExisting());

  /** A store that does not exist is planned in memory: a command that is wrong, or not confirmed, leaves nothing. */
  async function openExisting(): Promise<Flags> {
    try {
      return await openFlagsOf(store, options, settings);
    } catch (error) {
      if (!creates || !(error instanceof EmptyStoreError)) throw error;
      state = 'missing';
      return openFlagsOf(store, { ...options, isDraft: true }, settings);
    }
  }

  function serve(engine: Flags) {
    const created = createFlagsApi<typeof actor, Request>(engine, { auth: () => actor, bodyLimit: LOCAL_BODY_LIMIT });
    return { flags: engine, api: created, handle: toFetchHandler(created) };
  }

  async function end(): Promise<void> {
    api.close();
    await flags.close();
  }

  return {
    name: nameOf(store),
    get flags() {
      return flags;
    },
    refusal: 'refuses the request.',
    async fetch(path, init) {
      if (state === 'missing' && isChange(init)) {
        const created = await openFlagsOf(store, { ...options, create: true }, settings);
        await end();
        ({ flags, api, handle } = serve(created));
        state = 'created';
      }
      return handle(new Request(`${LOCAL_ORIGIN}${path}`, init));
    },
    async close() {
      await end();
      if (state === 'created') onNote(`Created ${nameOf(store)}.`);
    },
  };
}

/** Plans and reads have no key. */
function isChange(init: RequestInit = {}): boolean {
  return new Headers(init.headers).has(KEY);
}

/** A command needs neither the changes of other processes nor counts of its evaluations. */
const READING = { pollInterval: 0, usage: { interval: 0 } } as const;

interface OpeningOptions extends Pick<ConnectionOptions, 'environments' | 'driverFrom'> {
  /** Create the file, create the tables, or migrate them. */
  readonly create?: boolean;
  /** Open an empty store in memory in its place, by the same driver. */
  readonly isDraft?: boolean;
}

/** Opens the engine on a store. */
export async function openFlagsOf(
  store: string,
  { environments, ...opening }: OpeningOptions,
  settings: Partial<FlagsOptions> = READING,
): Promise<Flags> {
  assertStore(store);
  const { create = false, isDraft = false, driverFrom } = opening;
  if (!create && !isDraft && isFile(store) && !existsSync(store))
    throw new EmptyStoreError(`There is no file ${store}.`, store);
  if (environments?.length === 0) throw usageError('--environments has no names: --environments test,live');
  // The service of a store does what is due. Flags in memory have no other process.
  const due = { run: store === ':memory:' ? true : 'elsewhere' } as const;
  try {
    const configured = environments && { environments: environments.map((name) => ({ name })) };
    return await openFlags({ ...settings, due, ...configured, storage: await openStorage(store, opening) });
  } catch (error) {
    const reason = reasonOf(error);
    if (isFlagsError(error) && error.details.some(({ path }) => path?.startsWith('/environments'))) {
      throw usageError(`--environments: ${describeRefusal(error.message, error.details)}`);
    }
    // The error of the storage names its option. A command needs other advice.
    if (reason.includes('migrate: false')) throw describeTables(store, reason);
    if (isFile(store) && isDriverMissing(error)) throw new CommandError(describeDriver(store, driverFrom));
    const advice = isPostgres(store) && !isUnsupported(error) ? ' Is the database running?' : '';
    // Errors of SQLite name the file themselves.
    if (reason.includes(' cannot be opened: ')) throw new CommandError(reason);
    throw new CommandError(`${nameOf(store)} cannot be opened: ${reason.replace(/\.$/, '')}.${advice}`);
  }
}

/** Creates or migrates the tables only if `create` is set: other processes may use the store with an older version. */
async function openStorage(
  store: string,
  { create = false, isDraft = false, driverFrom }: Omit<OpeningOptions, 'environments'>,
): Promise<FlagsStorage> {
  if (isDraft && isFile(store)) return sqliteStorage({ path: ':memory:', driverFrom });
  if (isDraft || store === ':memory:') return memoryStorage();
  return isPostgres(store)
    ? postgresStorage({ connectionString: store, migrate: create })
    : sqliteStorage({ path: store, migrate: create, driverFrom });
}

/** A store does not exist, or has no tables. */
export class EmptyStoreError extends CommandError {
  constructor(fault: string, store: string) {
    const advice = `or create it with its first flag: flags create NAME --store ${nameOf(store)}`;
    super(`${fault} Name an existing store, ${advice}`);
  }
}

function describeTables(store: string, reason: string): CommandError {
  const [state = ''] = reason.split('. ');
  if (state.includes('do not exist')) return new EmptyStoreError(`${nameOf(store)}: ${state}.`, store);
  return new CommandError(`${nameOf(store)}: ${state}. Nothing has changed. Migrate the tables: flags migrate.`);
}

/** Neither better-sqlite3 nor the SQLite of Node was found. */
export function isDriverMissing(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: unknown };
  return isUnsupported(error) && /MODULE_NOT_FOUND/.test(String(Object(cause).code));
}

/** Asks for a driver. The one of the working folder may be of any version, so it is not used unasked. */
export function describeDriver(store: string, driverFrom: string | undefined): string {
  if (driverFrom !== undefined) {
    return `--driver-from: ${driverFrom} has no better-sqlite3. Install it there: npm install better-sqlite3@12`;
  }
  const ways = [
    'run Node 22.16 or newer',
    'install better-sqlite3 beside this command (npm install better-sqlite3@12)',
    'name a folder that has it (--driver-from .)',
  ];
  return `${store} needs a SQLite driver: ${ways.join(', or ')}.`;
}

function isUnsupported(error: unknown): boolean {
  return isFlagsError(error) && error.code === 'storage_unsupported';
}

export function isFile(store: string): boolean {
  return store !== ':memory:' && !isPostgres(store) && !isAddress(store);
}

/** Returns the name of a store without a password. */
export function nameOf(store: string): string {
  if (!isPostgres(store)) return store;
  if (!URL.canParse(store)) return 'The PostgreSQL database';
  const url = new URL(store);
  return `postgres://${url.host}${url.pathname}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}

/** Returns the message of an error, and of its cause: `fetch` hides the reason there. */
export function reasonOf(error: unknown): string {
  const { name, message, cause } = Object(error) as Partial<Error>;
  const { message: reason } = Object(cause) as Partial<Error>;
  return reason || message || name || String(error);
}
