/** Control and format characters, and separators of lines: they rewrite a terminal, or turn the order of a text around. */
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Removes characters that could rewrite a terminal from untrusted text. Keeps line breaks. */
export function printable(text: string): string {
  return text.replaceAll('\t', ' ').replaceAll(UNPRINTABLE, (character) => (character === '\n' ? character : ''));
}

interface Warning {
  readonly code?: string;
  readonly detail?: string;
}

/** Emits a warning of this process, which Node writes to standard error. Its texts may contain stored names. */
export function emitWarning(message: string, { code, detail }: Warning): void {
  process.emitWarning(printable(message), {
    type: 'FlagsWarning',
    ...(code !== undefined && { code }),
    ...(detail !== undefined && { detail: printable(detail) }),
  });
}
