import { flagName } from '../http/content.js';
import { exchange, type SentRequest } from '../http/exchange.js';

/** Where requests go, and as whom. */
export interface Access {
  readonly origin: string;
  readonly adminToken: string;
}

const FEATURES = '/api/admin/projects/default/features';
const ENVIRONMENTS = ['development', 'production'];
const AT_ONCE = 10;

/** Creates the flags from this number up to that one, by the admin API: on where the number is even, a strategy everywhere. */
export async function fill(access: Access, from: number, to: number): Promise<void> {
  let next = from;
  const worker = async () => {
    while (next < to) await addFlag(access, next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** The secret of a token for the SDKs of an environment. */
export async function createClientToken(access: Access): Promise<string> {
  const token = { username: 'load', type: 'client', environment: 'development', projects: ['default'] };
  const { secret } = JSON.parse(await change(access, '/api/admin/api-tokens', token)) as { secret: string };
  return secret;
}

async function addFlag(access: Access, number: number): Promise<void> {
  const name = flagName(number);
  await change(access, FEATURES, { name, description: `What ${name} is for, in a sentence.` });
  for (const environment of ENVIRONMENTS) {
    await change(access, `${FEATURES}/${name}/environments/${environment}/strategies`, {
      name: 'flexibleRollout',
      parameters: { rollout: '50', stickiness: 'default', groupId: name },
      constraints: [{ contextName: 'appName', operator: 'IN', values: ['shop', 'stock', 'mail'] }],
    });
  }
  if (number % 2 === 0) await change(access, `${FEATURES}/${name}/environments/development/on`, {});
}

/** @throws Error when it is not answered with success */
async function change({ origin, adminToken }: Access, path: string, body: object): Promise<string> {
  const answer = await exchange(origin, authorized(post(path, body), adminToken));
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.body}`);
  return answer.body;
}

export function get(path: string): SentRequest {
  return { method: 'GET', path };
}

export function post(path: string, body: object): SentRequest {
  return { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

export function authorized(request: SentRequest, token: string): SentRequest {
  return { ...request, headers: { ...request.headers, authorization: token } };
}
