import { CLIENT_SECRET, FRONTEND_SECRET } from '../contract-host.js';
import type { Row } from '../row.js';

const PATH = '/edge/validate';
const UNKNOWN = 'default:production.invented';

function refuses(name: string, body: unknown): Row {
  return {
    endpoint: 'verifyTokens',
    name: `refuses ${name}`,
    request: { method: 'POST', path: PATH, body },
    expect: { status: 400, code: 'invalid_input' },
  };
}

export const edgeRows: readonly Row[] = [
  {
    endpoint: 'verifyTokens',
    name: 'finds the tokens among the secrets, and leaves out unknown ones',
    request: { method: 'POST', path: PATH, body: { tokens: [FRONTEND_SECRET, UNKNOWN, CLIENT_SECRET, UNKNOWN] } },
    expect: {
      status: 200,
      body: {
        tokens: [
          { token: FRONTEND_SECRET, type: 'frontend', projects: ['*'], environment: 'production' },
          { token: CLIENT_SECRET, type: 'client', projects: ['*'], environment: 'production' },
        ],
      },
    },
  },
  {
    endpoint: 'verifyTokens',
    name: 'finds none among none',
    request: { method: 'POST', path: PATH, body: { tokens: [] } },
    expect: { status: 200, body: { tokens: [] } },
  },
  refuses('more than 100 secrets', { tokens: Array.from({ length: 101 }, (_, index) => `secret-${index}`) }),
  refuses('a secret that is too long', { tokens: ['x'.repeat(256)] }),
  refuses('a body without secrets', {}),
];
