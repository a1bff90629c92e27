import fs from 'node:fs/promises';
import { join } from 'node:path';
import { publishFile } from '../../../src/storage/sqlite/backup.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { failToFlush, fault } from './failing-flush.js';

describe('a finished file', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let finished: string;
  let target: string;

  beforeEach(async () => {
    directory = temporaryDirectory();
    finished = join(directory.path, 'finished');
    target = join(directory.path, 'target');
    await fs.writeFile(finished, 'new');
  });

  afterEach(() => {
    jest.restoreAllMocks();
    directory.remove();
  });

  it('gets its name, and loses the other', async () => {
    await publishFile(finished, target);
    expect(await fs.readdir(directory.path)).toEqual(['target']);
    expect(await fs.readFile(target, 'utf8')).toBe('new');
  });

  it('replaces nothing', async () => {
    await fs.writeFile(target, 'old');
    await expect(publishFile(finished, target)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await fs.readFile(target, 'utf8')).toBe('old');
  });

  it.each(['EPERM', 'ENOTSUP'])('is renamed where links fail with %s', async (code) => {
    jest.spyOn(fs, 'link').mockRejectedValue(fault(code));
    await publishFile(finished, target);
    expect(await fs.readdir(directory.path)).toEqual(['target']);
  });

  it.each(['EINVAL', 'ENOTSUP'])('is published where flushing a directory fails with %s', async (code) => {
    failToFlush(code);
    await publishFile(finished, target);
    expect(await fs.readdir(directory.path)).toEqual(['target']);
  });

  it('is there when the disk fails to flush the directory, and its name is said not to be durable', async () => {
    failToFlush('EIO');
    await expect(publishFile(finished, target)).rejects.toMatchObject({
      name: 'NameNotDurable',
      cause: { code: 'EIO' },
    });
    expect(await fs.readdir(directory.path)).toEqual(['target']);
  });
});
