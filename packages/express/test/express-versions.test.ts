import { createFlags, memoryStorage } from '@flags/core';
import { EXPRESS_4, EXPRESS_5 } from './express-versions.js';

it('builds the router upon Express 4 and upon Express 5, not upon one of them twice', async () => {
  const flags = await createFlags({ storage: memoryStorage() });
  const four = EXPRESS_4.createFlagsRouter(flags, { auth: 'none' });
  const five = EXPRESS_5.createFlagsRouter(flags, { auth: 'none' });

  expect(Object.getPrototypeOf(four)).toBe(EXPRESS_4.express.Router);
  expect(five).toBeInstanceOf(EXPRESS_5.express.Router);
  expect(EXPRESS_4.express.Router).not.toBe(EXPRESS_5.express.Router);
  expect(require('express4/package.json').version).toMatch(/^4\./);
  expect(require('express/package.json').version).toMatch(/^5\./);
});
