import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import type { StorageKind } from '../../../core/test/storage-kinds.js';
import type { ExpressVersion } from '../express-versions.js';
import { expressAdapter } from './adapters.js';
import { secretFor, startContractHost } from './contract-host.js';
import { everythingIn } from './everything.js';
import { askRaw, type Ending, type RawAnswer, type RawRequest } from './raw-client.js';
import { FEATURES, owned, reported, withStrategy } from './states.js';

export interface HostileServer {
  /** Sends a request with a token. Expects a status below 500, and no change unless it succeeds. */
  readonly attack: (request: RawRequest, ending?: Ending) => Promise<RawAnswer>;
  /** The same for many requests at once: expects no change unless one of them succeeds. */
  readonly attackAtOnce: (requests: readonly RawRequest[]) => Promise<readonly RawAnswer[]>;
  /** Expects that the server still creates flags, and that nothing has reached the host's error handler. */
  readonly expectAlive: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** A server with every kind of document, for hostile requests. */
export async function startHostileServer(version: ExpressVersion, storage: StorageKind): Promise<HostileServer> {
  const { app, flags, faults, stop } = await startContractHost(expressAdapter(version), storage);
  await withStrategy(flags);
  await flags.createFlag({ project: 'default' }, { name: 'other' });
  await flags.setVariants({ project: 'default', flag: 'checkout' }, [{ name: 'blue' }, { name: 'green' }]);
  await owned(flags);
  await reported(flags);
  const server = createServer(app as Express).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let fresh = 0;

  async function ask(request: RawRequest, ending?: Ending): Promise<RawAnswer> {
    const answer = await askRaw(port, withToken(request), ending);
    const { status = 400, text } = answer;
    if (status >= 500) throw new Error(`${request.method} ${request.path} was answered with ${status}: ${text}`);
    return answer;
  }

  /** The state after the latest requests, if they were refused: it is the state before the next ones. */
  let known: unknown;

  async function unlessDone<Answers>(answering: () => Promise<Answers>, answersOf: (answers: Answers) => RawAnswer[]) {
    const before = known ?? (await everythingIn(flags));
    known = undefined;
    const answers = await answering();
    const isRefused = answersOf(answers).every(({ status = 400 }) => status >= 300);
    if (isRefused) {
      const after = await everythingIn(flags);
      expect(after).toEqual(before);
      known = after;
    }
    return answers;
  }

  return {
    attack: (request, ending) =>
      unlessDone(
        () => ask(request, ending),
        (answer) => [answer],
      ),
    attackAtOnce: (requests) =>
      unlessDone(
        () => Promise.all(requests.map((request) => ask(request))),
        (answers) => answers,
      ),
    async expectAlive() {
      known = undefined;
      const body = JSON.stringify({ name: `fresh-${++fresh}` });
      const answer = await askRaw(port, withToken({ method: 'POST', path: FEATURES, body }));
      expect([answer.status, JSON.parse(answer.text).name]).toEqual([201, `fresh-${fresh}`]);
      expect(faults).toEqual([]);
    },
    async stop() {
      server.close();
      await once(server, 'close');
      await stop();
    },
  };
}

/** Node reads the first of two `Authorization` headers, so the header of the request precedes ours. */
function withToken({ headers = [], ...request }: RawRequest): RawRequest {
  return { ...request, headers: [...headers, ['authorization', secretFor(request.path)]] };
}
