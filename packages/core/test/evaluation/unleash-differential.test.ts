import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { compileSnapshot } from '../../src/evaluation/snapshot.js';
import { arbitraryContext, arbitraryFlags, arbitrarySegments, FLAG_NAMES } from './arbitrary-documents.js';

const HOSTNAME = 'Host-A';

describe('random documents and contexts, against the Node SDK of Unleash', () => {
  const hostname = process.env.HOSTNAME;
  // The SDK reads it when it is loaded.
  process.env.HOSTNAME = HOSTNAME;
  const { unleashReference } = require('./unleash-reference.js') as typeof import('./unleash-reference.js');

  afterAll(() => {
    if (hostname === undefined) delete process.env.HOSTNAME;
    else process.env.HOSTNAME = hostname;
  });

  it('come to the same, flags and variants', () => {
    const document = fc.record({ flags: arbitraryFlags, segments: arbitrarySegments });
    const contexts = fc.array(arbitraryContext, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(document, contexts, ({ flags, segments }, users) => {
        const snapshot = compileSnapshot({ flags, segments, now: Date.now, hostname: HOSTNAME });
        const reference = unleashReference(flags, segments);
        for (const context of users) {
          for (const name of FLAG_NAMES) {
            expect([name, snapshot.isEnabled(name, context)]).toEqual([name, reference.isEnabled(name, context)]);
            expect([name, snapshot.getVariant(name, context)]).toEqual([name, reference.getVariant(name, context)]);
          }
        }
      }),
      { numRuns: extent({ short: 300, full: 5_000 }) },
    );
  });
});
