import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { extent } from '../../../../test/extent.js';
import { SEED } from '../../../../test/seed.js';
import { STORAGES } from '../../../core/test/storage-kinds.js';
import { type HostileServer, startHostileServer } from '../contract/hostile-server.js';
import type { RawRequest } from '../contract/raw-client.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { hostileRequests } from './hostile-stream.js';

const MEBIBYTE = 1024 * 1024;
const BYTES = extent({ short: MEBIBYTE, full: 50 * MEBIBYTE });
const AT_ONCE = 16;

const HOSTS = STORAGES.map((storage, index) => {
  return { storage, version: EXPRESS_VERSIONS[index % EXPRESS_VERSIONS.length] as (typeof EXPRESS_VERSIONS)[number] };
});

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

describe.each(HOSTS)(`a server on $storage.name that gets ${BYTES} bytes of hostile input (seed ${SEED})`, (host) => {
  let server: HostileServer;

  beforeEach(async () => {
    server = await startHostileServer(host.version, host.storage);
  });

  afterEach(() => server.stop());

  it('refuses invalid input without effects, and does not retain it', async () => {
    const requests = hostileRequests(SEED);
    await attack(requests, MEBIBYTE / 4);
    const before = usedHeap();
    const answers = await attack(requests, BYTES);
    // Garbage of tests that ran before in this process moves the heap as well: only much input shows what is kept.
    extent({ short: () => undefined, full: () => expect(usedHeap() - before).toBeLessThan(48 * MEBIBYTE) })();
    expect(answers.refused).toBeGreaterThan(answers.granted);
    await server.expectAlive();
  });

  /** Sends at least so many bytes of addresses and bodies. */
  async function attack(requests: Generator<RawRequest, never>, bytes: number) {
    const count = { refused: 0, granted: 0 };
    for (let sent = 0; sent < bytes; ) {
      const batch = Array.from({ length: AT_ONCE }, () => requests.next().value);
      const answers = await server.attackAtOnce(batch);
      for (const { status = 400 } of answers) count[status < 300 ? 'granted' : 'refused'] += 1;
      for (const { path, body = '' } of batch) sent += path.length + body.length;
    }
    return count;
  }
});

function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
