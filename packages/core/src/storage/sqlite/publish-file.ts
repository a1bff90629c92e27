import { link, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The file has its name, but a power cut may take the name from it. */
export class NameNotDurable extends Error {
  override readonly name = 'NameNotDurable';
}

/**
 * Gives a finished file its name, in one step and durably: nobody sees it unfinished, not even after a power cut. Fails with
 * `EEXIST` when something has that name, but for file systems without hard links, where it would be replaced; with
 * {@link NameNotDurable} when the file is there, and its directory cannot be flushed.
 */
export async function publishFile(finished: string, path: string): Promise<void> {
  try {
    await link(finished, path);
    await unlink(finished);
  } catch (error) {
    if (!isWithoutLinks(error)) throw error;
    await rename(finished, path);
  }
  await flushDirectory(dirname(path)).catch((cause: Error) => {
    throw new NameNotDurable(cause.message, { cause });
  });
}

/** Some file systems, such as exFAT, have no hard links. */
function isWithoutLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error));
}

/** Windows does not open directories, and needs none of this. */
async function flushDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } catch (error) {
    if (!isWithoutDirectoryFlush(error)) throw error;
  } finally {
    await directory.close();
  }
}

/** Some file systems on a network flush files alone; SQLite leaves it at that too. */
function isWithoutDirectoryFlush(error: unknown): boolean {
  return ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}
