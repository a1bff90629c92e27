// Bundles the admin page: one script and one stylesheet.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { packagesOf } from '../../../scripts/pack/notices.mjs';

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
  return { outputFiles, packages: packagesOf(Object.keys(metafile.inputs).map((input) => join(PACKAGE, input))) };
}
