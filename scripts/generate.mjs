// Generates the modules that git does not have. Runs before the server is bundled, before tsc -b, and before the tests.
//
//   node scripts/generate.mjs

import { startProgress } from './progress.mjs';

/** Each writes only what has changed. A new generator is one line here. */
const GENERATORS = [
  () => import('../packages/ui/bundle/build.mjs'),
  () => import('./compile-schemas.mjs').then(({ compileAll }) => compileAll()),
];

const stop = startProgress('Generating what git does not have, about a second', () => 'esbuild');
for (const generate of GENERATORS) await generate();
stop();
