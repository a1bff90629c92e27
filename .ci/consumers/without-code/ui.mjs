import assert from 'node:assert/strict';
import { createFlagsUiFetchHandler } from '@flags/ui';
import './changes.mjs';

const page = createFlagsUiFetchHandler();
assert.equal((await page(new Request('http://localhost/ui/'))).status, 200);
assert.throws(() => createFlagsUiFetchHandler({ title: 7 }), TypeError);
console.log('ui without code from strings: ok');
