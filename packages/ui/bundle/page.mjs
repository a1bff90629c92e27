// Bundles the admin page: one script and one stylesheet.
import { readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Returns the built files, and the packages of others in them. */
export async function bundlePage() {
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
    jsx: 'transform',
    jsxFactory: 'h',
    jsxFragment: 'Fragment',
    inject: ['bundle/jsx.mjs'],
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'warning',
  });
  return { outputFiles, packages: packagesOf(Object.keys(metafile.inputs)) };
}

function packagesOf(inputs) {
  const folders = new Set(
    inputs.flatMap((input) => {
      const parts = join(PACKAGE, input).split(`node_modules${sep}`);
      const [scope, name] = parts.at(-1).split(sep);
      if (parts.length === 1) return [];
      const folder = scope.startsWith('@') ? join(scope, name) : scope;
      return [join(parts.slice(0, -1).join(`node_modules${sep}`), 'node_modules', folder)];
    }),
  );
  const packages = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return { name, version, license, notice: readFileSync(join(folder, 'LICENSE'), 'utf8').trim() };
  });
  return packages.sort((one, other) => (one.name < other.name ? -1 : 1));
}
