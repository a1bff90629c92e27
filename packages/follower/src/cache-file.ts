import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { Token } from '@flags/core';
import { type ClientDocument, hashSecret, toToken } from '@flags/core/integration/follower';
import { isObject, pause } from '@flags/core/integration/shared';
import type { EnvironmentConfiguration } from '@flags/core/types';
import type { KnownToken, Scope } from './tokens.js';

/*
 * The first line says the format and the checksum of the second line, which is JSON. There is no line break at the end: a
 * file that was cut anywhere has another checksum.
 */

const FORMAT = 1;
/** Milliseconds between two writes if only the times of checks have changed. */
const HOUR = 3_600_000;
/** Bytes for the tokens, beside those for the flags. */
const ROOM_FOR_TOKENS = 16 * 1024 * 1024;

/** The last state of a follower. */
export interface CachedState {
  readonly scope: Scope;
  /** Milliseconds since 1970: when the flags were last known to be current. */
  readonly checkedAt: number;
  readonly document: ClientDocument;
  readonly tokens: readonly KnownToken[];
}

/** The server and the token that a file must belong to. */
export interface CacheOwner {
  readonly path: string;
  readonly url: string;
  /** The own token. The file has its hash. */
  readonly token: string;
}

/**
 * Reads the file. Returns undefined without a file. A damaged file, or one of another server or token, goes to `onError`.
 */
export async function readCache(
  owner: CacheOwner,
  { maxBytes, onError }: { readonly maxBytes: number; readonly onError: (error: unknown) => void },
): Promise<CachedState | undefined> {
  try {
    const { size } = await stat(owner.path);
    if (size > maxBytes + ROOM_FOR_TOKENS) throw new Error('it is longer than the option maxBytes allows');
    return parse(await readFile(owner.path, 'utf8'), owner);
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    if (code !== 'ENOENT') onError(new Error(`The cache file ${owner.path} is ignored: ${message}.`, { cause: error }));
    return undefined;
  }
}

/** The checksum shows that a follower has written the file: its parts need no further check. */
function parse(text: string, owner: CacheOwner): CachedState {
  const end = text.indexOf('\n');
  const [head, body] = [text.slice(0, Math.max(0, end)), text.slice(end + 1)];
  const { format, checksum } = objectIn(head);
  if (format !== FORMAT) throw new Error('it has another format');
  if (checksum !== createHash('sha256').update(body).digest('hex')) throw new Error('it is damaged');
  const { upstream, token, scope, checkedAt, flags, segments, tokens } = objectIn(body);
  if (upstream !== owner.url || token !== hashSecret(owner.token)) throw new Error('it is of another server or token');
  return {
    scope: scope as Scope,
    checkedAt: Number(checkedAt),
    document: { flags, segments } as ClientDocument,
    tokens: (tokens as readonly (KnownToken & { readonly token: Token })[]).map(toKnownToken),
  };
}

function toKnownToken({ hash, token, checkedAt }: KnownToken): KnownToken {
  return { hash, token: toToken(token), checkedAt };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('it is damaged');
  }
  if (!isObject(value)) throw new Error('it is damaged');
  return value;
}

/** What is written. */
export interface CacheContent extends Omit<CachedState, 'document'> {
  readonly configuration: EnvironmentConfiguration;
}

export interface CacheWriterOptions extends CacheOwner {
  /** Returns undefined while there is nothing to keep. */
  readonly content: () => CacheContent | undefined;
  readonly now: () => number;
  /** The shortest time between two writes, in milliseconds. */
  readonly interval: number;
  /** Called with the first error of a series. */
  readonly onError: (error: unknown) => void;
}

/** Writes the file some time after changes. */
export interface CacheWriter {
  /** The state has changed. */
  touch(): void;
  /** Stores the time of the last check. The flags are the same. */
  touchTime(): void;
  /** Writes pending changes. */
  close(): Promise<void>;
}

export function createCacheWriter(options: CacheWriterOptions): CacheWriter {
  const { path, now, interval, content, onError } = options;
  let timer: NodeJS.Timeout | undefined;
  let writtenAt = 0;
  let hasChanged = false;
  let isReported = false;
  let latest: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const written = content();
    if (written === undefined || !hasChanged) return;
    hasChanged = false;
    writtenAt = now();
    try {
      await replaceFile(path, await textOf(written, options));
      isReported = false;
    } catch (error) {
      hasChanged = true;
      if (!isReported) onError(error);
      isReported = true;
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    latest = latest.then(write);
    return latest;
  }

  function touch(): void {
    hasChanged = true;
    timer ??= setTimeout(() => void flush(), Math.max(0, writtenAt + interval - now())).unref();
  }

  return {
    touch,
    touchTime() {
      if (writtenAt > 0 && now() - writtenAt > HOUR) touch();
    },
    async close() {
      hasChanged = true;
      await flush();
    },
  };
}

/** Returns the parts of the file. The flags are written in slices, so that evaluation runs in between. */
async function textOf(
  { scope, checkedAt, configuration, tokens }: CacheContent,
  { url, token }: CacheOwner,
): Promise<readonly string[]> {
  const head = { upstream: url, token: hashSecret(token), scope, checkedAt };
  const parts = [`${JSON.stringify(head).slice(0, -1)},"flags":[`];
  for (const [index, flag] of configuration.flags.entries()) {
    await pause();
    parts.push(`${index > 0 ? ',' : ''}${JSON.stringify(flag)}`);
  }
  // Secrets stay in memory.
  const hashed = tokens.map(({ hash, token, checkedAt }) => ({ hash, token, checkedAt }));
  parts.push(`],"segments":${JSON.stringify(configuration.segments)},"tokens":${JSON.stringify(hashed)}}`);
  const checksum = createHash('sha256');
  for (const part of parts) {
    await pause();
    checksum.update(part);
  }
  return [`${JSON.stringify({ format: FORMAT, checksum: checksum.digest('hex') })}\n`, ...parts];
}

/** Replaces a file atomically: a reader sees the old file or the new one, also after a power cut. */
async function replaceFile(path: string, parts: readonly string[]): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await writeFile(file, parts);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
