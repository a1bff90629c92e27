import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { specificationFiles } from './specification-files.mjs';

/** Bundles in-worker.mjs as an application for browsers does: an import of a module of Node fails. */
export async function bundleWorker() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('in-worker.mjs', import.meta.url))],
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    write: false,
    define: { SPECIFICATION_FILES: JSON.stringify(specificationFiles) },
  });
  return outputFiles[0].text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(await bundleWorker());
