// Bundles the admin page into src/assets.ts: one script and one stylesheet, named by their content, Brotli in base64.
// Runs before tsc -b, and writes only what has changed.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '..');

const { outputFiles, metafile } = await build({
  absWorkingDir: PACKAGE,
  entryPoints: { app: 'app/main.tsx' },
  outdir: 'out',
  bundle: true,
  write: false,
  minify: true,
  metafile: true,
  format: 'esm',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  // The sources, because the bundle is built before the packages.
  alias: { '@flags/core/admin': join(PACKAGE, '../core/src/admin.ts') },
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'warning',
});

const files = outputFiles.map(({ path, contents }) => {
  const extension = path.slice(path.lastIndexOf('.') + 1);
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 12);
  return { extension, name: `app-${hash}.${extension}`, contents };
});
writeIfChanged('src/assets.ts', assetsModule(files));
writeIfChanged('THIRD-PARTY.txt', notices(Object.keys(metafile.inputs)));

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

/** The licences of the packages in the script. */
function notices(inputs) {
  const folders = new Set(
    inputs.flatMap((input) => {
      const parts = join(PACKAGE, input).split(`node_modules${sep}`);
      const [scope, name] = parts.at(-1).split(sep);
      if (parts.length === 1) return [];
      const folder = scope.startsWith('@') ? join(scope, name) : scope;
      return [join(parts.slice(0, -1).join(`node_modules${sep}`), 'node_modules', folder)];
    }),
  );
  const texts = [...folders].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n`;
  });
  return `The page contains these packages.\n\n${texts.sort().join(`\n${'-'.repeat(80)}\n\n`)}`;
}

function writeIfChanged(name, text) {
  const path = join(PACKAGE, name);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  writeFileSync(path, text);
  console.log(`wrote ${relative(process.cwd(), path)}`);
}
