import { codeBlocks, read } from './documents.js';
import { loadModule } from './run-module.js';

const [storage = '', conformance = ''] = codeBlocks(read('docs/writing-a-storage.md'), 'ts');

// The guide has them in two files; the second declares the tests.
loadModule(storage + conformance.replace(/^import \{ fileStorage \}.*\n/m, ''));
