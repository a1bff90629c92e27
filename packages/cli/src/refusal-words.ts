/**
 * Describes a refusal once. The message repeats the first detail, and paths begin within the request of the command,
 * which its user does not see.
 */
export function describeRefusal(message: string, details: readonly unknown[]): string {
  const lines = details.map(describeDetail).filter((line) => line !== message && line !== '');
  const head = message.startsWith(INVALID) && lines.length > 0 ? INVALID : message;
  if (head === INVALID && lines.length === 1) return `${INVALID}: ${lines[0]?.replace(/\.$/, '')}.`;
  return [head === INVALID ? `${INVALID}:` : head, ...lines].join('\n  ');
}

const INVALID = 'The input is not valid';

function describeDetail(detail: unknown): string {
  const { path, message } = Object(detail) as { readonly path?: unknown; readonly message?: unknown };
  const place = textOf(path)
    ?.replace(/^\/(changes\/\d+(\/input(\/\d+)?)?|environments\/\d+(?=\/name$))/, '')
    .replace(/^\/([^/]*)$/, '$1');
  return [place, textOf(message)].filter((part) => part).join(' ');
}

/** Returns a text of an error as one line. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT).replaceAll(/\s+/g, ' ') : undefined;
}

/** The maximum length of a text in an error. */
const MAX_TEXT = 2_000;
