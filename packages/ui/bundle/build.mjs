// Bundles the admin page into src/assets.ts: one script and one stylesheet, named by their content, Brotli in base64.
// Runs before tsc -b, and writes only what has changed.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { noticesOf } from '../../../scripts/pack/notices.mjs';
import { bundlePage, PACKAGE } from './page.mjs';

const { outputFiles, packages } = await bundlePage();

const files = outputFiles.map(({ path, contents }) => {
  const extension = path.slice(path.lastIndexOf('.') + 1);
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 12);
  return { extension, name: `app-${hash}.${extension}`, contents };
});
writeIfChanged('src/assets.ts', assetsModule(files));
writeIfChanged('THIRD-PARTY.txt', noticesOf('The page contains', packages));

function assetsModule(all) {
  const types = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
  const entries = all.map(({ name, extension, contents }) => {
    const brotli = brotliCompressSync(contents, {
      params: { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length },
    }).toString('base64');
    return `  '${name}': { type: '${types[extension]}', brotli: '${brotli}' },\n`;
  });
  const nameOf = (extension) => all.find((file) => file.extension === extension).name;
  return `// Built from app/ by bundle/build.mjs.
export const names = { script: '${nameOf('js')}', style: '${nameOf('css')}' } as const;

export const assets = {
${entries.join('')}};
`;
}

function writeIfChanged(name, text) {
  const path = join(PACKAGE, name);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  writeFileSync(path, text);
  console.log(`wrote ${relative(process.cwd(), path)}`);
}
