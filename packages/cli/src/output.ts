import pico from 'picocolors';

/** The streams and the environment of a command. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  /** Gets errors and questions, so that standard output has results only. */
  readonly stderr: NodeJS.WritableStream;
}

/** Writes results: tables and sentences for people, or JSON for programs. */
export interface Output {
  /** With `--json`, sentences and tables are left out. */
  readonly isJson: boolean;
  /** Whether a person reads the output on a terminal. */
  readonly isTerminal: boolean;
  readonly colors: ReturnType<typeof pico.createColors>;
  /** Writes a line for people. */
  line(text?: string): void;
  /** Writes lines for people in a fenced block of Markdown. */
  fenced(lines: readonly string[]): void;
  /** Writes rows with headings for people. On a terminal, cuts cells so that each row fits into one line. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): void;
  /** Writes the result for programs. */
  json(value: unknown): void;
  /** Writes text as it is, in both forms. */
  raw(text: string): void;
}

/** Colors appear on terminals only, and never with `NO_COLOR`. */
export function createOutput({ stdout, env }: CommandIo, isJson: boolean): Output {
  const isTerminal = stdout.isTTY === true;
  const colors = pico.createColors(isTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb');
  return {
    isJson,
    isTerminal,
    colors,
    line: (text = '') => {
      if (!isJson) stdout.write(`${withoutControls(text)}\n`);
    },
    fenced: (lines) => {
      if (isJson) return;
      const text = withoutControls(lines.join('\n'));
      // A stored text may have a fence itself.
      let longest = 2;
      for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
      const fence = '`'.repeat(longest + 1);
      stdout.write(`${fence}text\n${text}\n${fence}\n`);
    },
    table: (headings, rows) => {
      if (isJson) return;
      const cells = rows.map((row) => row.map((cell) => withoutControls(cell).replaceAll(/\s+/g, ' ')));
      const widths = widthsWithin(isTerminal ? (stdout.columns ?? DEFAULT_COLUMNS) : Infinity, [headings, ...cells]);
      const [head = '', ...lines] = [headings, ...cells].map((row) =>
        row
          .map((cell, index) => fit(cell, (widths[index] ?? 0) - GAP))
          .join(' '.repeat(GAP))
          .trimEnd(),
      );
      stdout.write(`${[colors.bold(head), ...lines].join('\n')}\n`);
    },
    json: (value) => {
      if (isJson) stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    raw: (text) => {
      stdout.write(text);
    },
  };
}

const COLOR = /^\[\d+m/;

/** Removes control characters of stored texts, which could rewrite the terminal. Keeps line breaks and colors. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character, index: number) => {
    const isColor = character === '\u001b' && COLOR.test(text.slice(index + 1, index + 6));
    return character === '\n' || isColor ? character : '';
  });
}

const DEFAULT_COLUMNS = 80;
const GAP = 2;
const NARROWEST = 8;
/** Characters that take two columns of a terminal. */
const WIDE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\uFF01-\uFF60]/u;
const ASCII = /^[ -~]*$/;

function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
}

/** Cuts or fills a text to a width. */
function fit(text: string, width: number): string {
  const missing = width - widthOf(text);
  if (missing >= 0) return text + ' '.repeat(missing);
  const characters = [...text];
  while (widthOf(characters.join('')) >= width) characters.pop();
  return fit(`${characters.join('')}…`, width);
}

/** Returns the widths of columns, gaps included. Makes the widest columns narrower until a row fits. */
function widthsWithin(columns: number, rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, widthOf(cell) + GAP);
    }
  }
  let excess = widths.reduce((sum, width) => sum + width, 0) - columns;
  while (excess > 0) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    widths[widths.indexOf(widest)] = widest - 1;
    excess--;
  }
  return widths;
}

/** The exit codes of all commands. */
export const EXIT = {
  done: 0,
  /** The request was refused, or it failed. Nothing has changed unless the message says so. */
  failed: 1,
  /** `plan` found changes. */
  changes: 2,
  /** Nobody confirmed the change. */
  unconfirmed: 3,
  /** The command line is wrong. */
  usage: 64,
} as const;

/** Ends the command with a message for the user. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

/** The command line is wrong. */
export function usageError(message: string): CommandError {
  return new CommandError(message, EXIT.usage);
}
