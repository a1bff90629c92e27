import fs from 'node:fs/promises';

/** Makes every flush of a directory, or of a file, that Node opens fail with this code, until mocks are restored. */
export function failToFlush(code: string, kind: 'directory' | 'file' = 'directory'): void {
  const open = fs.open;
  jest.spyOn(fs, 'open').mockImplementation(async (...input) => {
    const handle = await open(...input);
    if ((await handle.stat()).isDirectory() !== (kind === 'directory')) return handle;
    handle.sync = async () => {
      throw fault(code);
    };
    return handle;
  });
}

export function fault(code: string): Error {
  return Object.assign(new Error(code), { code });
}
