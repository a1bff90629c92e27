import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { until } from '../../../../test/until.js';
import { createClientHub } from '../../src/client/client-hub.js';
import type { ReplySink } from '../../src/index.js';

const DEFAULT = { project: 'default' };
const CHECKOUT = { ...DEFAULT, flag: 'checkout' };

/** A client that takes everything at once, or nothing after the first slice. */
function clientOf(pace: 'fast' | 'stuck' = 'fast', onWrite = () => {}) {
  const listeners = new Map<string, (() => void)[]>();
  const emit = (event: string) => {
    for (const listener of listeners.get(event) ?? []) listener();
  };
  let destroyed = false;
  const chunks: (string | Uint8Array)[] = [];
  const leave = () => {
    destroyed = true;
    emit('close');
  };
  const sink: ReplySink = {
    get destroyed() {
      return destroyed;
    },
    write(chunk) {
      onWrite();
      chunks.push(chunk);
      return pace === 'fast';
    },
    end: leave,
    destroy: leave,
    on: (event, listener) => listeners.set(event, [...(listeners.get(event) ?? []), listener]),
  };
  const text = () => Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString();
  return { sink, chunks, leave, text, resume: () => emit('drain') };
}

interface Joined {
  readonly environment: string;
  /** Called before each write. */
  readonly onWrite: () => void;
}

describe('the full state of a stream', () => {
  let flags: Flags;
  let conversions: number;
  let hub: ReturnType<typeof createClientHub>;

  /** Counts how often the flag `checkout` is converted: once per encoding of the state. */
  function counted(engine: Flags): Flags {
    return Object.assign(Object.create(engine) as Flags, {
      configuration(options?: Parameters<Flags['configuration']>[0]) {
        const { flags: list, ...rest } = engine.configuration(options);
        const watched = list.map((flag) => {
          if (flag.name !== 'checkout') return flag;
          return Object.defineProperty({ ...flag }, 'impressionData', {
            enumerable: true,
            get() {
              conversions += 1;
              return false;
            },
          });
        });
        return { ...rest, flags: watched };
      },
    });
  }

  beforeEach(async () => {
    flags = await openFlags({ storage: memoryStorage() });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    conversions = 0;
    hub = createClientHub(counted(flags), 15_000);
  });

  afterEach(async () => {
    hub.close();
    await flags.close();
  });

  function join(pace?: 'fast' | 'stuck', { environment = 'production', onWrite }: Partial<Joined> = {}) {
    const client = clientOf(pace, onWrite);
    const stream = hub.prepare({
      asked: { environment, projects: undefined, namePrefix: '', labels: undefined },
      lastEventId: undefined,
      isStillAdmitted: async () => true,
      hasValidToken: undefined,
      tokenId: undefined,
    });
    void stream(client.sink);
    return client;
  }

  const messagesOf = (client: ReturnType<typeof clientOf>) => client.text().split('\n\n').slice(0, -1);

  it('is encoded once for all clients that join before the next change', async () => {
    const clients = Array.from({ length: 200 }, () => join());
    await until(() => clients.every((client) => messagesOf(client).length === 1));
    expect(conversions).toBe(1);
    expect(new Set(clients.map((client) => client.text())).size).toBe(1);
    expect(new Set(clients.map(({ chunks }) => chunks[0])).size).toBe(1);

    await flags.updateFlag(CHECKOUT, { description: 'changed' });
    await until(() => clients.every((client) => messagesOf(client).length === 2));
    const [first, second] = [join(), join()];
    await until(() => messagesOf(first).length === 1 && messagesOf(second).length === 1);
    expect(first.text()).toContain('"description":"changed"');
    expect(first.text()).toBe(second.text());
    // One is the conversion for the message with the change.
    expect(conversions).toBe(3);
  });

  it('is written in several turns of the event loop to many clients that wait for it', async () => {
    const perTurn = [0];
    let isOver = false;
    const turn = () => {
      perTurn.push(0);
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const onWrite = () => {
      perTurn.push((perTurn.pop() ?? 0) + 1);
      for (const end = performance.now() + 1; performance.now() < end; );
    };
    const clients = Array.from({ length: 200 }, () => join('fast', { onWrite }));
    await until(() => clients.every((client) => messagesOf(client).length === 1));
    isOver = true;
    expect(Math.max(...perTurn)).toBeLessThan(20);
  });

  it('reaches a client whole that reads it across a change, followed by the change', async () => {
    const [slow, fast] = [join('stuck'), join()];
    await until(() => slow.chunks.length === 1 && messagesOf(fast).length === 1);
    await flags.updateFlag(CHECKOUT, { description: 'changed' });
    await until(() => messagesOf(fast).length === 2);
    await until(() => {
      slow.resume();
      return messagesOf(slow).length === 2;
    });
    expect(slow.text()).toBe(fast.text());
  });

  it('is forgotten with its last client, and is not kept for more than 20 scopes', async () => {
    const client = join();
    await until(() => messagesOf(client).length === 1);
    client.leave();
    const again = join();
    await until(() => messagesOf(again).length === 1);
    expect(conversions).toBe(2);

    const joinAll = async (from: number) => {
      const scopes = Array.from({ length: 20 }, (_, index) => `project-${from + index}`);
      const joined = scopes.map((project) => {
        const one = clientOf();
        const asked = { environment: 'production', projects: ['default', project], namePrefix: '', labels: undefined };
        const permission = { isStillAdmitted: async () => true, hasValidToken: undefined, tokenId: undefined };
        void hub.prepare({ asked, lastEventId: undefined, ...permission })(one.sink);
        return one;
      });
      await until(() => joined.every((one) => messagesOf(one).length === 1));
    };
    await joinAll(0);
    expect(conversions).toBe(22);
    // All but the last of these scopes share the state that is kept. The last one has no room beside `again`.
    await joinAll(0);
    expect(conversions).toBe(23);
  });

  it('is generated for each client when it does not fit into the memory for shared ones', async () => {
    const value = 'x'.repeat(200_000);
    for (let number = 0; number < 85; number++) {
      const flag = `large-${number}`;
      await flags.createFlag(DEFAULT, { name: flag });
      await flags.setVariants({ ...DEFAULT, flag }, [{ name: 'a', payload: { type: 'string', value } }]);
    }
    const clients = [join(), join()];
    // Searching 16 MiB at each poll would take seconds.
    await until(() => clients.every(({ chunks }) => chunks.at(-1)?.toString().endsWith('\n\n')));
    expect(conversions).toBe(3);
    expect(clients[0]?.text().length).toBeGreaterThan(16 * 1024 * 1024);
    expect(clients[0]?.text()).toBe(clients[1]?.text());
  });
});
