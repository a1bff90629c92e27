import { BlockList, isIP } from 'node:net';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { type CustomStrategy, type EvaluationProblem, FlagsError, type FlagsSchema } from '@flags/core';
import { createErrorReporter, emitWarning } from '@flags/core/integration/follower';
import { createValidator, describeUnknownOption, type JsonSchema } from '@flags/core/integration/shared';
import * as compiled from './compiled-schemas.js';

/** Options of `followFlags`. Only `url` and `token` are required. Times are in milliseconds. */
export interface FollowerOptions<Own extends string = string> {
  /**
   * The address of the server to follow: where its `/api/client` begins, such as `https://flags.internal/flags`, also with the
   * `/api` that SDKs of Unleash need at its end. Plain http is for loopback and private addresses only.
   */
  readonly url: string;
  /** The secret of a `client` token of that server. Its environment and projects are the scope of the follower. */
  readonly token: string | undefined;
  /**
   * A file that keeps the last flags for a start while the server is away. Written with mode 0600 after changes, at most once
   * in 5 seconds, and at `close`. It holds flags and the hashes of verified tokens, never a secret. Default: no file.
   */
  readonly cache?: string | undefined;
  /** Declares the flags and context properties of the application: see `defineFlags`. Default: any name. */
  readonly schema?: FlagsSchema;
  /** Custom strategies of the host application. Default: none. */
  readonly strategies?: readonly CustomStrategy<Own>[];
  /** How evaluations are counted. */
  readonly usage?: {
    /** Milliseconds after which counts are sent upstream, ± 20 %. Default: 60,000. With 0, only `close()` sends. */
    readonly interval?: number;
    /** The application name for the counts of this process. Default: `default`. */
    readonly application?: string | undefined;
    /** The instance id for the counts of this process. Default: the host name and the process id. */
    readonly instance?: string | undefined;
  };
  /** Milliseconds between two polls of a server without a stream, ± 20 %; at least 100. Default: 15,000. */
  readonly pollInterval?: number;
  /**
   * Milliseconds to wait for the first flags before `followFlags` rejects. With 0 it resolves at once, and every flag is
   * unknown until the server answers. Default: 10,000.
   */
  readonly startTimeout?: number;
  /** Milliseconds that a verified token stays valid while the server is away. Default: 24 hours. */
  readonly offlineTokens?: number;
  /** The longest document that is read, in bytes. A longer one is refused, and the last flags stay. Default: 64 MiB. */
  readonly maxBytes?: number;
  /** Allows plain http to public addresses. The token and the flags then cross the network in the open. Default: false. */
  readonly allowInsecure?: boolean;
  /** Called with background errors, such as a lost connection, once per series. Default: a process warning. */
  readonly onError?: (error: unknown) => void;
  /** Called once per problem of a flag, such as an unknown strategy or a misspelt name. Default: a process warning. */
  readonly onProblem?: (problem: EvaluationProblem) => void;
}

/** The options with their defaults. */
export interface Settings {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string;
  /** An absolute path. */
  readonly cache: string | undefined;
  readonly schema: FlagsSchema | undefined;
  readonly strategies: readonly CustomStrategy[];
  readonly usage: { readonly interval: number; readonly application: string; readonly instance: string };
  readonly pollInterval: number;
  readonly startTimeout: number;
  readonly offlineTokens: number;
  readonly maxBytes: number;
  readonly onError: (error: unknown) => void;
  readonly onProblem: (problem: EvaluationProblem) => void;
}

/** The longest delay of a Node timer, in milliseconds. */
const MAX_DELAY = 2 ** 31 - 1;
const HOUR = 3_600_000;
const MIB = 1024 * 1024;

const time = { type: 'number', minimum: 0, maximum: MAX_DELAY };
const name = { type: 'string', minLength: 1, maxLength: 255 };
const USAGE = {
  interval: time,
  application: { ...name, pattern: '^(?!\\.{1,2}$)', description: 'not . or ..' },
  instance: name,
};
const OPTIONS: Readonly<Record<keyof FollowerOptions, object>> = {
  url: { type: 'string', minLength: 1 },
  token: { type: 'string', minLength: 1, maxLength: 1000, pattern: '^[!-~]+$', description: 'the secret of a token' },
  cache: { type: 'string', minLength: 1 },
  schema: {},
  strategies: { type: 'array', items: { type: 'object', properties: { name }, required: ['name'] } },
  usage: { type: 'object', properties: USAGE },
  pollInterval: { ...time, minimum: 100 },
  startTimeout: time,
  offlineTokens: { type: 'number', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  maxBytes: { type: 'integer', minimum: 1, maximum: 512 * MIB },
  allowInsecure: { type: 'boolean' },
  onError: {},
  onProblem: {},
};

export const optionsSchema: JsonSchema = { type: 'object', properties: OPTIONS, required: ['url', 'token'] };

const validate = createValidator<FollowerOptions & { readonly token: string }>(
  compiled.options,
  ({ onError, onProblem, strategies = [] }) => [
    ...Object.entries({ onError, onProblem }).flatMap(([option, given]) =>
      given === undefined || typeof given === 'function' ? [] : [{ message: 'must be a function', path: `/${option}` }],
    ),
    ...strategies.flatMap(({ isEnabled }, index) =>
      typeof isEnabled === 'function'
        ? []
        : [{ message: 'must be a function', path: `/strategies/${index}/isEnabled` }],
    ),
  ],
);

/**
 * Returns the options with their defaults.
 *
 * @throws FlagsError `invalid_input`
 */
export function readOptions(options: FollowerOptions): Settings {
  if (typeof options !== 'object' || options === null) {
    throw refusal('followFlags needs options: write followFlags({ url, token }).');
  }
  const fault = describeUnknownOption(options, Object.keys(OPTIONS));
  if (fault) throw refusal(`followFlags ${fault}`);
  const usageFault = options.usage && describeUnknownOption(Object(options.usage), Object.keys(USAGE));
  if (usageFault) throw refusal(`followFlags: usage ${usageFault}`, '/usage');
  const present = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const { url, token, cache, schema, strategies = [], usage = {}, ...rest } = validate(present);
  return {
    url: addressOf(url, rest.allowInsecure === true),
    token,
    cache: cache === undefined ? undefined : resolve(cache),
    schema,
    strategies,
    usage: {
      interval: usage.interval ?? 60_000,
      application: usage.application ?? 'default',
      instance: usage.instance ?? `${hostname()}-${process.pid}`,
    },
    pollInterval: rest.pollInterval ?? 15_000,
    startTimeout: rest.startTimeout ?? 10_000,
    offlineTokens: rest.offlineTokens ?? 24 * HOUR,
    maxBytes: rest.maxBytes ?? 64 * MIB,
    onError: createErrorReporter(rest.onError),
    onProblem: rest.onProblem ?? (({ message, code }) => emitWarning(message, { code })),
  };
}

/** Returns the address without trailing slashes. */
function addressOf(text: string, allowInsecure: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw refusal('url must be an address such as https://flags.internal/flags.', '/url');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw refusal('url must have no user, query or fragment: pass the secret as token.', '/url');
  }
  if (url.protocol === 'http:' && !allowInsecure && !isPrivate(url.hostname)) {
    throw refusal(
      `url must begin with https, because ${url.hostname} is not a private address: everybody on the way could read the token. Pass allowInsecure: true if you accept that.`,
      '/url',
    );
  }
  let end = url.href.length;
  while (url.href[end - 1] === '/') end -= 1;
  return url.href.slice(0, end);
}

const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv6');
}

/** Whether a host is a loopback or private address, or a name without a dot, which only private networks resolve. */
function isPrivate(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  if (version === 0) return !host.includes('.');
  return PRIVATE.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

function refusal(message: string, path = ''): FlagsError {
  return new FlagsError('invalid_input', message, [{ message, path }]);
}
