import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../../../../test/seed.js';
import { until } from '../../../../test/until.js';
import { type Flags, openFlags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { program } from '../storage/sqlite/child-program.js';
import { kill } from '../storage/sqlite/killing.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { happen } from './recording.js';

const KILLS = 100;
const random = createRandom();

describe('a consumer of two nodes on one file', () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'flags.db');
  const nodes = new Set<ChildProcess>();
  let flags: Flags<string>;

  beforeAll(async () => {
    flags = await openFlags({ storage: sqliteStorage(path), usage: { interval: 0 } });
  });
  afterAll(async () => {
    await Promise.all([...nodes].map(kill));
    await flags.close();
    directory.remove();
  });

  function delivered(): readonly { readonly position: string; readonly changeSet: string }[] {
    const lines = readFileSync(`${path}.delivered`, 'utf8').trimEnd().split('\n');
    return lines.map((line) => {
      const [position = '', changeSet = ''] = line.split(' ');
      return { position, changeSet };
    });
  }

  it(`skips no event when its node is killed ${KILLS} times between delivery and cursor, and repeats with the same ids`, async () => {
    const start = program(join(__dirname, 'children/consuming.ts'), directory.path);
    let running: ChildProcess | undefined;
    let told: () => void = () => undefined;
    const startNode = async () => {
      const node = start(path);
      nodes.add(node);
      await new Promise<void>((resolve) => {
        node.on('message', (message) => {
          if (message === 'ready') return resolve();
          running = node;
          told();
        });
      });
    };
    await startNode();
    await startNode();
    for (let count = 0; count < KILLS; count++) {
      const delivery = new Promise<void>((resolve) => {
        told = resolve;
      });
      await happen(flags, ...Array.from({ length: 1 + Math.floor(random() * 5) }, (_, n) => `f${count}-${n}`));
      await delivery;
      if (!running) throw new Error('No node has delivered.');
      nodes.delete(running);
      await kill(running);
      await startNode();
    }
    const {
      items: [newest],
    } = await flags.events.list({ limit: 1 });
    await until(() => delivered().at(-1)?.position === newest?.position);
    const log = await wholeLog();
    const deliveries = delivered();
    const first = new Map(deliveries.map(({ position }, index) => [position, index] as const).reverse());
    // Every event, each the first time in the order of the log, and each time as the log has it.
    expect([...first].toSorted(([, one], [, other]) => one - other).map(([position]) => position)).toEqual(
      log.map(({ position }) => position),
    );
    const changeSets = new Map(log.map(({ position, changeSet }) => [position, changeSet]));
    expect(deliveries.filter(({ position, changeSet }) => changeSets.get(position) !== changeSet)).toEqual([]);
    expect(deliveries.length).toBeGreaterThan(log.length);
  }, 600_000);

  async function wholeLog() {
    const events: { readonly position: string; readonly changeSet: string }[] = [];
    for (let after: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof flags.events.listNext>> = await flags.events.listNext({
        after,
        limit: 1000,
      });
      if (page.items.length === 0) return events;
      events.push(...page.items);
      after = page.position;
    }
  }
});
