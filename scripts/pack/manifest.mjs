// Writes `publishConfig` of each package, which pnpm puts into the package.json of the tarball. It follows from `exports` and `bin`.
//
//   node scripts/pack/manifest.mjs            fails if a package.json is out of date
//   node scripts/pack/manifest.mjs --write    writes them
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entriesOf, isCompiled, OUTPUT, PACKAGES, PUBLISHED, readManifest } from './entries.mjs';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const outdated = PUBLISHED.filter((name) => !isCurrent(join(PACKAGES, name)));
  if (process.argv.includes('--write')) for (const name of outdated) write(join(PACKAGES, name));
  else if (outdated.length > 0) {
    console.error(`publishConfig is out of date: ${outdated.join(', ')}. Run npm run exports:write.`);
    process.exitCode = 1;
  }
}

export function isCurrent(folder) {
  const manifest = readManifest(folder);
  return JSON.stringify(manifest.publishConfig) === JSON.stringify(publishConfigOf(manifest));
}

function write(folder) {
  const manifest = readManifest(folder);
  const updated = Object.entries(manifest).flatMap(([key, value]) => {
    if (key === 'publishConfig') return [];
    const entry = [key, value];
    return key === 'exports' ? [entry, ['publishConfig', publishConfigOf(manifest)]] : [entry];
  });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(Object.fromEntries(updated), undefined, 2)}\n`);
}

/** Who may install a package, with a proof of where it was built, and the fields that name published files. */
function publishConfigOf(manifest) {
  const { exports, bin } = manifest;
  const entries = entriesOf(manifest);
  const main = entries.find(({ subpath }) => subpath === '.');
  const others = entries.filter((entry) => entry !== main);
  const published = new Map(entries.map((entry) => [entry.subpath, conditionsOf(entry)]));
  return {
    access: 'public',
    provenance: true,
    ...(main && { main: `./${OUTPUT}/index.cjs`, types: `./${OUTPUT}/index.d.cts` }),
    ...(others.length > 0 && {
      typesVersions: { '*': Object.fromEntries(others.map(({ name }) => [name, [`./${OUTPUT}/${name}.d.cts`]])) },
    }),
    exports: Object.fromEntries(Object.entries(exports).map(([key, file]) => [key, published.get(key) ?? file])),
    ...(bin && { bin: Object.fromEntries(Object.entries(bin).map(([name, file]) => [name, publishedBin(file)])) }),
  };
}

/**
 * Node 20.19 and newer takes `module-sync` for `import` and `require`, so that a process has one copy. Jest and older
 * resolvers of TypeScript do not know the condition.
 */
function conditionsOf({ name }) {
  const path = `./${OUTPUT}/${name}`;
  const module = { types: `${path}.d.ts`, default: `${path}.js` };
  return { 'module-sync': module, import: module, require: { types: `${path}.d.cts`, default: `${path}.cjs` } };
}

function publishedBin(file) {
  if (!isCompiled(file)) throw new Error(`${file} is not a compiled file`);
  return `./${OUTPUT}/${basename(file)}`;
}
