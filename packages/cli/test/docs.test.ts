import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../src/output.js';
import { flagsCommand, temporaryFolder } from './command-line.js';

const GUIDE = readFileSync(join(__dirname, '../../../docs/command-line.md'), 'utf8');
const path = temporaryFolder();

/** Runs the commands of the transcripts, and returns them with their output as a reader sees it. */
async function replay(transcript: string): Promise<string> {
  const store = path('flags.db');
  const env = { FLAGS_STORE: store, FLAGS_ACTOR: 'ada' };
  const lines: string[] = [];
  let id = '';
  let last = 0;
  for (const line of transcript.split('\n').filter((one) => one.startsWith('$ '))) {
    lines.push(line);
    if (line === '$ echo $?') lines.push(String(last));
    if (!line.startsWith('$ flags ')) continue;
    const { code, out, err } = await flagsCommand(
      wordsOf(line.slice(8)).map((word) => word.replace(/^.+…$/, id)),
      { env },
    );
    last = code;
    id = /flags undo (\S+)/.exec(out)?.[1] ?? id;
    lines.push(`${out}${err}`.replaceAll(store, './flags.db').trimEnd());
  }
  return lines.join('\n');
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

/** Leaves out what differs each time: ids, secrets and times. */
function withoutGenerated(text: string): string {
  return text
    .replaceAll(/\d{4}-(\d\d-\d\dT[\d:.]+Z|…)/g, 'TIME')
    .replaceAll(/(?<=:production\.)\S+/g, 'SECRET')
    .replaceAll(/\b([0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|[0-9a-f]{4}…)/g, 'ID');
}

it('shows the transcripts that the commands give', async () => {
  const transcripts = [...GUIDE.matchAll(/^```console\n([\s\S]*?)\n```$/gm)].map(([, text = '']) => text);
  expect(transcripts.length).toBeGreaterThan(1);
  const shown = transcripts.join('\n');
  expect(withoutGenerated(await replay(shown))).toBe(withoutGenerated(shown));
});

it('lists every command, option and exit code', async () => {
  const { out } = await flagsCommand(['--help']);
  const [, commands = ''] = out.split('Commands:');
  for (const [, name] of commands.matchAll(/^ {2}(\w+)/gm)) if (name !== 'help') expect(GUIDE).toContain(`\`${name}`);
  for (const [, option] of out.matchAll(/^ {2}(--\w[\w-]*)/gm)) expect(GUIDE).toContain(option);
  for (const code of Object.values(EXIT)) expect(GUIDE).toMatch(new RegExp(`^\\| ${code} +\\| `, 'm'));
});
