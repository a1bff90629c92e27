import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeBlocks, read } from './documents.js';
import { loadModule } from './run-module.js';

const storage = readFileSync(join(__dirname, '../../../../examples/embedded/src/file-storage.ts'), 'utf8');
const [conformance = ''] = codeBlocks(read('examples/embedded/README.md'), 'ts');

// The example has them in two files; the second declares the tests.
loadModule(storage + conformance.replace(/^import \{ fileStorage \}.*\n/m, ''));
