import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Flags } from '@flags/core';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

describe.each(['packages/core/README.md', 'packages/express/README.md'])('the code of %s', (path) => {
  it('runs unchanged', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'flags-readme-'));
    const code = codeBlocks(read(path), 'js').join('\n');
    const movable = code.replace("'./flags.db'", JSON.stringify(join(directory, 'flags.db')));
    const flags = (await runProgram(movable, { result: 'flags', scope: {} })) as Flags;
    expect(await flags.listProjects()).toHaveLength(1);
    await flags.close();
    await rm(directory, { recursive: true });
  });
});
