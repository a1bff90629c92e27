import { writeFileSync } from 'node:fs';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { codeBlocks, read } from '../../http/test/docs/documents.js';
import { runProgram } from '../../http/test/docs/run-module.js';
import { temporaryFolder } from './command-line.js';
import { replay, transcriptsIn, withoutGenerated } from './transcripts.js';

const GUIDE = read('docs/getting-started.md');
const path = temporaryFolder();

/** Runs a program of the tutorial on a store, and returns what it prints. */
async function printedBy(program: string, store: string): Promise<string> {
  const lines: string[] = [];
  const scope = { console: { log: (...values: unknown[]) => lines.push(values.join(' ')) } };
  await runProgram(program.replaceAll("'./flags.db'", JSON.stringify(store)), { result: 'undefined', scope });
  return lines.join('\n');
}

it('the tutorial shows what its commands and programs print, up to the deletion', async () => {
  const store = path('flags.db');
  const testers = path('testers.yaml');
  const [app = ''] = codeBlocks(GUIDE, 'ts');
  const deletion = codeBlocks(GUIDE, 'js').at(-1) ?? '';
  writeFileSync(testers, codeBlocks(GUIDE, 'yaml')[0] ?? '');
  const files = new Map([['testers.yaml', testers]]);
  const runOther = () => printedBy(app, store);

  const transcripts = transcriptsIn(GUIDE);
  const shown = transcripts.slice(0, -1).join('\n');
  expect(withoutGenerated(await replay(shown, { store, files, runOther }))).toBe(withoutGenerated(shown));

  const imports = app.split('\n').filter((line) => line.startsWith('import '));
  await printedBy([...imports, deletion].join('\n'), store);
  const last = transcripts.at(-1) ?? '';
  expect(withoutGenerated(await replay(last, { store }))).toBe(withoutGenerated(last));

  const flags = await openFlags({ storage: sqliteStorage(store) });
  expect(flags.projectOf({ flag: 'checkout' })).toBeUndefined();
  await flags.close();
});
