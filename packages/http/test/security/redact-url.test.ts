import { processorTime } from '../../../../test/processor-time.js';
import { redactUrl } from '../../../express/src/index.js';

const CREATED = '*:production.7f3a9c0d5e2b8f146c7d1a0e9b3f5c8d2e4a6b7c0d1e2f3a';
const GIVEN = 'a-secret-of-my-own-with-32-characters';

describe('a URL for a log', () => {
  it.each([
    [`/api/admin/api-tokens/${GIVEN}`, '/api/admin/api-tokens/[hidden]'],
    [`/flags/API/admin/API-tokens//${GIVEN}/more?a=b`, '/flags/API/admin/API-tokens/[hidden]?a=[hidden]'],
    [`/api/admin/api%2Dtokens/${encodeURIComponent(CREATED)}`, '/api/admin/api%2Dtokens/[hidden]'],
    [`/api/admin/projects/${encodeURIComponent(CREATED)}/features`, '/api/admin/projects/[hidden]/features'],
    [`/api/admin/projects?token=${GIVEN}&limit=7`, '/api/admin/projects?token=[hidden]&limit=7'],
    [`/api/admin/projects?${GIVEN}`, '/api/admin/projects?[hidden]'],
    [
      `/api/client/features?project=shop&project=${encodeURIComponent(CREATED)}`,
      '/api/client/features?project=shop&project=[hidden]',
    ],
    ['/api/frontend?userId=ada&properties[plan]=gold', '/api/frontend?userId=[hidden]&properties[plan]=[hidden]'],
    ['/api/admin/events?from=2026-01-01&type=flag-created', '/api/admin/events?from=2026-01-01&type=flag-created'],
    ['/api/admin/api-tokens', '/api/admin/api-tokens'],
    ['', ''],
    ['/?', '/?'],
  ])('shows %j as %j', (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });

  it('is short work for a long URL', () => {
    const started = processorTime();
    redactUrl(`/${'a'.repeat(39)}/`.repeat(400));
    for (const letter of ['a', 'z', '/', '=']) redactUrl(letter.repeat(100_000));
    redactUrl(`?${'f&'.repeat(8000)}`);
    expect(processorTime() - started).toBeLessThan(500);
  });
});
