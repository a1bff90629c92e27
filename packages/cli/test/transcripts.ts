import { flagsCommand, type Result } from './command-line.js';

/** The transcripts of a document: its `console` blocks. */
export function transcriptsIn(document: string): readonly string[] {
  return [...document.matchAll(/^```console\n([\s\S]*?)\n```$/gm)].map(([, text = '']) => text);
}

export interface ReplayOptions {
  /** The file that stands for `./flags.db`. */
  readonly store: string;
  /** Files that the commands name, by the names in the transcript. */
  readonly files?: ReadonlyMap<string, string>;
  /** Runs a command that is not `flags`. Default: such commands print nothing. */
  readonly runOther?: (command: string) => Promise<string>;
}

/**
 * Runs the commands of a transcript as the user ada, and returns them with their output as a reader sees it. A word that
 * ends with `…` stands for the id in the last advice to undo a change, or to withdraw a request.
 */
export async function replay(
  transcript: string,
  { store, files = new Map(), runOther }: ReplayOptions,
): Promise<string> {
  const env = { FLAGS_STORE: store, FLAGS_ACTOR: 'ada' };
  const lines: string[] = [];
  let id = '';
  let last: Pick<Result, 'code'> = { code: 0 };
  for (const line of transcript.split('\n').filter((one) => one.startsWith('$ '))) {
    lines.push(line);
    if (line === '$ echo $?') lines.push(String(last.code));
    else if (line.startsWith('$ flags ')) {
      const words = wordsOf(line.slice(8)).map((word) => files.get(word) ?? word.replace(/^.+…$/, id));
      const { code, out, err } = await flagsCommand(words, { env });
      last = { code };
      id = /flags (?:undo|requests withdraw) (\S+)/.exec(out)?.[1] ?? id;
      lines.push(`${out}${err}`.replaceAll(store, './flags.db').trimEnd());
    } else if (runOther) lines.push((await runOther(line.slice(2))).trimEnd());
  }
  return lines.join('\n');
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

/** Leaves out what differs each time: ids, secrets and times. */
export function withoutGenerated(text: string): string {
  return text
    .replaceAll(/\d{4}-(\d\d-\d\dT[\d:.]+Z|\d\d-\d\d|… {4}|…)/g, 'TIME')
    .replaceAll(/(?<=:production\.)\S+/g, 'SECRET')
    .replaceAll(/\b([0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|[0-9a-f]{4}…)/g, 'ID');
}
