import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty directory, and a way to remove it with everything in it. */
export function temporaryDirectory(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'flags-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
