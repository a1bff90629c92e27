// Writes the files of packages that their tarballs hold, from those that `tsc -b` wrote. Runs before a package is packed.
//
//   cd packages/core && node ../../scripts/pack/main.mjs          of one package
//   node scripts/pack/main.mjs packages/core packages/http        of several: in one process, which takes half of the time
import { existsSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { writeCode } from './code.mjs';
import { writeDeclarations } from './declarations.mjs';
import { entriesOf, OUTPUT, readManifest } from './entries.mjs';
import { isCurrent } from './manifest.mjs';
import { writeNotices } from './notices.mjs';

const given = process.argv.slice(2);
const folders = given.length > 0 ? given.map((folder) => resolve(folder)) : [process.cwd()];
const packages = folders.map((folder) => ({ folder, entries: entriesOf(readManifest(folder)) }));

for (const { folder, entries } of packages) {
  if (!isCurrent(folder)) fail(folder, 'its publishConfig does not fit its exports. Run npm run exports:write.');
  if (!existsSync(join(folder, 'dist'))) fail(folder, 'it is not compiled. Run npm run build.');
  rmSync(join(folder, OUTPUT), { recursive: true, force: true });
  const bundled = await writeCode(folder, readManifest(folder), entries);
  writeNotices(
    join(folder, OUTPUT),
    bundled.map((file) => join(folder, file)),
  );
}
writeDeclarations(packages.filter(({ entries }) => entries.length > 0));

function fail(folder, reason) {
  console.error(`${basename(folder)} cannot be packed: ${reason}`);
  process.exit(1);
}
