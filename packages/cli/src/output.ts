import Table from 'cli-table3';
import pico from 'picocolors';

/** The streams and the environment of a command. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream;
}

/** Writes results: tables and sentences for people, or JSON for programs. */
export interface Output {
  /** With `--json`, sentences and tables are left out. */
  readonly isJson: boolean;
  readonly colors: ReturnType<typeof pico.createColors>;
  /** Writes a line for people. */
  line(text?: string): void;
  /** Writes rows with headings for people. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): void;
  /** Writes the result for programs. */
  json(value: unknown): void;
  /** Writes text as it is, in both forms. */
  raw(text: string): void;
}

/** Colors appear on terminals only, and never with `NO_COLOR`. */
export function createOutput({ stdout, env }: CommandIo, isJson: boolean): Output {
  const isColored = stdout.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
  const colors = pico.createColors(isColored);
  return {
    isJson,
    colors,
    line: (text = '') => {
      if (!isJson) stdout.write(`${text}\n`);
    },
    table: (headings, rows) => {
      if (isJson) return;
      const table = new Table({ head: headings.map((one) => colors.bold(one)), chars: NO_BORDERS, style: PLAIN });
      for (const row of rows) table.push([...row]);
      stdout.write(`${table.toString().replaceAll(/ +$/gm, '')}\n`);
    },
    json: (value) => {
      if (isJson) stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    raw: (text) => {
      stdout.write(text);
    },
  };
}

const PLAIN = { head: [], border: [], 'padding-left': 0, 'padding-right': 2 };
const NO_BORDERS = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'].concat(
    ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
  ).map((name) => [name, '']),
);
