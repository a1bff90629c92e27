import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { printable, UNPRINTABLE } from '@flags/core/admin';
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
  /** Whether the output goes to a terminal. */
  readonly isTerminal: boolean;
  /** Colors for texts of lines. */
  readonly colors: Readonly<Record<Color, (text: string) => string>>;
  /** Writes one line for people: a line break in a text becomes a space, so that no stored text adds lines. */
  line(text?: string): void;
  /** Writes lines for people in a fenced block of Markdown. */
  fenced(lines: readonly string[]): void;
  /** Writes rows with headings for people. On a terminal of a known width, cuts cells so that each row fits into one line. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): void;
  /** Writes the result for programs. Escapes characters that could rewrite a terminal. */
  json(value: unknown): void;
  /** Writes a document in both forms. On a terminal it escapes characters that could rewrite the screen. */
  raw(text: string): void;
  /** Writes pieces of a document like `raw`. Waits while the reader is slower, so that nothing piles up in memory. */
  stream(pieces: AsyncIterable<string>): Promise<void>;
}

type Color = 'bold' | 'dim' | 'green' | 'red';

/** Colors appear on terminals only, and never with `NO_COLOR`. */
export function createOutput({ stdout, env }: CommandIo, isJson: boolean): Output {
  const isTerminal = stdout.isTTY === true;
  const { bold, dim, green, red } = pico.createColors(isTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb');
  // A placeholder for the escape character of our own colors. It is random, so stored texts cannot contain it.
  const mark = randomUUID();
  const inLine = (color: (text: string) => string) => (text: string) => color(oneLine(text)).replaceAll(ESCAPE, mark);
  const colors = { bold: inLine(bold), dim: inLine(dim), green: inLine(green), red: inLine(red) };
  return {
    isJson,
    isTerminal,
    colors,
    line: (text = '') => {
      if (!isJson) stdout.write(`${oneLine(text).replaceAll(mark, ESCAPE)}\n`);
    },
    fenced: (lines) => {
      if (isJson) return;
      const text = lines.map(oneLine).join('\n').replaceAll(mark, ESCAPE);
      // A stored text may contain a fence.
      let longest = 2;
      for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
      const fence = '`'.repeat(longest + 1);
      stdout.write(`${fence}text\n${text}\n${fence}\n`);
    },
    table: (headings, rows) => {
      if (isJson) return;
      const cells = rows.map((row) => row.map((cell) => printable(cell).replaceAll(/\s+/g, ' ')));
      const titles = headings.map(oneLine);
      const widths = widthsWithin((isTerminal && stdout.columns) || Infinity, [titles, ...cells]);
      const [head = '', ...lines] = [titles, ...cells].map((row) =>
        row
          .map((cell, index) => fit(cell, (widths[index] ?? 0) - GAP))
          .join(' '.repeat(GAP))
          .trimEnd(),
      );
      stdout.write(`${[bold(head), ...lines].join('\n')}\n`);
    },
    json: (value) => {
      if (isJson) stdout.write(`${escaped(JSON.stringify(value, null, 2))}\n`);
    },
    raw: (text) => {
      stdout.write(isTerminal ? escaped(text) : text);
    },
    async stream(pieces) {
      for await (const text of pieces) {
        if (!stdout.write(isTerminal ? escaped(text) : text)) await once(stdout, 'drain');
      }
    },
  };
}

const ESCAPE = '\u001b';

/** Says what a command with `--dry-run` would do. */
export function showPlanned(output: Output, text: string): void {
  output.line(text);
  output.json({ changed: false });
}

/** Returns an untrusted text as one printable line. */
export function oneLine(text: string): string {
  return printable(text).replaceAll('\n', ' ');
}

/** Writes characters that {@link printable} removes as escapes such as `\u202e`, which JSON and TypeScript permit. */
function escaped(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => {
    const units = character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    return character === '\n' ? character : units.join('');
  });
}

const GAP = 2;
const NARROWEST = 8;
/** Characters that take two columns of a terminal. */
const WIDE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\uFF01-\uFF60]/u;
const ASCII = /^[ -~]*$/;

function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
}

/** Truncates or pads a text to a width. */
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
  /** The request failed or was refused. Nothing has changed unless the message says so. */
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
