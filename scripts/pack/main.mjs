// Writes the files of one package that its tarball holds, from those that `tsc -b` wrote. Runs before it is packed.
//
//   cd packages/core && node ../../scripts/pack/main.mjs
//   cd packages/core && node ../../scripts/pack/main.mjs --code-only    without types, for a folder that is only run
import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeCode } from './code.mjs';
import { writeDeclarations } from './declarations.mjs';
import { entriesOf, OUTPUT, readManifest } from './entries.mjs';
import { isCurrent } from './manifest.mjs';
import { writeNotices } from './notices.mjs';

const folder = process.cwd();
const manifest = readManifest(folder);
const entries = entriesOf(manifest);

if (!isCurrent(folder)) fail('its publishConfig does not fit its exports. Run npm run exports:write.');
if (!existsSync(join(folder, 'dist'))) fail('it is not compiled. Run npm run build.');

rmSync(join(folder, OUTPUT), { recursive: true, force: true });
const bundled = await writeCode(folder, manifest, entries);
writeNotices(
  join(folder, OUTPUT),
  bundled.map((file) => join(folder, file)),
);
if (entries.length > 0 && !process.argv.includes('--code-only')) writeDeclarations(folder, entries);

function fail(reason) {
  console.error(`${basename(folder)} cannot be packed: ${reason}`);
  process.exit(1);
}
