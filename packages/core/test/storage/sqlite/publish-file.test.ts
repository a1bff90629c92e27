import fs from 'node:fs/promises';
import { join } from 'node:path';
import { publishFile } from '../../../src/storage/sqlite/publish-file.js';
import { temporaryDirectory } from '../temporary-directory.js';

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

  it('fails when the disk fails to flush the directory', async () => {
    failToFlush('EIO');
    await expect(publishFile(finished, target)).rejects.toMatchObject({ code: 'EIO' });
  });
});

/** What some file systems do cannot be had from this one. */
function failToFlush(code: string): void {
  const open = fs.open;
  jest.spyOn(fs, 'open').mockImplementation(async (...input) => {
    const handle = await open(...input);
    handle.sync = async () => {
      throw fault(code);
    };
    return handle;
  });
}

function fault(code: string): Error {
  return Object.assign(new Error(code), { code });
}
