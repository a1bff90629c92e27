// Writes the published JSON Schema of definitions, which a test compares with the code. After a build:
//
//   node scripts/definitions-schema.mjs
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { definitionsSchema } from '../packages/core/dist/index.js';

const ROOT = join(fileURLToPath(import.meta.url), '../..');
const FILE = join(ROOT, 'packages/core/definitions.schema.json');

writeFileSync(FILE, JSON.stringify(definitionsSchema(), undefined, 2));
execFileSync('node_modules/.bin/biome', ['format', '--write', FILE], { cwd: ROOT });
