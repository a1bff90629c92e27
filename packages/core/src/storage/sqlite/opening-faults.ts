import { FlagsError, isFlagsError } from '../../errors.js';

const ADVICE: readonly { readonly codes: RegExp; readonly advice: string }[] = [
  {
    codes: /^SQLITE_CANTOPEN/,
    advice: 'cannot be opened: make sure that it is a file in a directory that this process may write to.',
  },
  {
    codes: /^SQLITE_(NOTADB|CORRUPT)/,
    advice: 'is not a SQLite database, or a damaged one: give the path of another file, or restore this one.',
  },
  {
    codes: /^SQLITE_(READONLY|PERM)/,
    advice:
      'cannot be written to: let this process write to the file and its directory, and do not open it as readonly.',
  },
  {
    codes: /^ERR_DLOPEN_FAILED$/,
    advice: 'cannot be opened: better-sqlite3 was built for another Node. Rebuild it: npm rebuild better-sqlite3',
  },
];

/** Turns what the host can put right into `storage_unsupported` with advice; gives other errors back as they are. */
export function explainOpening(error: unknown, name: string): unknown {
  const cause = isFlagsError(error) ? error.cause : error;
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const reason = String(message).startsWith('Could not locate the bindings file') ? 'ERR_DLOPEN_FAILED' : code;
  const known = typeof reason === 'string' && ADVICE.find(({ codes }) => codes.test(reason));
  if (!known) return error;
  return new FlagsError('storage_unsupported', `${name} ${known.advice}`, undefined, { cause });
}
