import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const { resolve } = createRequire(new URL('../../packages/core/package.json', import.meta.url));
const folder = join(dirname(resolve('@unleash/client-specification/package.json')), 'specifications');
const read = (file) => JSON.parse(readFileSync(join(folder, file), 'utf8'));

/** The files of the public client specification. Its package cannot be imported. */
export const specificationFiles = read('index.json').map(read);
