// What runs inside of workerd and in a page: the specification, with the modules and the files in one bundle.

import { patterns } from '../../packages/core/dist/evaluate/patterns.js';
import * as evaluate from '../../packages/core/dist/evaluate.js';
import { CASES, evaluateSpecification } from './specification.cjs';

/** Replaced by the content of the files when it is bundled. */
const files = SPECIFICATION_FILES;

/** Throws unless every case has its result. Returns their number. */
export async function run() {
  const { evaluated, failures } = await evaluateSpecification({ ...evaluate, patterns }, files);
  if (failures.length > 0 || evaluated !== CASES) {
    throw new Error([`${evaluated} of ${CASES} cases were evaluated.`, ...failures].join('\n'));
  }
  return evaluated;
}

// biome-ignore lint/style/noDefaultExport: `workerd test` calls the default export.
export default {
  async test() {
    console.log(`${await run()} cases of the public client specification: ok`);
  },
};
