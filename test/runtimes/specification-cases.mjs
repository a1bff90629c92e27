import assert from 'node:assert/strict';
import { patterns } from '../../packages/core/dist/evaluate/patterns.js';
import * as evaluate from '../../packages/core/dist/evaluate.js';
import { CASES, evaluateSpecification } from './specification.cjs';
import { specificationFiles } from './specification-files.mjs';

/** All cases of the public client specification, evaluated by `@flags/core/evaluate`. */
export function declareSpecificationCases() {
  describe('the public client specification', () => {
    let evaluated = 0;
    for (const file of specificationFiles) {
      it(file.name, async () => {
        const result = await evaluateSpecification({ ...evaluate, patterns }, [file]);
        assert.deepEqual(result.failures, []);
        evaluated += result.evaluated;
      });
    }
    it(`has ${CASES} cases`, () => {
      assert.equal(evaluated, CASES);
    });
  });
}
